import { expect } from "chai";
import fc from "fast-check";
import { columns, decodeRows } from "../../../src/platform/database/schema/statements.ts";
import { decodeSum, sumOfAmounts } from "../../../src/platform/database/query/sum-amounts.ts";
import { encodeAmount, decodeSignedAmount } from "../../../src/platform/database/schema/table.ts";
import { StatementFailed } from "../../../src/platform/database/errors.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { account, accounts, createAccounts, entries, onlyAccount } from "./accounts.ts";

const largest = 2n ** 256n - 1n;

eachStore("values", (store) => {
  let db: Database;

  beforeEach(async () => {
    db = await store.open(await store.place("empty"));
    await createAccounts(db);
  });

  const insert = (rows: readonly Parameters<typeof account>[]) =>
    db.write(testContext, (tx) =>
      tx.insertMany(
        accounts,
        rows.map((each) => account(...each)),
      ),
    );

  async function sum(where = ""): Promise<bigint> {
    const total = sumOfAmounts(db.dialect, "balance");
    const [row] = await db.all<{ total: unknown }>(
      `SELECT ${total} AS total FROM test_accounts ${where}`,
    );
    return decodeSum(row?.total);
  }

  it("are read back unchanged after single, bulk and appended inserts", async () => {
    const row = account("a", {
      owner: "Ökonom 🧾 '\"\\ $1 ?",
      label: null,
      balance: largest,
      change: -largest,
      version: Number.MAX_SAFE_INTEGER,
      isOpen: false,
      tags: { emoji: "💸", list: [1, null, { deep: "\u0000 '" }] },
      openedAt: 8_640_000_000_000_000,
    });
    await db.write(testContext, async (tx) => {
      await tx.insert(accounts, row);
      await tx.insertMany(accounts, [{ ...row, id: "b" }]);
      tx.append(accounts, { ...row, id: "c" });
    });
    const rows = await db.find(accounts, "ORDER BY id");
    expect(rows).to.deep.equal(["a", "b", "c"].map((id) => ({ ...row, id })));
    const [joined] = decodeRows(
      accounts,
      await db.all(`SELECT ${columns(accounts, "x")} FROM test_accounts x ORDER BY x.id`),
    );
    expect(joined).to.deep.equal(row);
  });

  it("of every kind are found by a bound value", async () => {
    await insert([
      ["a"],
      ["b", { isOpen: false, version: 3, openedAt: 1_800_000_000_000, balance: 5n }],
    ]);
    const conditions: [string, string | number][] = [
      ["is_open = $1", 0],
      ["version >= $1", 3],
      ["opened_at > $1", 1_750_000_000_000],
      ["balance = $1", encodeAmount(5n)],
      ["label = $1", "b"],
    ];
    for (const [condition, value] of conditions) {
      const found = await db.find(accounts, `WHERE ${condition}`, [value]);
      expect(
        found.map(({ id }) => id),
        condition,
      ).to.deep.equal(["b"]);
    }
  });

  it("of signed amounts are exact, and negative ones sort first", async () => {
    const changes = [-largest, -1n, 0n, 1n, 25n, largest];
    await insert(changes.map((change, index) => [`signed ${String(index)}`, { change }]));
    const rows = await db.find(accounts, "ORDER BY id");
    expect(rows.map(({ change }) => change)).to.deep.equal(changes);
    const sorted = await db.find(accounts, "ORDER BY change DESC");
    expect(sorted.slice(0, 4).map(({ change }) => change)).to.deep.equal([largest, 25n, 1n, 0n]);
  });

  it("of signed amounts have one form, which a constraint enforces", async () => {
    await insert([["a", { change: -5n }]]);
    for (const wrong of ["-5", encodeAmount(5n), `+${encodeAmount(5n)}`, `-${"x".repeat(78)}`]) {
      const written = db.write(testContext, (tx) =>
        tx.run("UPDATE test_accounts SET change = $1", [wrong]),
      );
      expect(await written.catch((error: unknown) => error), wrong).to.be.instanceOf(
        StatementFailed,
      );
    }
    expect(() => decodeSignedAmount(`-${encodeAmount(0n)}`)).to.throw("with a sign");
    expect((await onlyAccount(db)).change).to.equal(-5n);
  });

  it("of text sort by bytes, and amounts by size", async () => {
    const labels = ["Z", "a", "_", "É", "z", "B", "10", "9", "💸", "ﬀ"];
    await insert(
      labels.map((label, index) => [String(index), { label, balance: BigInt(9 + index) ** 40n }]),
    );
    const byLabel = (await db.find(accounts, "ORDER BY label")).map(({ label }) => label);
    const bytes = (text: string) => Buffer.from(text).toString("hex");
    expect(byLabel).to.deep.equal(
      [...labels].sort((left, right) => (bytes(left) < bytes(right) ? -1 : 1)),
    );
    const byBalance = (await db.find(accounts, "ORDER BY balance DESC")).map(({ id }) =>
      Number(id),
    );
    expect(byBalance).to.deep.equal([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  });

  it("of arbitrary amounts are exact, sort by size, and have an exact sum", async () => {
    const amounts = fc.array(
      fc.oneof(fc.bigInt(0n, largest), fc.constant(largest), fc.bigInt(0n, 10n)),
      {
        maxLength: 60,
      },
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(amounts, async (values) => {
        run += 1;
        const owner = `run ${String(run)}`;
        await insert(
          values.map((balance, index) => [`${owner} ${String(index)}`, { owner, balance }]),
        );
        const rows = await db.find(accounts, "WHERE owner = $1 ORDER BY balance, id", [owner]);
        const sorted = [...values].sort((left, right) =>
          left < right ? -1 : left > right ? 1 : 0,
        );
        expect(rows.map(({ balance }) => balance)).to.deep.equal(sorted);
        expect(await sum(`WHERE owner = '${owner}'`)).to.equal(
          values.reduce((all, each) => all + each, 0n),
        );
      }),
      { numRuns: 30 },
    );
    expect(await sum("WHERE id = 'nobody'")).to.equal(0n);
  });

  it("of 20,000 of the largest amounts are summed exactly", async () => {
    await insert(
      Array.from({ length: 20_000 }, (_, index) => [String(index), { balance: largest }]),
    );
    expect(await sum()).to.equal(20_000n * largest);
  });

  it("that cannot be stored are refused before they reach the database", async () => {
    const rows = [
      account("a", { balance: -1n }),
      account("a", { balance: 10n ** 78n }),
      account("a", { version: 0.5 }),
      account("a", { version: 2 ** 53 }),
      account("a", { openedAt: Number.NaN }),
      account("a", { id: null as unknown as string }),
    ];
    for (const row of rows) {
      const refused = await db
        .write(testContext, (tx) => tx.insert(accounts, row))
        .catch((error: unknown) => String(error));
      expect(refused).to.match(/^Defect: test_accounts\.\w+: /);
    }
  });

  it("that are not amounts are refused by the database", async () => {
    await insert([["a"]]);
    for (const bad of [
      "1",
      "",
      "-".padEnd(78, "0"),
      " ".padEnd(78, "0"),
      "0".repeat(79),
      "٣".repeat(78),
    ]) {
      const refused = await db
        .write(testContext, (tx) => tx.run("UPDATE test_accounts SET balance = $1", [bad]))
        .catch((error: unknown) => String(error));
      expect(refused, bad).to.contain("StatementFailed");
    }
    expect((await onlyAccount(db)).balance).to.equal(0n);
  });

  it("from counts, sums and comparisons are numbers", async () => {
    await insert([
      ["a", { version: 7 }],
      ["b", { version: 2 ** 40 }],
    ]);
    const [row] = await db.all(
      `SELECT COUNT(*) AS count, CAST(SUM(version) AS BIGINT) AS sum, MAX(opened_at) AS latest,
        EXISTS (SELECT 1 FROM test_accounts) AS found FROM test_accounts`,
    );
    expect(row).to.deep.equal({
      count: 2,
      sum: 2 ** 40 + 7,
      latest: account("a").openedAt,
      found: 1,
    });
  });

  it("of rows that reference no existing row are refused", async () => {
    const refused = await db
      .write(testContext, (tx) => tx.insert(entries, { id: "e", accountId: "nobody", amount: 1n }))
      .catch((error: unknown) => String(error));
    expect(refused).to.match(/StatementFailed: .*foreign key/i);
  });
});
