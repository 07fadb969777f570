import { readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { openStore } from "../../src/compose/store.ts";
import { requireFittingSecret, secretFor } from "../../src/compose/store-secret.ts";
import { hour, minute, second, systemClock, type Clock } from "../../src/kernel/clock.ts";
import type { Config } from "../../src/platform/config/config.ts";
import { currentVersion } from "../../src/platform/database/schema/migrate.ts";
import { newestVersion, oldestVersion } from "../../src/platform/database/schema.ts";
import { openDatabase, type StoreOptions } from "../../src/platform/database/open.ts";
import type { Database } from "../../src/platform/database/database.ts";
import { applyMigrations } from "../../src/platform/database/schema/apply-migrations.ts";
import { migrations } from "../../src/platform/database/schema/migrations/index.ts";
import { leases } from "../../src/platform/jobs/table.ts";
import { createLogger, silentLogger, type Logger } from "../../src/platform/logger/index.ts";
import { systemRandom } from "../../src/platform/secrets/tokens.ts";
import { useProcesses } from "../support/programs/till.ts";
import { secret } from "../support/secret.ts";
import { until } from "../support/until.ts";
import { describeOnPostgres } from "../support/store/describe-on-postgres.ts";
import { eachStore, testContext } from "../support/store/stores.ts";
import { asBackedUp, configOf, restore, rowsOf, usePlaces } from "./backup/backups.ts";

describeOnPostgres("opening a store of PostgreSQL that is behind", () => {
  const places = usePlaces();
  const processes = useProcesses();

  const heardBy = (warnings: unknown[]): Logger =>
    createLogger({
      level: "warn",
      destination: {
        write(line) {
          warnings.push((JSON.parse(line) as { leases: unknown }).leases);
        },
      },
    });

  /** Creates a store of the oldest level, on which a server of an earlier version holds a lease. */
  async function held(): Promise<StoreOptions> {
    const place = await places.postgres();
    const db = await openDatabase(place);
    await applyMigrations(db, systemClock, migrations.slice(0, 1));
    await db.write(testContext, async (tx) => {
      const own = { holder: "prc_old", token: 1 };
      await tx.insert(leases, {
        ...own,
        name: "watch tron",
        until: systemClock.now() + 5 * minute,
      });
      await tx.insert(leases, { ...own, name: "relay", until: systemClock.now() - 1 });
      // Of a server whose clock was an hour ahead.
      await tx.insert(leases, { ...own, name: "figures", until: systemClock.now() + hour });
    });
    await db.close();
    return place;
  }

  it("waits until servers of an earlier version have stopped, and migrates once, however many servers start", async () => {
    const place = await held();
    const config = await configOf(place, { TILL_BACKUP_BEFORE_MIGRATION: "0" });
    const warnings: unknown[] = [];
    const opening = Array.from({ length: 3 }, () => migrated(config, heardBy(warnings)));
    await until(
      "the warnings",
      () => warnings.length,
      (count) => count === 3,
    );
    expect(warnings).to.deep.equal(Array(3).fill(["watch tron"]));
    const db = await openDatabase(place);
    expect(await currentVersion(db)).to.equal(oldestVersion);
    await db.write(testContext, (tx) =>
      tx.update(leases, { until: 0 }, "WHERE name = 'watch tron'"),
    );
    await db.close();
    // Each migration has a transaction of its own, so several servers may share them.
    const applied = (await Promise.all(opening)).flatMap((store) => store.migrations);
    expect(applied.map(({ version }) => version).sort((one, other) => one - other)).to.deep.equal(
      migrations.slice(1).map(({ version }) => version),
    );
    expect((await migrated(config, heardBy(warnings))).migrations).to.deep.equal([]);
    expect(warnings).to.have.length(3);
  });

  it("is left unchanged by a server that is stopped while it waits", async () => {
    const place = await held();
    const server = processes.start(["serve"], {
      DATABASE_URL: "url" in place ? place.url : "",
      TILL_SECRET: secret,
      TILL_NETWORKS: "sandbox",
      TILL_DATA_DIR: await places.folder(),
      TILL_PORT: "0",
    });
    await until(
      "the wait",
      () => server.stderr(),
      (text) => text.includes("waiting until its servers"),
    );
    server.child.kill("SIGTERM");
    expect(await server.exit()).to.deep.equal({ code: 0, signal: null });
    expect(server.stderr()).to.include("stopped before the start");
    const db = await openDatabase(place);
    expect(await currentVersion(db)).to.equal(oldestVersion);
    await db.close();
  });

  it("leaves the store unchanged while one of them goes on, and says what to do", async () => {
    const place = await held();
    const config = await configOf(place, { TILL_BACKUP_BEFORE_MIGRATION: "0" });
    // A clock by which the patience is over after the first look.
    let now = systemClock.now();
    const clock = { now: () => (now += 25 * second) };
    const refused = await migrated(config, silentLogger, clock).catch((error: unknown) => error);
    expect(refused).to.include({ code: "store_in_use" });
    expect(String(refused)).to.match(/they hold watch tron\. It is unchanged\. Stop all of them/);
    const db = await openDatabase(place);
    expect(await currentVersion(db)).to.equal(oldestVersion);
    await db.close();
  });
});

eachStore("upgrading a store", (store) => {
  const places = usePlaces();
  const processes = useProcesses();
  const level = oldestVersion;

  /** Creates a store of an earlier migration level. */
  async function earlier(): Promise<StoreOptions> {
    const place = store.dialect === "sqlite" ? await places.sqlite() : await places.postgres();
    const db = await openDatabase(place);
    await applyMigrations(db, systemClock, migrations.slice(0, 1));
    await db.close();
    return place;
  }

  it("backs it up first, and the backup brings the earlier level back", async () => {
    const place = await earlier();
    const rows = await rowsOf(place, level);
    const folder = await places.folder();
    const config = await configOf(place, { TILL_BACKUP_FOLDER: folder });
    const { backup } = await migrated(config, silentLogger);
    expect(backup).to.match(/before-migration-of-v33-[0-9a-z]+-\d{8}T\d{9}Z\.tar$/);
    expect((await migrated(config, silentLogger)).backup).to.equal(null);

    const { migration, formerName: kept } = await restore(backup ?? "", place, { migrates: false });
    expect([migration, kept === null]).to.deep.equal([level, false]);
    expect(asBackedUp(await rowsOf(place, level))).to.deep.equal(rows);
    expect((await migrated(config, silentLogger)).migrations.length).to.equal(
      migrations.length - 1,
    );
  });

  it("leaves it as it was, without a backup, if the secret is that of another store", async () => {
    const place = await earlier();
    const own = await configOf(place, { TILL_BACKUP_BEFORE_MIGRATION: "0" });
    const db = await openDatabase(place);
    await requireFittingSecret(
      db,
      own,
      "migrate",
      await secretFor(own, false, systemRandom),
      silentLogger,
    );
    const folder = await places.folder();
    const rows = await rowsOf(place, level);
    for (const [mode, backsUp] of [
      ["migrate", "1"],
      ["create", "0"],
    ] as const) {
      const foreign = await configOf(place, {
        TILL_BACKUP_FOLDER: folder,
        TILL_BACKUP_BEFORE_MIGRATION: backsUp,
        TILL_SECRET: Buffer.alloc(32, 7).toString("base64"),
      });
      const deps = { clock: systemClock, logger: silentLogger, randomBytes: systemRandom };
      const refused = await openStore(foreign, mode, deps).catch(String);
      expect(refused).to.match(/^wrong_secret: /);
    }
    expect([await currentVersion(db), await readdir(folder)]).to.deep.equal([level, []]);
    await db.close();
    expect(await rowsOf(place, level)).to.deep.equal(rows);
  });

  it("leaves it as it was if no backup can be written, and says which setting helps", async () => {
    const place = await earlier();
    const file = join(await places.folder(), "file");
    await writeFile(file, "");
    const config = await configOf(place, { TILL_BACKUP_FOLDER: join(file, "backups") });
    const refused = await migrated(config, silentLogger).catch(String);
    expect(refused).to.match(
      /^not_backed_up: .*TILL_BACKUP_FOLDER.*TILL_BACKUP_BEFORE_MIGRATION=0/,
    );
    const db = await openDatabase(place);
    expect(await currentVersion(db)).to.equal(level);
    await db.close();
  });

  it("is completed by the next run if it was killed", async () => {
    const place = await earlier();
    const rows = await rowsOf(place, level);
    const folder = await places.folder();
    const config = await configOf(place, { TILL_BACKUP_FOLDER: folder });
    const running = processes.start(["db", "migrate"], {
      TILL_DATA_DIR: config.dataDir,
      TILL_SECRET: secret,
      TILL_BACKUP_FOLDER: folder,
      ...("url" in place ? { DATABASE_URL: place.url } : {}),
    });
    const isBackedUp = async () => (await readdir(folder)).some((name) => name.endsWith(".tar"));
    while (running.child.exitCode === null && !(await isBackedUp())) await delay(1);
    running.child.kill("SIGKILL");
    await running.exit();
    const [backup = ""] = await readdir(folder);

    await migrated(config, silentLogger);
    const db = await openDatabase(place);
    expect(await currentVersion(db)).to.equal(newestVersion);
    await db.close();
    const copy = await places.sqlite();
    await restore(join(folder, backup), copy, { migrates: false });
    expect(asBackedUp(await rowsOf(copy, level))).to.deep.equal(rows);
  });

  it("keeps the migrations before the one in which it is killed, and nothing of that one", async () => {
    const place = await earlier();
    const db = await openDatabase(place);
    await addEvents(db);
    // On PostgreSQL, an open write to the table holds up its new index. On SQLite, its many rows do.
    const holdUp = holdingUp(db);
    const running = processes.start(["db", "migrate"], {
      TILL_DATA_DIR: "url" in place ? await places.folder() : dirname(place.sqliteFile),
      TILL_SECRET: secret,
      TILL_BACKUP_BEFORE_MIGRATION: "0",
      ...("url" in place ? { DATABASE_URL: place.url } : {}),
    });
    const before = indexedAt - 1;
    while (running.child.exitCode === null && (await currentVersion(db)) < before) await delay(1);
    running.child.kill("SIGKILL");
    await running.exit();
    await holdUp.end();
    const left = await currentVersion(db);
    // On SQLite, a slow machine may let it go a little further.
    expect(left).to.be.within(before, "url" in place ? before : newestVersion - 1);

    const config = await configOf(place, { TILL_BACKUP_BEFORE_MIGRATION: "0" });
    const { migrations: later } = await migrated(config, silentLogger);
    expect(later.map(({ version }) => version)).to.deep.equal(
      migrations.filter(({ version }) => version > left).map(({ version }) => version),
    );
    const [counted] = await db.all<{ total: number }>("SELECT COUNT(*) AS total FROM events");
    expect(Number(counted?.total)).to.equal(eventCount);
    expect(await currentVersion(db)).to.equal(newestVersion);
    await db.close();
  });
});

/** The migration that indexes all events that are choices of an option. */
const indexedAt = 44;
/** Enough that SQLite takes long for the index. */
const eventCount = 300_000;

/** Adds choices of an option. */
async function addEvents(db: Database): Promise<void> {
  await db.write({ ...testContext, writeMilliseconds: 120_000 }, (tx) =>
    tx.run(
      `INSERT INTO events (id, type, api_version, object_type, object_id, object_version, payload, occurred_at)
       WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${String(eventCount)})
       SELECT 'evt_' || n, 'invoice.option_chosen', '1', 'invoice', 'none', 1, '{}', 1 FROM numbers`,
    ),
  );
}

/** Holds a row of the events in a transaction that is rolled back at the end; on PostgreSQL only. */
function holdingUp(db: Database): { end(): Promise<void> } {
  if (db.dialect === "sqlite") return { end: () => Promise.resolve() };
  const ending = new AbortController();
  const holding = db
    .write({ ...testContext, writeMilliseconds: 120_000 }, async (tx) => {
      await tx.run("UPDATE events SET object_version = 2 WHERE id = 'evt_1'");
      await new Promise((resolve) => {
        ending.signal.addEventListener("abort", resolve);
      });
      throw new Error("rolled back");
    })
    .catch(String);
  return {
    async end() {
      ending.abort();
      expect(await holding).to.include("rolled back");
    },
  };
}

/** Migrates a store as `till serve` does. */
async function migrated(config: Config, logger: Logger, clock: Clock = systemClock) {
  const { db, ...rest } = await openStore(config, "migrate", {
    clock,
    randomBytes: systemRandom,
    logger,
  });
  await db.close();
  return rest;
}
