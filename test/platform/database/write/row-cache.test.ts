import { expect } from "chai";
import type { Database, Question, Tx } from "../../../../src/platform/database/database.ts";
import type { StoreOptions } from "../../../../src/platform/database/open.ts";
import { listed } from "../../../../src/platform/database/query/json-rows.ts";
import { makeRowCache, type RowCache } from "../../../../src/platform/database/write/row-cache.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";
import { account, accounts, createAccounts, deposit } from "../accounts.ts";

const versionOf = "SELECT version FROM test_accounts WHERE id = $1";

eachStore("tx.lockShared", (store) => {
  let db: Database;
  let place: StoreOptions;
  const write = <T>(fn: (tx: Tx) => Promise<T>) => db.write(testContext, fn);
  const kept = (tx: Tx, id = "a") => tx.lockShared<{ version: number }>(versionOf, [id]);

  beforeEach(async () => {
    place = await store.place("empty");
    db = await store.open(place);
    await createAccounts(db);
    await write((tx) => tx.insert(accounts, account("a")));
  });

  it("returns what this write, and an earlier one in the same commit, has changed", async () => {
    const bump = () =>
      write(async (tx) => {
        const [before] = await kept(tx);
        await tx.run("UPDATE test_accounts SET version = version + 1 WHERE id = 'a'");
        const [after] = await kept(tx);
        return (after?.version ?? 0) - (before?.version ?? 0);
      });
    const [first] = await write((tx) => kept(tx));
    // On SQLite, writes that wait at the same time share a commit; on PostgreSQL these would lock each other out.
    const together = store.dialect === "sqlite" ? [bump(), bump(), bump()] : [bump()];
    const steps = await Promise.all(together);
    expect(new Set(steps)).to.deep.equal(new Set([1]));
    const [last] = await write((tx) => kept(tx));
    expect((last?.version ?? 0) - (first?.version ?? 0)).to.equal(steps.length);
  });

  it("reads a row once for the writes that share a commit", async () => {
    const [one, other] = await Promise.all([write((tx) => kept(tx)), write((tx) => kept(tx))]);
    expect(other).to.deep.equal(one);
    expect(other === one).to.equal(store.dialect === "sqlite");
  });

  it("sees a row that another write added after it was missing", async () => {
    const seen = await Promise.all([
      write((tx) => kept(tx, "late")),
      write((tx) => tx.insert(accounts, account("late"))),
    ]);
    expect(seen[0].length).to.be.lessThanOrEqual(1);
    expect(await write((tx) => kept(tx, "late"))).to.have.length(1);
  });

  it("keeps the row unchanged by others until the commit", async () => {
    const other = await store.open(place);
    let isChanged = false;
    let change: Promise<unknown> = Promise.resolve();
    await write(async (tx) => {
      await kept(tx);
      change = other
        .write(testContext, (its) => its.run("UPDATE test_accounts SET version = 9 WHERE id = 'a'"))
        .then(() => (isChanged = true));
      // Time in which the other write would be done.
      for (let count = 0; count < 20; count += 1) await tx.find(accounts, "");
      expect(isChanged).to.equal(false);
    });
    await change;
    expect(await write((tx) => kept(tx))).to.deep.equal([{ version: 9 }]);
  });
});

eachStore("tx.answers", (store) => {
  let db: Database;
  let statements: number;
  const balances: Question<{ readonly id: string }, bigint | null> = {
    table: accounts,
    async ask(reader, asked) {
      statements += 1;
      const rows = await reader.find(accounts, `WHERE id IN ${listed(reader.dialect, 1)}`, [
        JSON.stringify(asked.map(({ id }) => id)),
      ]);
      return asked.map(({ id }) => rows.find((row) => row.id === id)?.balance ?? null);
    },
  };
  const ask = (id: string, change: (tx: Tx) => Promise<unknown> = () => Promise.resolve()) => {
    const asked = { id };
    return db.write(
      testContext,
      async (tx) => {
        await change(tx);
        return (await tx.answers(balances, [asked]))[0];
      },
      { question: balances, asked },
    );
  };

  beforeEach(async () => {
    db = await store.open(await store.place("empty"));
    statements = 0;
    await createAccounts(db);
    await db.write(testContext, async (tx) => {
      await tx.insert(accounts, account("a"));
      await deposit(tx, "a", 5n, "first");
    });
  });

  it("asks in one statement for the writes that wait at the same time, each with its own answer", async () => {
    const ids = ["a", "b", "a", "c", "a", "d"];
    const found = await Promise.all(ids.map((id) => ask(id)));
    expect(found).to.deep.equal([5n, null, 5n, null, 5n, null]);
    expect(statements).to.equal(store.dialect === "sqlite" ? 1 : ids.length);
  });

  it("asks again after an earlier write of the commit has changed the table", async () => {
    const found = await Promise.all([
      ask("a"),
      ask("a"),
      ask("a", (tx) => deposit(tx, "a", 1n, "second")),
      ask("a", (tx) => deposit(tx, "a", 1n, "third")),
    ]);
    // On PostgreSQL their order is open.
    if (store.dialect === "sqlite") expect(found).to.deep.equal([5n, 5n, 6n, 7n]);
    expect(await ask("a")).to.equal(7n);
  });

  it("answers the other writes if one fails, whether alone or with the commit", async () => {
    const failing = (change: (tx: Tx) => Promise<unknown>) =>
      ask("a", async (tx) => {
        await change(tx);
        throw new Error("it fails");
      }).catch((error: unknown) => (error as Error).message);
    const found = await Promise.all([
      ask("a"),
      failing(() => Promise.resolve()),
      ask("a"),
      failing((tx) => deposit(tx, "a", 1n, "lost")),
      ask("b"),
    ]);
    expect(found).to.deep.equal([5n, "it fails", 5n, "it fails", null]);
  });
});

describe("the objects that the writes of a transaction share", () => {
  it("are created once of each kind", () => {
    const rows = makeRowCache();
    const makeList = (): string[] => [];
    const makeSet = () => new Set<string>();
    rows.shared(makeList).push("one");
    expect(rows.shared(makeList)).to.deep.equal(["one"]);
    expect(rows.shared(makeSet).size).to.equal(0);
    expect(makeRowCache().shared(makeList)).to.deep.equal([]);
  });
});

describe("the rows that a transaction keeps", () => {
  let rows: RowCache;
  let runs: number;

  beforeEach(() => {
    rows = makeRowCache();
    runs = 0;
  });

  const read = (sql: string, values: readonly string[] = []) =>
    rows.read(sql, values, () => {
      runs += 1;
      return Promise.resolve([{ run: runs }]);
    });
  const wallet = "SELECT 1 FROM wallets WHERE id = $1";
  const joined = "SELECT o.id FROM Organizations AS o JOIN wallets ON wallets.id = o.id";

  it("are read once by an identical SELECT with identical values", async () => {
    expect(await read(wallet, ["a"])).to.deep.equal(await read(wallet, ["a"]));
    expect(runs).to.equal(1);
    await read(wallet, ["b"]);
    expect(runs).to.equal(2);
  });

  for (const change of [
    "UPDATE wallets SET label = 'x'",
    "DELETE FROM wallets",
    "INSERT INTO wallets (id) SELECT id FROM holds ON CONFLICT DO NOTHING RETURNING id",
    "WITH old AS (SELECT id FROM holds) UPDATE wallets SET label = 'x' WHERE id IN (SELECT id FROM old)",
    "PRAGMA user_version = 1",
  ]) {
    it(`are read again after ${change}`, async () => {
      await read(wallet, ["a"]);
      await read(joined);
      rows.willChange(change, []);
      await read(wallet, ["a"]);
      await read(joined);
      expect(runs).to.equal(4);
    });
  }

  it("stay known when another table changes", async () => {
    await read(wallet, ["a"]);
    await read(joined);
    rows.willChange("INSERT INTO organizations (id) VALUES ('x')", []);
    await read(wallet, ["a"]);
    expect(runs).to.equal(2);
    await read(joined);
    expect(runs).to.equal(3);
  });

  it("are not known if a change overtook the SELECT", async () => {
    const slow = rows.read(wallet, ["a"], () => {
      rows.willChange("UPDATE wallets SET label = 'x'", []);
      return Promise.resolve([{ run: "before the change" }]);
    });
    await slow;
    expect(await read(wallet, ["a"])).to.deep.equal([{ run: 1 }]);
  });

  it("are not known if there were none", async () => {
    await rows.read(wallet, ["a"], () => Promise.resolve([]));
    expect(await read(wallet, ["a"])).to.deep.equal([{ run: 1 }]);
  });
});
