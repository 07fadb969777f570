// Identical reads that arrive together are one statement, on both databases.
import { expect } from "chai";
import type { Database } from "../../../src/platform/database/database.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { account, accounts, createAccounts } from "./accounts.ts";

eachStore("identical reads", (store) => {
  let db: Database;

  beforeEach(async () => {
    db = await store.open(await store.place("empty"));
    await createAccounts(db);
  });

  const random = async (values: readonly number[] = []) => {
    const rows = await db.all<{ value: number }>(
      values.length === 0 ? "SELECT random() AS value" : "SELECT random() + $1 AS value",
      values,
    );
    return rows[0]?.value;
  };

  it("of one turn are one statement, and a later one is another", async () => {
    const [one, two, three] = await Promise.all([random(), random(), random()]);
    expect(new Set([one, two, three])).to.have.length(1);
    expect(await random()).not.to.equal(one);
  });

  it("give each caller its own rows", async () => {
    const ask = () => db.all<{ value: number }>("SELECT 1 AS value");
    const [one, two] = await Promise.all([ask(), ask()]);
    Object.assign(one[0] ?? {}, { value: 2 });
    one.push({ value: 3 });
    expect(two).to.deep.equal([{ value: 1 }]);
  });

  it("are different statements if a value differs", async () => {
    const [one, two] = await Promise.all([random([1]), random([1.5])]);
    expect(one).not.to.equal(two);
  });

  it("see every write that ended before they were asked", async () => {
    const count = async () => (await db.find(accounts, "")).length;
    for (let written = 1; written <= 5; written += 1) {
      const before = count();
      await db.write(testContext, (tx) => tx.insert(accounts, account(`a${String(written)}`)));
      expect(await count()).to.equal(written);
      expect(await before).to.be.oneOf([written - 1, written]);
    }
  });

  it("all fail if the statement fails, and the next one runs again", async () => {
    const wrong = () => db.all("SELECT label FROM nowhere");
    const results = await Promise.allSettled([wrong(), wrong()]);
    expect(results.map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    await db.write(testContext, (tx) => tx.run("CREATE TABLE nowhere (label text)"));
    expect(await wrong()).to.deep.equal([]);
  });

  it("are answered if the store is closed after they were asked", async () => {
    const asked = db.find(accounts, "");
    await db.close();
    expect(await asked).to.deep.equal([]);
  });
});
