import { expect } from "chai";
import { amount, text, time } from "../../../src/platform/database/schema/table.ts";
import { columns } from "../../../src/platform/database/schema/statements.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import type { StoreOptions } from "../../../src/platform/database/open.ts";
import { firstOfEach } from "../../../src/platform/database/query/first-of-each.ts";
import { givenRows } from "../../../src/platform/database/query/json-rows.ts";
import { lockingColumn, tryHoldLock } from "../../../src/platform/database/write/locks.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { account, accounts, createAccounts } from "./accounts.ts";

eachStore("Statements for many rows", (store) => {
  let place: StoreOptions;
  let db: Database;

  beforeEach(async () => {
    place = await store.place("empty");
    db = await store.open(place);
    await createAccounts(db);
    await db.write(testContext, (tx) =>
      tx.insertMany(accounts, [account("a"), account("b"), account("c", { label: null })]),
    );
  });

  const stored = () => db.find(accounts, "ORDER BY id");

  it("sets each row to its own values of every kind, null included", async () => {
    const largest = 2n ** 256n - 1n;
    const changes = [
      {
        balance: largest,
        change: -5n,
        isOpen: false,
        tags: ['"', 1],
        label: 'it\'s "a"',
        openedAt: 1,
      },
      { balance: 0n, change: 0n, isOpen: true, tags: {}, label: null, openedAt: 2 ** 53 - 1 },
    ] as const;
    const changed = await db.write(testContext, (tx) =>
      tx.updateMany(accounts, [
        { where: { id: "a" }, set: changes[0] },
        { where: { id: "b" }, set: changes[1] },
        { where: { id: "none" }, set: changes[1] },
      ]),
    );
    expect(changed).to.equal(2);
    expect(await stored()).to.deep.equal([
      account("a", changes[0]),
      account("b", changes[1]),
      account("c", { label: null }),
    ]);
  });

  it("changes a row only while it has all the values it is found by, and returns the changed ones", async () => {
    const changed = await db.write(testContext, (tx) =>
      tx.updateManyReturning(
        accounts,
        ["id", "balance", "isOpen"],
        [
          { where: { id: "a", version: 0 }, set: { version: 7, balance: 1n } },
          { where: { id: "b", version: 1 }, set: { version: 7, balance: 2n } },
        ],
      ),
    );
    expect(changed).to.deep.equal([{ id: "a", balance: 1n, isOpen: true }]);
    expect((await stored()).map(({ version }) => version)).to.deep.equal([7, 0, 0]);
    const byNull = await db.write(testContext, (tx) =>
      tx.updateMany(accounts, [{ where: { label: null }, set: { version: 9 } }]),
    );
    expect(byNull, "null finds no row").to.equal(0);
  });

  it("inserts rows, and replaces those with the same primary key", async () => {
    await db.write(testContext, (tx) =>
      tx.upsertMany(accounts, [account("b", { balance: 3n, tags: [1] }), account("d")]),
    );
    expect(await stored()).to.deep.equal([
      account("a"),
      account("b", { balance: 3n, tags: [1] }),
      account("c", { label: null }),
      account("d"),
    ]);
  });

  it("deletes rows by several columns, and returns them", async () => {
    const deleted = await db.write(testContext, (tx) =>
      tx.deleteMany(accounts, [
        { id: "a", version: 0 },
        { id: "b", version: 1 },
      ]),
    );
    expect(deleted).to.deep.equal([account("a")]);
    expect((await stored()).map(({ id }) => id)).to.deep.equal(["b", "c"]);
  });

  it("refuses unknown columns and changes that name different ones, and ignores an empty list", async () => {
    const refused = async (changes: unknown) => {
      const written = db.write(testContext, (tx) => tx.updateMany(accounts, changes as []));
      return written.then(
        () => "accepted",
        (error: unknown) => (error as Error).message,
      );
    };
    const right = { where: { id: "a" }, set: { version: 1 } };
    expect(await refused([{ where: { id: "a" }, set: { wrong: 1 } }])).to.contain("wrong");
    expect(await refused([{ where: {}, set: { version: 1 } }])).to.contain("columns");
    expect(await refused([right, { where: { id: "b" }, set: { label: "b" } }])).to.contain(
      "same columns",
    );
    expect(
      await refused([right, { where: { id: "b" }, set: { version: 1, balance: 1n } }]),
    ).to.contain("same columns");
    expect((await stored()).map(({ version }) => version)).to.deep.equal([0, 0, 0]);
    await db.write(testContext, async (tx) => {
      expect(await tx.updateMany(accounts, [])).to.equal(0);
      expect(await tx.deleteMany(accounts, [])).to.deep.equal([]);
      await tx.upsertMany(accounts, []);
    });
  });

  it("joins given rows by the names and types of their columns", async () => {
    const probes = givenRows("probe", {
      owner: text(),
      least: amount(),
      openedAt: time().nullable(),
    });
    const found = await db.all(
      `SELECT ${columns(accounts, "a")} FROM ${probes.from(db.dialect, 1)} JOIN test_accounts a
       ON a.owner = probe.owner AND a.balance >= probe.least AND a.opened_at + 1 > probe.opened_at ORDER BY a.id`,
      [
        probes.values([
          { owner: "owner", least: 0n, openedAt: account("a").openedAt },
          { owner: "owner", least: 0n, openedAt: null },
          { owner: "nobody", least: 0n, openedAt: 0 },
        ]),
      ],
    );
    expect(found.map(({ id }) => id)).to.deep.equal(["a", "b", "c"]);
  });

  it("finds the first rows for each given row, as many as it asks for", async () => {
    const wanted = givenRows("given", { owner: text(), count: accounts.columns.version });
    const first = (limit: number | { column: string; max: number }, isLocking: boolean) =>
      firstOfEach(db.dialect, "found", {
        given: wanted.from(db.dialect, 1),
        table: "test_accounts",
        columns: ["id", "owner"],
        where: "one.owner = given.owner",
        order: ["opened_at", "id"],
        direction: "DESC",
        limit,
        isLocking,
      });
    await db.write(testContext, (tx) =>
      tx.insertMany(
        accounts,
        ["x", "y", "z"].map((id) => account(id, { owner: "other" })),
      ),
    );
    const values = wanted.values([
      { owner: "owner", count: 1 },
      { owner: "other", count: 9 },
      { owner: "nobody", count: 1 },
    ]);
    const idsOf = (sql: string) =>
      db.write(testContext, async (tx) => {
        const rows = await tx.all(`SELECT found.id AS "id" FROM ${sql}`, [values]);
        return rows.map(({ id }) => id).sort();
      });
    expect(await idsOf(first(2, false))).to.deep.equal(["b", "c", "y", "z"]);
    const byColumn = first({ column: "given.count", max: 2 }, true);
    const taken = await idsOf(byColumn);
    expect(taken).to.include("c").and.not.include("b");
    expect(taken).to.include.members(["y", "z"]);
  });

  it("holds the lock of a name against another transaction until it ends", async () => {
    const taken: boolean[] = [];
    await db.write(testContext, async (tx) => {
      taken.push(await tryHoldLock(tx, "one"));
      if (tx.dialect === "sqlite") return;
      const locked = lockingColumn(tx.dialect, "true", "given.names");
      await tx.all(`SELECT 1 AS one${locked} FROM (VALUES ('["two", "three"]')) AS given (names)`);
      const other = await store.open(place);
      taken.push(await other.write(testContext, (its) => tryHoldLock(its, "one")));
      taken.push(await other.write(testContext, (its) => tryHoldLock(its, "three")));
    });
    taken.push(await db.write(testContext, (tx) => tryHoldLock(tx, "three")));
    const isSqlite = db.dialect === "sqlite";
    expect(taken).to.deep.equal(isSqlite ? [true, true] : [true, false, false, true]);
  });
});
