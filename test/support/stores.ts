import { rmSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemActor, type Actor } from "../../src/kernel/actor.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import {
  migrate,
  openDatabase,
  type Database,
  type Dialect,
  type StoreLimits,
  type StoreOptions,
  type WriteContext,
} from "../../src/platform/database/index.ts";
import { describeOnPostgres } from "./describe-on-postgres.ts";
import { dropDatabase, freshDatabase } from "./postgres.ts";
import { expectSoundPlace, type Unsound } from "./sound.ts";

/** One of the two databases, as a suite uses it. What it opened and made is gone after the suite. */
export interface TestStore {
  readonly dialect: Dialect;
  /** A fresh place: without a table, or migrated. */
  place(kind: "empty" | "migrated"): Promise<StoreOptions>;
  /** Opens a place, a fresh and migrated one when none is given. */
  open(place?: StoreOptions, limits?: Partial<StoreLimits>): Promise<Database>;
  /** Says that its stores will be as Till alone would never leave one; what is said adds up. */
  leavesUnsound(unsound: Unsound): void;
}

const patienceMs = 60_000;
/** To verify one of many stores, on a machine that others use. */
const patienceForPlaceMs = 2_000;

/**
 * Runs a suite on SQLite and on PostgreSQL. What this machine lacks is skipped under a name that says why. Every store
 * that the suite leaves behind is verified as by `till db verify`, and the suite fails with the rows that are broken.
 */
export function eachStore(title: string, body: (store: TestStore) => void): void {
  describe(`${title} on sqlite`, () => {
    suite("sqlite", body);
  });
  describeOnPostgres(`${title} on postgres`, () => {
    suite("postgres", body);
  });
}

function suite(dialect: Dialect, body: (store: TestStore) => void): void {
  const opened: Database[] = [];
  const places: StoreOptions[] = [];
  const unsound: Unsound[] = [];

  async function place(kind: "empty" | "migrated"): Promise<StoreOptions> {
    const fresh = await makePlace(
      dialect,
      kind === "migrated" ? await migratedPlace(dialect) : null,
    );
    places.push(fresh);
    return fresh;
  }

  before(async function () {
    // The first suite of a process starts the server.
    this.timeout(patienceMs);
    await migratedPlace(dialect);
  });

  body({
    dialect,
    place,
    async open(given, limits = {}) {
      const db = await openDatabase({ ...(given ?? (await place("migrated"))), limits });
      opened.push(db);
      return db;
    },
    leavesUnsound(given) {
      unsound.push(given);
    },
  });

  // Hooks run in the order they are declared: what the suite opened on a place is closed by then.
  after(async function () {
    this.timeout(patienceMs + places.length * patienceForPlaceMs);
    await Promise.all(opened.map((db) => db.close()));
    try {
      for (const each of places) await expectSoundPlace(each, unsound);
    } finally {
      await Promise.all(places.map(removePlace));
    }
  });
}

const templates = new Map<Dialect, Promise<StoreOptions>>();

/** A place that was migrated once in this process, to be copied: quicker than migrating each. */
function migratedPlace(dialect: Dialect): Promise<StoreOptions> {
  let template = templates.get(dialect);
  if (template === undefined) {
    template = makePlace(dialect, null).then(async (place) => {
      const db = await openDatabase(place);
      await migrate(db, systemClock);
      await db.close();
      process.once("exit", () => {
        if ("sqliteFile" in place) rmSync(join(place.sqliteFile, ".."), { recursive: true });
      });
      return place;
    });
    templates.set(dialect, template);
  }
  return template;
}

async function makePlace(dialect: Dialect, template: StoreOptions | null): Promise<StoreOptions> {
  if (dialect === "postgres") {
    const from = template !== null && "url" in template ? template.url : undefined;
    return { url: await freshDatabase(from) };
  }
  const sqliteFile = join(await mkdtemp(join(tmpdir(), "till-store-")), "till.db");
  if (template !== null && "sqliteFile" in template)
    await copyFile(template.sqliteFile, sqliteFile);
  return { sqliteFile };
}

async function removePlace(place: StoreOptions): Promise<void> {
  if ("url" in place) await dropDatabase(place.url);
  else await rm(join(place.sqliteFile, ".."), { recursive: true, force: true });
}

/** What tests write under when it does not matter who does. */
export const testContext: WriteContext = contextOf(systemActor("test"));

export function contextOf(actor: Actor): WriteContext {
  return { actor, requestId: null, ip: null };
}
