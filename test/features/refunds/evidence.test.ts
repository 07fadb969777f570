import { expect } from "chai";
import type { RefundRow } from "../../../src/features/refunds/store.ts";
import { refusalOf, retryAt } from "../../../src/features/refunds/verification/evidence.ts";
import { minute, second } from "../../../src/kernel/clock.ts";
import type { Receipt } from "../../../src/platform/chain/client.ts";
import type { Network } from "../../../src/platform/chain/networks.ts";

const network = { tokens: [{ symbol: "USDT", contract: "usdt" }] } as unknown as Network;
const refund = {
  organizationId: "org_1",
  token: "USDT",
  amount: 100n,
  address: "payer",
  paymentHeight: 50,
} as unknown as RefundRow;
const owners = new Map([
  ["own", "org_1"],
  ["till", "org_1"],
  ["foreign", "org_2"],
] as const);

type Transfer = readonly [from: string, to: string, amount: bigint, contract?: string];

const refusal = (transfers: readonly Transfer[], changes: Partial<Receipt> = {}) =>
  refusalOf(
    {
      succeeded: true,
      blockHeight: 50,
      transfers: transfers.map(([from, to, amount, contract = "usdt"]) => ({
        from,
        to,
        amount,
        contract,
      })),
      ...changes,
    } as Receipt,
    refund,
    network,
    owners,
  );

describe("The transaction that a merchant names for a refund", () => {
  it("pays it with what the payer gets from the merchant's wallets in the token, in one transfer or several", () => {
    const paid: Transfer = ["own", "payer", 100n];
    expect(refusal([paid])).to.equal(null);
    expect(refusal([["own", "payer", 101n]])).to.equal(null);
    const parts: readonly Transfer[] = [
      ["own", "payer", 60n],
      ["till", "payer", 40n],
    ];
    expect(refusal(parts)).to.equal(null);
    for (const [transfers, reason] of [
      [[["own", "payer", 99n]], "too_small"],
      [[...parts.slice(1), ["own", "payer", 59n]], "too_small"],
      [[], "other_recipient"],
      [[["own", "somebody", 100n]], "other_recipient"],
      [[["own", "payer", 100n, "usdc"]], "other_token"],
      [[["foreign", "payer", 100n]], "other_sender"],
      [[["nobody", "payer", 100n]], "other_sender"],
    ] as const) {
      expect(refusal(transfers as readonly Transfer[]), reason).to.equal(reason);
      // Beside transfers of others.
      expect(refusal([...(transfers as readonly Transfer[]), paid])).to.equal(null);
    }
    // Nothing of these counts for the amount.
    const others: readonly Transfer[] = [
      ["own", "somebody", 100n],
      ["own", "payer", 100n, "usdc"],
      ["foreign", "payer", 100n],
    ];
    expect(refusal([...others, ["own", "payer", 99n]])).to.equal("too_small");
  });

  it("succeeded, in the block of the payment or a later one", () => {
    const transfers: readonly Transfer[] = [["own", "payer", 100n]];
    expect(refusal(transfers, { succeeded: false })).to.equal("failed");
    expect(refusal(transfers, { blockHeight: 49 })).to.equal("too_early");
    expect(refusal(transfers, { blockHeight: 51 })).to.equal(null);
  });

  it("is looked up again after twice the time, from three seconds to five minutes", () => {
    const waits = [0, 1, 2, 6, 7, 20, 10_000].map((attempts) => retryAt(attempts, 1_000) - 1_000);
    expect(waits).to.deep.equal([
      ...[3 * second, 6 * second, 12 * second, 192 * second],
      ...[5 * minute, 5 * minute, 5 * minute],
    ]);
  });
});
