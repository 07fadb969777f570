import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "chai";
import { openStore } from "../../src/compose/store.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import type { Config } from "../../src/platform/config/index.ts";
import {
  currentVersion,
  newestVersion,
  openDatabase,
  type StoreOptions,
} from "../../src/platform/database/index.ts";
import { applyMigrations } from "../../src/platform/database/schema/migrate.ts";
import { migrations } from "../../src/platform/database/schema/migrations/index.ts";
import { leases } from "../../src/platform/jobs/table.ts";
import { createLogger, silentLogger, type Logger } from "../../src/platform/logger/index.ts";
import { systemRandom } from "../../src/platform/secrets/random.ts";
import { useProcesses } from "../support/programs/till.ts";
import { secret } from "../support/secret.ts";
import { describeOnPostgres } from "../support/store/describe-on-postgres.ts";
import { eachStore, testContext } from "../support/store/stores.ts";
import { asBackedUp, configOf, restore, rowsOf, usePlaces } from "./backup/backups.ts";

describeOnPostgres("opening a store of PostgreSQL that is behind", () => {
  const places = usePlaces();

  it("warns of the leases of a server that still runs, and of none that has ended", async () => {
    const place = await places.postgres();
    const warnings: unknown[] = [];
    const logger = createLogger({
      level: "warn",
      destination: {
        write(line) {
          warnings.push((JSON.parse(line) as { leases: unknown }).leases);
        },
      },
    });
    const config = await configOf(place, { TILL_BACKUP_BEFORE_MIGRATION: "0" });
    const open = () => migrated(config, logger);
    const db = await openDatabase({ ...place, logger });
    await applyMigrations(db, systemClock, migrations.slice(0, 2));
    const now = systemClock.now();
    await db.write(testContext, async (tx) => {
      const own = { holder: "prc_old", token: 1 };
      await tx.insert(leases, { ...own, name: "watch tron", until: now + 60_000 });
      await tx.insert(leases, { ...own, name: "relay", until: now - 1 });
    });
    await db.close();
    const first = await open();
    expect([first.migrations.length, first.backup]).to.deep.equal([migrations.length - 2, null]);
    expect(warnings).to.deep.equal([["watch tron"]]);
    expect((await open()).migrations).to.deep.equal([]);
    expect(warnings).to.have.length(1);
  });
});

eachStore("upgrading a store", (store) => {
  const places = usePlaces();
  const processes = useProcesses();
  const level = 9;

  /** Creates a store of an earlier migration level. */
  async function earlier(): Promise<StoreOptions> {
    const place = store.dialect === "sqlite" ? await places.sqlite() : await places.postgres();
    const db = await openDatabase(place);
    await applyMigrations(db, systemClock, migrations.slice(0, level));
    await db.close();
    return place;
  }

  it("backs it up first, and the backup brings the earlier level back", async () => {
    const place = await earlier();
    const rows = await rowsOf(place, level);
    const folder = await places.folder();
    const config = await configOf(place, { TILL_BACKUP_FOLDER: folder });
    const { backup } = await migrated(config, silentLogger);
    expect(backup).to.match(/before-migration-of-v9-[0-9a-z]+-\d{8}T\d{9}Z\.tar$/);
    expect((await migrated(config, silentLogger)).backup).to.equal(null);

    const { migration, kept } = await restore(backup ?? "", place, { migrates: false });
    expect([migration, kept === null]).to.deep.equal([level, false]);
    expect(asBackedUp(await rowsOf(place, level))).to.deep.equal(rows);
    expect((await migrated(config, silentLogger)).migrations.length).to.equal(
      migrations.length - level,
    );
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

  it("is completed by the next run if it was killed", async function () {
    this.timeout(120_000);
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
});

/** Migrates a store as `till serve` does. */
async function migrated(config: Config, logger: Logger) {
  const { db, ...rest } = await openStore(config, "migrate", {
    clock: systemClock,
    randomBytes: systemRandom,
    logger,
  });
  await db.close();
  return rest;
}
