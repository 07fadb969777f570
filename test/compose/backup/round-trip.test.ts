// A backup contains every row of its store, and puts them back on either database.
import { chown, readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { copyStore } from "../../../src/compose/backup/copy.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { beginChain } from "../../../src/platform/audit/head.ts";
import { auditLogs } from "../../../src/platform/audit/chain.ts";
import { newestVersion } from "../../../src/platform/database/schema.ts";
import { openDatabase, type StoreOptions } from "../../../src/platform/database/open.ts";
import { applyMigrations } from "../../../src/platform/database/schema/apply-migrations.ts";
import { migrations } from "../../../src/platform/database/schema/migrations/index.ts";
import { shapesOf, tablesAt } from "../../../src/platform/database/transfer/rows.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { fingerprint } from "../../../src/platform/secrets/server-secret.ts";
import { newJournal } from "../../support/context.ts";
import { startApp } from "../../support/app.ts";
import { auditKey, serverSecret } from "../../support/secret.ts";
import { postgresUnavailableReason } from "../../support/store/postgres.ts";
import { eachStore, testContext, testsAll } from "../../support/store/stores.ts";
import {
  asBackedUp,
  back,
  configOf,
  fill,
  neverAborted,
  restore,
  rowsOf,
  usePlaces,
} from "./backups.ts";

eachStore("a backup", (store) => {
  const places = usePlaces();
  let source: StoreOptions;
  before(async () => {
    source = await store.place("migrated");
    await fill(source);
  });

  it("is restored with equal rows on SQLite and on PostgreSQL, and copied back", async () => {
    const rows = await rowsOf(source, newestVersion);
    expect(rows["invoices"]).to.have.length(2);
    const file = join(await places.folder(), "a.tar");
    const made = await back(source, file);
    expect(made.verified).to.equal("store");
    expect(made.broken).to.deep.equal([]);
    expect((await stat(file)).mode & 0o777).to.equal(0o600);

    const targets = [
      await places.sqlite(),
      ...(postgresUnavailableReason() === null ? [await places.postgres()] : []),
    ];
    for (const target of targets) {
      const { formerName: kept, isVerified } = await restore(file, target);
      expect([kept, isVerified]).to.deep.equal([null, true]);
      const restored = await rowsOf(target, newestVersion);
      expect(asBackedUp(restored)).to.deep.equal({ ...rows, wallet_claims: skip(rows, 1_000) });
      const copy = "url" in target ? await places.sqlite() : null;
      if (copy === null) continue;
      const options = { clock: systemClock, logger: silentLogger, signal: neverAborted };
      const config = await configOf(copy);
      const copied = await copyStore(await configOf(target), config, serverSecret, {
        ...options,
        verifies: true,
      });
      expect(copied.rows).to.equal(Object.values(restored).flat().length + (await leasesOf(copy)));
      expect(await rowsOf(copy, newestVersion)).to.deep.equal(restored);
    }
  });

  /** The claims after extended keys have skipped a number of addresses. Addresses of the backup are not given again. */
  const skip = (rows: Awaited<ReturnType<typeof rowsOf>>, count: number): readonly string[] =>
    (rows["wallet_claims"] ?? [])
      .map((text) => {
        const row = JSON.parse(text) as [string, unknown][];
        const isKey = row.some(([name, value]) => name === "kind" && value === "xpub");
        return JSON.stringify(
          row.map(([name, value]) => [
            name,
            isKey && name === "next_index" ? Number(value) + count : spent(name, value),
          ]),
        );
      })
      .sort();

  const spent = (name: string, value: unknown) =>
    name === "derived_state" && value !== null ? "spent" : value;

  it("continues after the addresses that the replaced store has assigned, also for its new keys", async () => {
    const file = join(await places.folder(), "a.tar");
    await back(source, file, { verify: "no" });
    const db = await openDatabase(source);
    await db.write(testContext, async (tx) => {
      await tx.run("UPDATE wallet_claims SET next_index = next_index + 7 WHERE kind = 'xpub'");
      await tx.run(
        `INSERT INTO wallet_claims (family, identity, organization_id, kind, next_index)
         SELECT family, 'new key', organization_id, kind, 5
         FROM wallet_claims WHERE kind = 'xpub'`,
      );
    });
    await db.close();
    const former = await rowsOf(source, newestVersion);
    await restore(file, source);
    const restored = await rowsOf(source, newestVersion);
    const asReleased = (former["wallet_claims"] ?? []).map((text) =>
      (text.includes("new key") ? text.replace('"xpub"', '"released"') : text).replace(
        '"held"',
        '"spent"',
      ),
    );
    expect(restored["wallet_claims"]).to.deep.equal(asReleased.sort());
  });

  it("is not copied over a damaged store, and root leaves restored files to the former owner", async () => {
    const damaged = await places.sqlite();
    await writeFile(damaged.sqliteFile, "not a database, ".repeat(1_000));
    const copied = await copyStore(await configOf(source), await configOf(damaged), serverSecret, {
      clock: systemClock,
      logger: silentLogger,
      signal: neverAborted,
      verifies: false,
    }).catch(String);
    expect(copied).to.include("target_not_empty");
    if (process.getuid?.() !== 0) return;
    await chown(damaged.sqliteFile, 12_345, 12_346);
    const file = join(await places.folder(), "a.tar");
    await back(source, file, { verify: "no" });
    await restore(file, damaged);
    const { uid, gid } = await stat(damaged.sqliteFile);
    expect([uid, gid]).to.deep.equal([12_345, 12_346]);
  });

  it("is not removed or overwritten by a second backup into the same file", async () => {
    const file = join(await places.folder(), "a.tar");
    const outcomes = await Promise.all(
      [1, 2].map(() => back(source, file, { verify: "no" }).then(() => "made", String)),
    );
    expect(outcomes.filter((each) => each === "made")).to.have.length(1);
    expect(outcomes.find((each) => each !== "made")).to.include("file_exists");
    expect(await readdir(join(file, ".."))).to.deep.equal(["a.tar"]);
    expect(await back(source, file, { verify: "no" }).catch(String)).to.include("file_exists");
    expect(await readdir(join(file, ".."))).to.deep.equal(["a.tar"]);
  });

  async function leasesOf(place: Parameters<typeof openDatabase>[0]): Promise<number> {
    const db = await openDatabase(place);
    const found = await db.all("SELECT name FROM leases");
    await db.close();
    return found.length;
  }

  it("keeps the store that it replaces, and changes nothing if it is interrupted", async () => {
    const file = join(await places.folder(), "a.tar");
    await back(source, file);
    const db = await openDatabase(source);
    await db.write(testContext, (tx) => tx.run("DELETE FROM invoice_terms"));
    await db.close();
    const before = await rowsOf(source, newestVersion);

    const stopping = new AbortController();
    stopping.abort(new Error("stopped"));
    const stopped = await restore(file, source, { signal: stopping.signal }).catch(String);
    expect(stopped).to.equal("Error: stopped");
    expect(await rowsOf(source, newestVersion)).to.deep.equal(before);
    const cut = await back(source, `${file}2`, { signal: stopping.signal }).catch(String);
    expect(cut).to.equal("Error: stopped");
    expect(await readdir(join(file, ".."))).to.deep.equal(["a.tar"]);

    const { formerName: kept } = await restore(file, source);
    expect((await rowsOf(source, newestVersion))["invoice_terms"]).not.to.deep.equal([]);
    if ("sqliteFile" in source) {
      expect(await rowsOf({ sqliteFile: kept ?? "" }, newestVersion)).to.deep.equal(before);
      expect((await readdir(join(source.sqliteFile, ".."))).join()).not.to.include("restoring");
    } else {
      const former = await openDatabase({ ...source, schema: String(kept?.split(" ").at(-1)) });
      expect(await former.all("SELECT * FROM invoice_terms")).to.deep.equal([]);
      expect(await former.all("SELECT * FROM invoices")).to.have.length(2);
      await former.close();
    }
    // The functions of triggers came along, so that the next one works too.
    expect((await restore(file, source)).formerName).not.to.equal(kept);
  });

  it("contains every write that was acknowledged before it began, while others continue", async () => {
    const place = await store.place("migrated");
    const app = await startApp({ place });
    const journal = newJournal();
    const acknowledged: string[] = [];
    let isOver = false;
    const write = async (writer: number) => {
      for (let number = 0; !isOver; number += 1) {
        const subjectId = `${String(writer)}-${String(number)}`;
        await app.app.db.write(testContext, (tx) => {
          const entry = { organizationId: null, subjectType: "thing", subjectId };
          journal.record(tx, systemClock.now(), { ...entry, action: "thing.changed" });
          return Promise.resolve();
        });
        acknowledged.push(subjectId);
      }
    };
    const writers = [1, 2, 3, 4].map(write);
    try {
      while (acknowledged.length < 100) await new Promise((resolve) => setTimeout(resolve, 5));
      const before = [...acknowledged];
      const file = join(await places.folder(), "a.tar");
      const { broken, verified } = await back(place, file);
      expect([verified, broken]).to.deep.equal(["store", []]);
      expect(acknowledged.length).to.be.greaterThan(before.length);
      const copy = await places.sqlite();
      await restore(file, copy);
      const db = await openDatabase(copy);
      const found = new Set((await db.find(auditLogs, "")).map(({ targetId }) => targetId));
      await db.close();
      expect(before.filter((subjectId) => !found.has(subjectId))).to.deep.equal([]);
    } finally {
      isOver = true;
      await Promise.all(writers);
      await app.stop();
    }
  });

  it("works at every migration level, and its tables are those of the database", async () => {
    const early = store.dialect === "sqlite" ? await places.sqlite() : await places.postgres();
    const db = await openDatabase(early);
    const names: Readonly<Record<typeof db.dialect, string>> = {
      sqlite: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
      postgres: "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()",
    };
    const restored = testsAll ? migrations.map(({ version }) => version) : [33, 42];
    for (const [place, { version }] of migrations.entries()) {
      await applyMigrations(db, systemClock, migrations.slice(0, place + 1));
      const tables = await db.all<{ name: string }>(names[db.dialect]);
      expect(tablesAt(version)).to.have.members(tables.map(({ name }) => name));
      expect(await shapesOf(db, tablesAt(version))).to.have.length(tables.length);
      await db.write(testContext, async (tx) => {
        const value = place === 0 ? fingerprint(serverSecret) : "fact";
        const name = place === 0 ? "secret_fingerprint" : `level ${String(version)}`;
        await tx.run("INSERT INTO meta (name, value) VALUES ($1, $2)", [name, value]);
        // As the program does once the tables are those of its version.
        if (version === newestVersion) await beginChain(tx, auditKey);
      });
      if (!restored.includes(version)) continue;
      const file = join(await places.folder(), "a.tar");
      const made = await back(early, file);
      expect([made.manifest.migration, made.verified]).to.deep.equal([
        version,
        version === newestVersion ? "store" : "file",
      ]);
      const target = await places.sqlite();
      const { migration } = await restore(file, target, { migrates: false });
      expect(migration).to.equal(version);
      const [copy, original] = [await rowsOf(target, version), await rowsOf(early, version)];
      expect(asBackedUp(copy)).to.deep.equal(asBackedUp(original));
      const migrated = await places.sqlite();
      expect((await restore(file, migrated, { verifies: false })).migration).to.equal(
        newestVersion,
      );
    }
    await db.close();
  });
});
