import { expect } from "chai";
import { systemClock } from "../../../src/kernel/clock.ts";
import {
  currentVersion,
  type Migration,
  schemaVersions,
} from "../../../src/platform/database/schema/migrate.ts";
import {
  migrate,
  oldestVersion,
  pendingMigrations,
} from "../../../src/platform/database/schema.ts";
import { openDatabase } from "../../../src/platform/database/open.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { applyMigrations } from "../../../src/platform/database/schema/apply-migrations.ts";
import { migrations } from "../../../src/platform/database/schema/migrations/index.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

const first: Migration = {
  version: 1,
  name: "first",
  up: ({ text }) => [`CREATE TABLE test_first (name ${text} NOT NULL PRIMARY KEY)`],
};
const second: Migration = {
  version: 2,
  name: "second",
  up: () => [
    "CREATE TABLE test_second AS SELECT name FROM test_first",
    "INSERT INTO test_first VALUES ('second')",
  ],
};
const broken: Migration = {
  version: 2,
  name: "broken",
  up: () => ["INSERT INTO test_first VALUES ('half')", "CREATE TABLE test_first (name TEXT)"],
};

eachStore("migrations", (store) => {
  store.leavesUnsound({ checks: "all", because: "a store of a newer program is left behind" });

  const clock = { now: () => 1_700_000_000_000 };

  const openEmpty = async () => store.open(await store.place("empty"));
  const names = (applied: readonly Migration[]) => applied.map(({ name }) => name);
  const apply = async (db: Database, known: readonly Migration[]) =>
    names(await applyMigrations(db, clock, known));
  const firsts = (db: Database) => db.all("SELECT name FROM test_first");

  it("bring an empty store up to date and then change nothing more", async () => {
    const db = await openEmpty();
    expect(await currentVersion(db)).to.equal(0);
    expect(names(await pendingMigrations(db))).to.deep.equal(names(migrations));
    expect(names(await migrate(db, systemClock))).to.deep.equal(names(migrations));
    expect(await pendingMigrations(db)).to.deep.equal([]);
    expect(await migrate(db, systemClock)).to.deep.equal([]);
    expect(await currentVersion(db)).to.equal(
      Math.max(...migrations.map(({ version }) => version)),
    );
  });

  it("are numbered from the baseline on without a gap, in order", () => {
    expect(migrations.map(({ version }) => version)).to.deep.equal(
      migrations.map((_, index) => oldestVersion + index),
    );
  });

  it("continue from the store's version and record the time", async () => {
    const db = await openEmpty();
    expect(await apply(db, [first])).to.deep.equal(["first"]);
    expect(await apply(db, [first, second])).to.deep.equal(["second"]);
    expect(await db.find(schemaVersions, "ORDER BY version")).to.deep.equal([
      { version: 1, name: "first", appliedAt: 1_700_000_000_000 },
      { version: 2, name: "second", appliedAt: 1_700_000_000_000 },
    ]);
  });

  it("that fail leave nothing behind and may be retried", async () => {
    const db = await openEmpty();
    await apply(db, [first]);
    const error = await apply(db, [first, broken]).catch(String);
    expect(error).to.contain("StatementFailed");
    expect(await currentVersion(db)).to.equal(1);
    expect(await firsts(db)).to.deep.equal([]);
    expect(await apply(db, [first, second])).to.deep.equal(["second"]);
  });

  it("are applied once by many concurrent processes", async () => {
    const place = await store.place("empty");
    const openers = await Promise.all([1, 2, 3, 4].map(() => store.open(place)));
    const applied = await Promise.all(openers.map((db) => apply(db, [first, second])));
    expect(applied.flat().sort()).to.deep.equal(["first", "second"]);
    for (const db of openers) expect(await firsts(db)).to.deep.equal([{ name: "second" }]);
  });

  it("of a newer program prevent an older one from opening the store", async () => {
    const place = await store.place("migrated");
    const db = await store.open(place);
    await db.write(testContext, (tx) =>
      tx.insert(schemaVersions, { version: 9_999, name: "future", appliedAt: 0 }),
    );
    const newest = String(Math.max(...migrations.map(({ version }) => version)));
    for (const attempt of [
      () => migrate(db, systemClock),
      () => pendingMigrations(db),
      () => openDatabase(place),
    ]) {
      const error = await attempt().then<null, Error>(
        () => null,
        (reason: unknown) => reason as Error,
      );
      expect(error).to.include({ code: "store_too_new" });
      expect(error?.message).to.contain("9999").and.to.contain(newest);
    }
  });
});
