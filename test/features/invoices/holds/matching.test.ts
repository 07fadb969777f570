import { expect } from "chai";
import { day } from "../../../../src/kernel/clock.ts";
import {
  endHolds,
  hasEndedHolds,
  matchHolds,
  type MatchCandidate,
} from "../../../../src/features/invoices/holds/matching.ts";
import {
  decodeAmount,
  encodeAmount,
  type Reader,
  type Tx,
} from "../../../../src/platform/database/index.ts";

const candidate = (key: string, amount = 1_000n): MatchCandidate => ({
  key,
  token: "USDT",
  address: "a",
  amount,
  blockTime: 7,
});

type Row = Readonly<Record<string, unknown>>;

/** A transaction that finds these holds. `asked` are the statements that were run, with the keys and amounts of their probes. */
function txWith(found: {
  readonly exact?: readonly Row[];
  readonly tolerant?: readonly Row[];
  readonly rivaled?: readonly Row[];
}) {
  const asked: string[] = [];
  const tx = {
    dialect: "sqlite",
    all(sql: string, [, values]: readonly string[]) {
      const kind = sql.includes("former")
        ? "exact"
        : sql.includes("HAVING")
          ? "tolerant"
          : "rivaled";
      const probes = (JSON.parse(values ?? "[]") as readonly (string | number)[][]).map(
        ([key, , token, , ...amounts]) =>
          [
            `${String(key)} ${String(token)}`,
            ...amounts
              .filter((each) => /^\d{78}$/.test(String(each)))
              .map((each) => decodeAmount(String(each))),
          ].join(" "),
      );
      asked.push(`${kind}: ${probes.join(", ")}`);
      return Promise.resolve(found[kind] ?? []);
    },
  };
  return { tx: tx as unknown as Tx, asked };
}

const held = (key: string, kind: string, invoiceId: string, former: string | null = null) => ({
  key,
  kind,
  invoiceId,
  former,
  organizationId: "org_1",
});
const near = (key: string, amount: bigint) => ({
  key,
  invoiceId: "inv_near",
  organizationId: "org_1",
  amount: encodeAmount(amount),
});
const match = (invoiceId: string, rule: string) => ({ invoiceId, rule, organizationId: "org_1" });

describe("Matching transfers with holds", () => {
  it("takes a hold of the whole address before one of the amount, in whatever order they are found", async () => {
    const rows = [held("t1", "amount", "inv_amount"), held("t1", "exclusive", "inv_address")];
    for (const exact of [rows, rows.toReversed()]) {
      const { tx } = txWith({ exact });
      const found = await matchHolds(tx, "base", [candidate("t1")]);
      expect(found.get("t1")).to.deep.equal(match("inv_address", "exclusive_address"));
    }
    // Of two of the amount, the first.
    const { tx } = txWith({
      exact: [held("t1", "amount", "inv_1"), held("t1", "amount", "inv_2")],
    });
    const found = await matchHolds(tx, "base", [candidate("t1")]);
    expect(found.get("t1")).to.deep.equal(match("inv_1", "exact_amount"));
  });

  it("is uncertain if an earlier invoice had the amount", async () => {
    const { tx } = txWith({ exact: [held("t1", "amount", "inv_1", "hld_before")] });
    const found = await matchHolds(tx, "base", [candidate("t1")]);
    expect(found.get("t1")).to.deep.equal({ ...match("inv_1", "exact_amount"), isAmbiguous: true });
  });

  it("takes an amount within the tolerance for the rest, unless another invoice is as near", async () => {
    const { tx, asked } = txWith({
      exact: [held("t1", "amount", "inv_1")],
      tolerant: [near("t2", 1_010n), near("t3", 1_002n)],
      rivaled: [{ key: "t3" }],
    });
    const found = await matchHolds(
      tx,
      "base",
      ["t1", "t2", "t3", "t4"].map((key) => candidate(key)),
    );
    expect([...found]).to.deep.equal([
      ["t1", match("inv_1", "exact_amount")],
      ["t2", match("inv_near", "within_tolerance")],
    ]);
    expect(asked).to.deep.equal([
      "exact: " + ["t1", "t2", "t3", "t4"].map((key) => `${key} * 0, ${key} USDT 1000`).join(", "),
      // With a tolerance of at most 5 percent.
      "tolerant: t2 USDT 1000 1053, t3 USDT 1000 1053, t4 USDT 1000 1053",
      // As far below the amount as the invoice's is above.
      "rivaled: t2 USDT 990 1010, t3 USDT 998 1002",
    ]);
  });

  it("looks for rivals from zero on below a small amount", async () => {
    for (const [amount, least] of [
      [11n, 1n],
      [10n, 0n],
      [9n, 0n],
    ] as const) {
      const { tx, asked } = txWith({ tolerant: [near("t1", amount + 10n)] });
      await matchHolds(tx, "base", [candidate("t1", amount)]);
      expect(asked.at(-1)).to.equal(`rivaled: t1 USDT ${String(least)} ${String(amount + 10n)}`);
    }
  });

  it("asks only as far as needed", async () => {
    const { tx, asked } = txWith({});
    expect(await matchHolds(tx, "base", [])).to.deep.equal(new Map());
    expect(asked).to.deep.equal([]);
    await matchHolds(tx, "base", [candidate("t1")]);
    expect(asked.map((each) => each.split(":")[0])).to.deep.equal(["exact", "tolerant"]);
    const matched = txWith({ exact: [held("t1", "amount", "inv_1")] });
    await matchHolds(matched.tx, "base", [candidate("t1")]);
    expect(matched.asked).to.have.length(1);
  });
});

describe("The holds of an invoice that ends before its deadline", () => {
  /** Ends the holds of an invoice of a merchant with a late window of two days. Returns the result, and what is stored. */
  async function ended(lateUntil: number | null, endedAt: number) {
    const stored: unknown[] = [];
    const tx = {
      dialect: "sqlite",
      all: () => Promise.resolve([{ days: 2, origins: "[]" }]),
      run: (_sql: string, values: readonly unknown[]) => Promise.resolve(stored.push(values)),
    } as unknown as Tx;
    const invoice = { id: "inv_1", organizationId: "org_1", lateUntil } as const;
    return { until: await endHolds(tx, invoice, endedAt), stored };
  }

  it("last for the late window from then on, but never longer than before", async () => {
    for (const [lateUntil, until] of [
      [9 * day, 5 * day],
      [5 * day, 5 * day],
      [4 * day, 4 * day],
    ] as const) {
      expect(await ended(lateUntil, 3 * day)).to.deep.equal({ until, stored: [["inv_1", until]] });
    }
  });

  it("are none of a draft", async () => {
    expect(await ended(null, 3 * day)).to.deep.equal({ until: null, stored: [] });
  });
});

describe("Holds that have ended", () => {
  it("are those that the store finds", async () => {
    const isFound = (rows: readonly object[]) =>
      hasEndedHolds({ all: () => Promise.resolve(rows) } as unknown as Reader, "base", 7);
    expect([await isFound([]), await isFound([{ found: 1 }])]).to.deep.equal([false, true]);
  });
});
