import { spawnSync } from "node:child_process";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { openDatabase } from "../../../src/platform/database/open.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { compiledProgram } from "../../support/programs/built.ts";
import { testContext } from "../../support/store/stores.ts";
import { patienceMs } from "../../support/until.ts";
import {
  account,
  accounts,
  countEntries,
  createAccounts,
  deposit,
  onlyAccount,
} from "./accounts.ts";

describe("a store on SQLite", () => {
  let folder: string;
  let sqliteFile: string;
  let db: Database;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "till-sqlite-"));
    sqliteFile = join(folder, "till.db");
    db = await openDatabase({ sqliteFile });
    await createAccounts(db);
  });

  afterEach(async () => {
    await db.close();
    await rm(folder, { recursive: true });
  });

  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => null,
      (error: unknown) => error as Error,
    );

  it("is readable only by its owner", async () => {
    for (const suffix of ["", "-wal", "-shm"]) {
      expect((await stat(sqliteFile + suffix)).mode & 0o777, suffix).to.equal(0o600);
    }
  });

  it("flushes each commit to disk and keeps foreign keys", async () => {
    const pragma = (name: string) => db.write(testContext, (tx) => tx.all(`PRAGMA ${name}`));
    expect(await pragma("journal_mode")).to.deep.equal([{ journal_mode: "wal" }]);
    expect(await pragma("synchronous")).to.deep.equal([{ synchronous: 2 }]);
    expect(await pragma("foreign_keys")).to.deep.equal([{ foreign_keys: 1 }]);
  });

  it("shares one commit among writes that wait at the same time", async () => {
    await db.write(testContext, (tx) => tx.insert(accounts, account("a")));
    const frames = async () => (await stat(`${sqliteFile}-wal`)).size;
    const count = 100;
    // With one commit per write, at least this many bytes would be written.
    const most = count * 4_096;
    const written: number[] = [];
    // A group does not wait, and on a paused machine few writes join it: the best of a few tries counts.
    while (written.length < 5 && Math.min(...written) >= most) {
      const before = await frames();
      const round = String(written.length);
      await Promise.all(
        Array.from({ length: count }, (_, index) =>
          db.write(testContext, (tx) => deposit(tx, "a", 1n, `entry-${round}-${String(index)}`)),
        ),
      );
      written.push((await frames()) - before);
    }
    expect(Math.min(...written)).to.be.lessThan(most);
  });

  it("waits for a lock of another process, and answers 503 if it is not released in time", async () => {
    const impatient = await openDatabase({ sqliteFile, limits: { busyMilliseconds: 300 } });
    let letGo: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let isIn: () => void = () => undefined;
    const inside = new Promise<void>((resolve) => (isIn = resolve));
    const holding = db.write(testContext, async () => {
      isIn();
      await held;
    });
    await inside;
    const early = await failure(
      impatient.write(testContext, (tx) => tx.insert(accounts, account("early"))),
    );
    expect(early).to.include({ code: "store_unavailable", status: 503 });
    expect(early).to.have.property("retryAfterSeconds").that.is.greaterThan(0);
    expect(await impatient.find(accounts, "")).to.deep.equal([]);
    const patient = await openDatabase({ sqliteFile });
    const late = patient.write(testContext, (tx) => tx.insert(accounts, account("late")));
    letGo();
    await Promise.all([holding, late]);
    expect((await onlyAccount(db)).id).to.equal("late");
    await Promise.all([impatient.close(), patient.close()]);
  });

  it("refuses only the writes that do not fit on the disk, and continues when there is space again", async () => {
    await db.write(testContext, (tx) => tx.insert(accounts, account("a")));
    const limitPages = (pages: string) =>
      db.write(testContext, (tx) => tx.all(`PRAGMA max_page_count = ${pages}`));
    const [used] = await db.all<{ page_count: number }>("SELECT page_count FROM pragma_page_count");
    await limitPages(String((used?.page_count ?? 0) + 4));
    const big = "x".repeat(100_000);
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) =>
        db.write(testContext, async (tx) => {
          await deposit(tx, "a", 1n, `entry-${String(index)}`);
          if (index % 10 === 5)
            await tx.insert(accounts, account(`big${String(index)}`, { owner: big }));
        }),
      ),
    );
    const failed = results.flatMap((result, index) =>
      result.status === "rejected" ? [index] : [],
    );
    expect(failed).to.deep.equal([5, 15, 25]);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).to.include({ status: 503 });
    }
    expect((await onlyAccount(db)).balance).to.equal(27n);
    expect(await countEntries(db)).to.equal(27);
    await limitPages("1000000");
    await db.write(testContext, (tx) => tx.insert(accounts, account("big", { owner: big })));
  });

  it("confirms no write that the disk did not store", async function () {
    if (process.platform === "win32") this.skip();
    await db.write(testContext, (tx) => tx.insert(accounts, account("a")));
    const worker = compiledProgram(new URL("limited-disk.ts", import.meta.url));
    // The process's files are limited to 512 KiB: writing beyond that is an I/O error.
    const ran = spawnSync(
      "/bin/bash",
      ["-c", 'ulimit -f 512; exec "$0" "$1" "$2"', process.execPath, worker, sqliteFile],
      { encoding: "utf8", timeout: patienceMs },
    );
    expect(ran.status, ran.stderr).to.equal(0);
    const { acknowledged, refused, couldRead } = JSON.parse(ran.stdout) as Record<string, number>;
    expect(acknowledged).to.be.greaterThan(0);
    expect(refused).to.be.greaterThan(0);
    expect(couldRead).to.equal(acknowledged);
    expect(await countEntries(db)).to.equal(acknowledged);
    expect(Number((await onlyAccount(db)).balance)).to.equal(acknowledged);
    await db.write(testContext, (tx) => deposit(tx, "a", 1n, "after"));
  });

  it("explains what is wrong with a file that is not a store", async () => {
    const noStore = join(folder, "no-store.db");
    await writeFile(noStore, "This is a shopping list, and no database at all.".repeat(100));
    const error = await failure(openDatabase({ sqliteFile: noStore }));
    expect(error).to.include({ code: "store_unavailable" });
    expect(error?.message).to.contain("not a SQLite database");
    const nowhere = await failure(openDatabase({ sqliteFile: join(folder, "missing", "till.db") }));
    expect(nowhere?.message).to.contain("missing");
  });

  it("opens a new file that others open at the same moment", async () => {
    for (let round = 0; round < 40; round += 1) {
      const fresh = join(folder, `new-${String(round)}.db`);
      const opened = await Promise.allSettled(
        Array.from({ length: 8 }, () => openDatabase({ sqliteFile: fresh })),
      );
      await Promise.all(opened.map(async (one) => one.status === "fulfilled" && one.value.close()));
      expect(opened.filter(({ status }) => status === "rejected")).to.deep.equal([]);
    }
  });
});
