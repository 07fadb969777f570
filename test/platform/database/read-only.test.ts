import { expect } from "chai";
import { openForReading, type StoreOptions } from "../../../src/platform/database/open.ts";
import { StoreUnavailable } from "../../../src/platform/database/errors.ts";
import { meta } from "../../../src/platform/database/schema/table.ts";
import { schemaVersions } from "../../../src/platform/database/schema/migrate.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}

eachStore("the read-only store", (store) => {
  store.leavesUnsound({ checks: "all", because: "a store of a newer program is left behind" });

  let place: StoreOptions;
  beforeEach(async () => {
    place = await store.place("migrated");
  });

  it("reads what other connections commit meanwhile", async () => {
    const db = await store.open(place);
    const reader = await openForReading(place);
    try {
      expect(await reader.findOne(meta, "WHERE name = $1", ["seen"])).to.equal(null);
      await db.write(testContext, (tx) => tx.insert(meta, { name: "seen", value: "yes" }));
      expect(await reader.findOne(meta, "WHERE name = $1", ["seen"])).to.include({ value: "yes" });
      const [counted] = await reader.all<{ total: number; isOne: number }>(
        `SELECT COUNT(*) AS "total", COUNT(*) = 1 AS "isOne" FROM meta WHERE name = $1`,
        ["seen"],
      );
      expect(counted).to.deep.equal({ total: 1, isOne: 1 });
    } finally {
      await reader.close();
    }
  });

  it("cannot write", async () => {
    const reader = await openForReading(place);
    try {
      const refused = await failure(
        reader.all("INSERT INTO meta (name, value) VALUES ($1, $2) RETURNING name", ["a", "b"]),
      );
      expect(refused).to.be.an("error");
      expect(await reader.find(meta, "WHERE name = $1", ["a"])).to.deep.equal([]);
    } finally {
      await reader.close();
    }
  });

  it("refuses the store of a newer program", async () => {
    const db = await store.open(place);
    await db.write(testContext, (tx) =>
      tx.insert(schemaVersions, { version: 9_999, name: "later", appliedAt: 0 }),
    );
    const refused = await failure(openForReading(place));
    expect(refused).to.have.property("code", "store_too_new");
  });
});

describe("opening a missing store for reading", () => {
  it("fails with a clear message and creates no file", async () => {
    const missing = await failure(openForReading({ sqliteFile: "/nowhere/till.db" }));
    expect(missing).to.be.instanceOf(StoreUnavailable);
    const closed = await failure(openForReading({ url: "postgres://till@127.0.0.1:1/till" }));
    expect(closed).to.be.instanceOf(StoreUnavailable);
  });
});
