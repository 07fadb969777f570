import { rmSync } from "node:fs";
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemActor, type Actor } from "../../../src/kernel/actor.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { beginChain } from "../../../src/platform/audit/head.ts";
import { migrate } from "../../../src/platform/database/schema.ts";
import { openDatabase, type StoreOptions } from "../../../src/platform/database/open.ts";
import type {
  Database,
  Dialect,
  Reader,
  StoreLimits,
  Tx,
  WriteContext,
} from "../../../src/platform/database/database.ts";
import { describeOnPostgres } from "./describe-on-postgres.ts";
import { dropDatabase, freshDatabase, postgresUnavailableReason } from "./postgres.ts";
import { takeDatabase } from "./reused.ts";
import { auditKey } from "../secret.ts";
import { expectSound, expectSoundPlace, type Unsound } from "./expect-store-is-consistent.ts";

/**
 * One of the two databases, for a suite. Stores that a test or its `beforeEach` opened are removed after the test;
 * those of a `before`, after the suite.
 */
export interface TestStore {
  readonly dialect: Dialect;
  /** Creates a place, without tables or migrated. One place for the whole suite is much faster than one per test. */
  place(kind: "empty" | "migrated"): Promise<StoreOptions>;
  /** Opens a place, by default a fresh and migrated one. */
  open(place?: StoreOptions, limits?: Partial<StoreLimits>): Promise<Database>;
  /** Declares that the suite's stores end in a state that Till alone would not leave; declarations add up. */
  leavesUnsound(unsound: Unsound): void;
}

/** True to run everything on both databases, and with the sizes that find most: `npm run test:all`. */
export const testsAll = process.env["TILL_TEST_ALL"] === "1";

/**
 * Runs a suite on SQLite and on PostgreSQL. If one is missing, its suite is skipped with the reason in its title. Every
 * store that a test or the suite leaves behind is verified as by `till db verify`, which fails with the rows that are
 * wrong.
 */
export function eachStore(title: string, body: (store: TestStore) => void): void {
  dealt.clear();
  describe(`${title} on sqlite`, () => {
    suite("sqlite", body);
  });
  describeOnPostgres(`${title} on postgres`, () => {
    suite("postgres", body);
  });
  const [onSqlite, onPostgres] = (["sqlite", "postgres"] as const).map((dialect) =>
    (dealt.get(dialect) ?? []).join("\n"),
  );
  if (dealsInTurn() && onSqlite !== onPostgres) {
    throw new Error(`the cases of "${title}" differ by database, so that takeTurns loses some`);
  }
}

/** The titles that `takeTurns` dealt in the suite that is being declared. */
const dealt = new Map<Dialect, string[]>();

/**
 * `eachStore` for subjects in which the database has no part: rules, the forms of requests and responses, terminal
 * output, providers of a network. It runs on SQLite, and with `TILL_TEST_ALL=1` on both. A suite with statements or
 * races that no other suite runs on PostgreSQL must use `eachStore`, whatever its subject.
 */
export function anyStore(title: string, body: (store: TestStore) => void): void {
  if (testsAll) eachStore(title, body);
  else {
    describe(`${title} on sqlite`, () => {
      suite("sqlite", body);
    });
  }
}

/**
 * Returns the share of items, such as networks, for this database: one half on SQLite and the other on PostgreSQL; all
 * on both with `TILL_TEST_ALL=1`, and all on SQLite without PostgreSQL.
 */
export function shareOf<T>({ dialect }: TestStore, all: readonly T[]): readonly T[] {
  if (testsAll || postgresUnavailableReason() !== null) return all;
  return all.filter((_, place) => (place % 2 === 0) === (dialect === "sqlite"));
}

type Case = (title: string, body: (this: Mocha.Context) => unknown) => void;

/**
 * Returns an `it` for the cases of a suite in which the database has no part: one runs on SQLite, the next one on
 * PostgreSQL. All run on both with `TILL_TEST_ALL=1`, and on SQLite without PostgreSQL or with `TILL_TEST_TURNS=off`.
 * Races, failing statements and lists need `it.onBoth`.
 */
export function takeTurns({ dialect }: TestStore): Case & { readonly onBoth: Case } {
  const titles = dealt.get(dialect) ?? [];
  dealt.set(dialect, titles);
  let cases = 0;
  const onOne: Case = (title, body) => {
    titles.push(title);
    cases += 1;
    if (!dealsInTurn() || (cases % 2 === 1) === (dialect === "sqlite")) it(title, body);
  };
  return Object.assign(onOne, { onBoth: it });
}

function dealsInTurn(): boolean {
  const takesTurns = process.env["TILL_TEST_TURNS"] !== "off";
  return takesTurns && !testsAll && postgresUnavailableReason() === null;
}

function suite(dialect: Dialect, body: (store: TestStore) => void): void {
  const ofSuite: Used[] = [];
  const ofTest: Used[] = [];
  const elsewhere: Database[] = [];
  const unsound: Unsound[] = [];
  let isTest = false;

  async function place(kind: "empty" | "migrated"): Promise<StoreOptions> {
    const taken = await takePlace(dialect, kind);
    (isTest ? ofTest : ofSuite).push({ ...taken, opened: [] });
    return taken.place;
  }

  before(async function () {
    // The first suite of a process starts the server.
    await migratedPlace(dialect);
  });
  beforeEach(() => {
    isTest = true;
  });

  body({
    dialect,
    place,
    async open(given, limits = {}) {
      const at = given ?? (await place("migrated"));
      const db = await openDatabase({ ...at, limits, refusesNesting: true });
      const used = [...ofTest, ...ofSuite].find((each) => isSame(each.place, at));
      (used?.opened ?? elsewhere).push(db);
      return db;
    },
    leavesUnsound(given) {
      unsound.push(given);
    },
  });

  // Hooks run in the order of declaration, so the suite has closed its connections by then.
  afterEach(async () => {
    isTest = false;
    await giveBack(ofTest.splice(0), unsound);
  });
  after(async () => {
    await Promise.all(elsewhere.map((db) => db.close()));
    await giveBack(ofSuite, unsound);
  });
}

interface Taken {
  readonly place: StoreOptions;
  /** An existing connection to it, for verification; null if it has none. */
  readonly reader: Reader | null;
  giveBack(): Promise<void>;
}

interface Used extends Taken {
  readonly opened: Database[];
}

/** Verifies places that are no longer used, and releases them. */
async function giveBack(places: readonly Used[], unsound: readonly Unsound[]): Promise<void> {
  await Promise.all(places.flatMap(({ opened }) => opened).map((db) => db.close()));
  try {
    for (const { place, reader } of places) {
      await (reader === null ? expectSoundPlace(place, unsound) : expectSound(reader, unsound));
    }
  } finally {
    await Promise.all(places.map((each) => each.giveBack()));
  }
}

async function takePlace(dialect: Dialect, kind: "empty" | "migrated"): Promise<Taken> {
  const template = kind === "migrated" ? await migratedPlace(dialect) : null;
  if (dialect === "postgres") {
    const taken = await takeDatabase(
      template !== null && "url" in template ? template.url : undefined,
    );
    const reader = template === null ? null : taken.reader;
    return { place: { url: taken.url }, reader, giveBack: () => taken.giveBack() };
  }
  const place = await makePlace(dialect, template);
  return { place, reader: null, giveBack: () => removePlace(place) };
}

const templates = new Map<Dialect, Promise<StoreOptions>>();

/** Returns a place that was migrated once in this process, as a template: copying is faster than migrating. */
function migratedPlace(dialect: Dialect): Promise<StoreOptions> {
  let template = templates.get(dialect);
  if (template === undefined) {
    template = makePlace(dialect, null).then(async (place) => {
      const db = await openDatabase(place);
      await migrate(db, systemClock);
      await db.write(testContext, (tx) => beginChain(tx, auditKey));
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
  if (dialect === "postgres") return { url: await freshDatabase() };
  const sqliteFile = join(await mkdtemp(join(tmpdir(), "till-store-")), "till.db");
  if (template !== null && "sqliteFile" in template)
    await copyFile(template.sqliteFile, sqliteFile);
  return { sqliteFile };
}

async function removePlace(place: StoreOptions): Promise<void> {
  if ("url" in place) await dropDatabase(place.url);
  else await rm(join(place.sqliteFile, ".."), { recursive: true, force: true });
}

function isSame(one: StoreOptions, other: StoreOptions): boolean {
  return "url" in one
    ? "url" in other && one.url === other.url
    : "sqliteFile" in other && one.sqliteFile === other.sqliteFile;
}

/** The write context for tests in which the actor does not matter. */
export const testContext: WriteContext = contextOf(systemActor("test"));

export function contextOf(actor: Actor): WriteContext {
  return { actor, requestId: null, ip: null };
}

/** Breaks a store, returns what `look` finds, and undoes the break. */
export async function whileBroken<T>(
  db: Database,
  breakIt: (tx: Tx) => Promise<unknown>,
  look: (reader: Reader) => Promise<T>,
): Promise<T> {
  const seen: T[] = [];
  const takenBack = new Error("taken back");
  await db
    .write(testContext, async (tx) => {
      await breakIt(tx);
      seen.splice(0, 1, await look(tx));
      throw takenBack;
    })
    .catch((error: unknown) => {
      if (error !== takenBack) throw error;
    });
  return seen[0] as T;
}
