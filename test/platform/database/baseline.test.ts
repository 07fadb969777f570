// The frozen schema of version 0.2, with which every store begins.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { systemClock } from "../../../src/kernel/clock.ts";
import {
  currentVersion,
  type Migration,
  schemaVersions,
} from "../../../src/platform/database/schema/migrate.ts";
import { migrate } from "../../../src/platform/database/schema.ts";
import { applyMigrations } from "../../../src/platform/database/schema/apply-migrations.ts";
import { migrations } from "../../../src/platform/database/schema/migrations/index.ts";
import { compiledProgram } from "../../support/programs/built.ts";
import { endWithThisProcess } from "../../support/programs/guard.ts";
import { describeSchema } from "../../support/store/describe-schema.ts";
import { eachStore, testsAll } from "../../support/store/stores.ts";

eachStore("the baseline", (store) => {
  store.leavesUnsound({
    checks: "all",
    because: "the server, and not a migration alone, begins the audit chain",
  });

  const [baseline] = migrations;
  if (baseline === undefined) throw new Error("there is no baseline");

  it("is the schema that the migrations of version 0.2 made, with its rows", async () => {
    const db = await store.open(await store.place("empty"));
    await applyMigrations(db, systemClock, [baseline]);
    const recorded = new URL(`version-0.2/${db.dialect}.txt`, import.meta.url);
    expect(await describeSchema(db)).to.equal(readFileSync(recorded, "utf8"));
  });

  it("records each version that it stands for, so that earlier programs of its level migrate nothing", async () => {
    const db = await store.open(await store.place("empty"));
    await migrate(db, { now: () => 7 });
    const rows = await db.find(schemaVersions, "ORDER BY version");
    const newest = migrations.at(-1)?.version ?? 0;
    expect(rows.map(({ version }) => version)).to.deep.equal(
      Array.from({ length: newest }, (_, place) => place + 1),
    );
    expect(new Set(rows.map(({ appliedAt }) => appliedAt))).to.deep.equal(new Set([7]));
  });

  it("and each migration leave nothing behind if they are killed before their commit", async () => {
    const place = await store.place("empty");
    const until = (last: Migration) => migrations.slice(0, migrations.indexOf(last) + 1);
    // The first, one that fills rows, and the last; all with `npm run test:all`.
    const killed = migrations.filter(
      (one) => testsAll || one === baseline || one.version === 40 || one === migrations.at(-1),
    );
    let before = 0;
    for (const migration of migrations) {
      // PostgreSQL prepares no statement again whose columns have changed, so each time opens the store.
      const db = await store.open(place);
      if (!killed.includes(migration)) {
        await applyMigrations(db, systemClock, until(migration));
        before = migration.version;
        continue;
      }
      const schema = await describeSchema(db);
      const child = spawn(
        process.execPath,
        [
          compiledProgram(new URL("dying-migration.ts", import.meta.url)),
          JSON.stringify(place),
          String(migration.version),
        ],
        { stdio: ["ignore", "ignore", "inherit"] },
      );
      endWithThisProcess(child);
      const [, signal] = (await once(child, "exit")) as [unknown, string | null];
      expect([signal, migration.version]).to.deep.equal(["SIGKILL", migration.version]);
      expect(await currentVersion(db)).to.equal(before);
      expect(await describeSchema(db)).to.equal(schema);
      await applyMigrations(db, systemClock, until(migration));
      before = migration.version;
    }
    const intact = await store.open(await store.place("empty"));
    await migrate(intact, systemClock);
    expect(await describeSchema(await store.open(place))).to.equal(await describeSchema(intact));
  });

  it("is made once by servers that start at once", async () => {
    const place = await store.place("empty");
    const openers = await Promise.all([1, 2, 3, 4].map(() => store.open(place)));
    const applied = await Promise.all(openers.map((db) => migrate(db, systemClock)));
    const versions = applied.flat().map(({ version }) => version);
    expect(versions.sort((one, other) => one - other)).to.deep.equal(
      migrations.map(({ version }) => version),
    );
  });
});
