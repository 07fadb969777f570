// The readiness of a server follows its writes: it ends when the store refuses them, and not when the store is busy.
import { expect } from "chai";
import { openDatabase } from "../../../../src/platform/database/open.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { tooManyWaiting, unavailable } from "../../../../src/platform/database/errors.ts";
import { watchWrites } from "../../../../src/platform/database/watch-writes.ts";
import { describeOnPostgres } from "../../../support/store/describe-on-postgres.ts";
import { dropDatabase, freshDatabase } from "../../../support/store/postgres.ts";
import { testContext } from "../../../support/store/stores.ts";

describe("a store whose writes are observed", () => {
  it("refuses writes after a full disk, and not because too many writes wait", async () => {
    const outcomes: (Error | null)[] = [];
    const fake = {
      write() {
        const next = outcomes.shift() ?? null;
        return next === null ? Promise.resolve() : Promise.reject(next);
      },
    } as unknown as Database;
    const { db, isRefusing } = watchWrites(fake);
    const after = async (outcome: Error | null) => {
      outcomes.push(outcome);
      await db.write(testContext, () => Promise.resolve()).catch(() => undefined);
      return isRefusing();
    };
    expect(await after(tooManyWaiting())).to.equal(false);
    expect(await after(new Error("a caller's"))).to.equal(false);
    expect(await after(unavailable("The disk that holds the store is full", null))).to.equal(true);
    // Says nothing about the disk.
    expect(await after(tooManyWaiting())).to.equal(true);
    expect(await after(null)).to.equal(false);
  });
});

describeOnPostgres("a store on PostgreSQL whose writes are observed", () => {
  let url: string;
  let opened: Database;

  beforeEach(async () => {
    url = await freshDatabase();
    opened = await openDatabase({ url });
    await opened.write(testContext, (tx) => tx.run("CREATE TABLE things (id text PRIMARY KEY)"));
  });

  afterEach(async () => {
    await opened.close();
    await dropDatabase(url);
  });

  it("refuses writes while the database is read-only, with a problem that says so", async () => {
    const { db, isRefusing } = watchWrites(opened);
    const add = () =>
      db.write(testContext, (tx) => tx.run("INSERT INTO things (id) VALUES ('a')")).catch(String);
    const setReadOnly = (value: string) =>
      opened.write(testContext, async (tx) => {
        await tx.run("SET TRANSACTION READ WRITE");
        const [here] = await tx.all<{ name: string }>(
          `SELECT CAST(current_database() AS text) AS "name"`,
        );
        await tx.run(
          `ALTER DATABASE "${here?.name ?? ""}" SET default_transaction_read_only = ${value}`,
        );
        await tx.all(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
        );
        // The connection goes back into the pool, and takes the new default too.
        await tx.run(`SET default_transaction_read_only = ${value}`);
      });
    await setReadOnly("on");
    const refused = await add();
    expect(refused).to.include("store_unavailable").and.to.include("read-only");
    expect(isRefusing()).to.equal(true);
    await setReadOnly("off");
    expect(await add()).to.equal(1);
    expect(isRefusing()).to.equal(false);
  });

  it("accepts writes after one that waited too long for a lock, or conflicted too often", async () => {
    const { db, isRefusing } = watchWrites(opened);
    await db.write(testContext, (tx) => tx.run("INSERT INTO things (id) VALUES ('a')"));
    const failing = (state: string) =>
      db
        .write(testContext, (tx) =>
          tx.run(`DO $$ BEGIN RAISE EXCEPTION 'busy' USING ERRCODE = '${state}'; END $$`),
        )
        .catch(String);
    for (const state of ["55P03", "40001", "57014"]) {
      expect(await failing(state), state).to.include("store_unavailable");
      expect(isRefusing(), state).to.equal(false);
    }
    expect(await failing("53100")).to.include("store_unavailable");
    expect(isRefusing()).to.equal(true);
  });
});
