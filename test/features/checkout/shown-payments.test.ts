import { expect } from "chai";
import type { PayerPayment } from "../../../src/features/payments/payer-view.ts";
import {
  arrivedAmounts,
  sumsByToken,
  transactionsOf,
} from "../../../src/features/checkout/shown-payments.ts";
import { formatMoney, money, tokenAsset } from "../../../src/kernel/money/money.ts";
import { aHash, anInvoice, aPayment, inUsdt } from "./lab.ts";

const idOf = (letter: string) => `pay_01jd7v0000000000000000000${letter}` as const;

/** A payment whose hash consists of a letter. */
const payment = (
  letter: string,
  status: PayerPayment["status"],
  changes: Partial<PayerPayment> = {},
): PayerPayment => ({
  network: "tron",
  ...aPayment({ id: idOf(letter), transactionHash: aHash(letter), status, ...changes }),
});

/** One payment of each kind. Each amount has a digit of its own, so that a sum shows which were added. */
const payments = [
  payment("a", "confirming", { amount: 1_000_000n }),
  payment("b", "confirmed", { amount: 10_000_000n }),
  payment("c", "review", { amount: 100_000_000n }),
  payment("d", "rejected", { amount: 1_000_000_000n }),
  payment("e", "rejected", { amount: 10_000_000_000n }),
  payment("f", "reverted", { amount: 100_000_000_000n }),
];
const spare = new Set([idOf("d")]);
const received = inUsdt("11.00");

describe("the payments that a payer sees", () => {
  it("are those that count and, once the invoice is over, those that wait or can be asked back", () => {
    for (const [status, transactions, arrived] of [
      ["open", "ab", "111.00"],
      ["partially_paid", "ab", "111.00"],
      ["confirming", "ab", "111.00"],
      ["paid", "ab", "111.00"],
      ["expired", "abcd", "1111.00"],
      ["canceled", "abcd", "1111.00"],
    ] as const) {
      const paid = { invoice: anInvoice("tron", { status, received }), payments };
      const shown = transactionsOf(paid, "paid", spare).map(
        ({ transactionHash: [first] }) => first,
      );
      expect(shown.join(""), status).to.equal(transactions);
      expect(arrivedAmounts(paid, spare).map(formatMoney), status).to.deep.equal([arrived]);
      const expected = transactionsOf(paid, "reverted", spare);
      expect(expected.map(({ id }) => id)).to.include(idOf("f"));
    }
  });

  it("are one for each transaction, network and token, in the order of the first", () => {
    const same = { transactionHash: aHash("a") };
    const paid = {
      invoice: anInvoice("tron"),
      payments: [
        payment("a", "confirmed", { amount: 1n }),
        payment("b", "confirmed", { amount: 20n, ...same }),
        payment("c", "confirmed", { amount: 300n, ...same, token: "USDC" }),
        payment("d", "confirmed", { amount: 4_000n, ...same, network: "ethereum" }),
        payment("e", "confirmed", { amount: 50_000n, ...same }),
      ],
    };
    const shown = transactionsOf(paid, "paid", new Set());
    expect(shown.map(({ amount }) => amount)).to.deep.equal([50_021n, 300n, 4_000n]);
  });

  it("add up in each token, whatever its decimals are on each network, without sums of zero", () => {
    const of = (units: bigint, code: string, decimals: number) =>
      money(units, tokenAsset(code, decimals));
    const sums = sumsByToken([
      of(1_500_000n, "USDT", 6),
      of(0n, "DAI", 18),
      of(25n, "USDC", 2),
      of(1n, "USDT", 18),
      of(250_000n, "USDC", 6),
      of(2_000_000n, "USDT", 6),
    ]);
    expect(sums.map((sum) => [formatMoney(sum), sum.asset.code])).to.deep.equal([
      ["3.500000000000000001", "USDT"],
      ["0.50", "USDC"],
    ]);
    expect(sumsByToken([])).to.deep.equal([]);
  });
});
