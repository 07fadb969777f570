import { expect } from "chai";
import {
  presentTransfer,
  type TransferView,
} from "../../../../src/features/payments/inbox/records.ts";
import type {
  DecisionRow,
  PaymentRow,
  TransferRow,
} from "../../../../src/features/payments/table.ts";

interface Given {
  readonly transfer?: Partial<TransferRow>;
  readonly payments?: readonly Partial<PaymentRow>[];
  readonly decisions?: readonly Partial<DecisionRow>[];
  readonly suggestions?: TransferView["suggestions"];
}

/** A transfer of 25 USDT to the organization `org_1` in block 90 of 100, with payments of 10 each. */
function transferView({
  transfer = {},
  payments = [],
  decisions = [],
  suggestions = [],
}: Given = {}): TransferView {
  return {
    transfer: {
      id: "trf_1",
      network: "sandbox",
      transactionHash: "aa",
      logIndex: 0,
      ordinal: 0,
      blockHeight: 90,
      blockHash: "b90",
      blockTime: 0,
      contract: "usdt",
      token: "USDT",
      tokenDecimals: 6,
      fromAddress: "payer",
      toAddress: "shop",
      amount: 25_000_000n,
      status: "seen",
      isFinal: false,
      verification: "open",
      organizationId: "org_1",
      invoiceId: null,
      disposition: "unmatched",
      waitingReason: null,
      createdAt: 0,
      ...transfer,
    },
    notation: {
      formatAddress: (address: string) => address,
      formatTransactionHash: (hash: string) => hash,
    },
    tipHeight: 100,
    payments: payments.map(
      (changes, place) =>
        ({
          id: `pay_${String(place + 1)}`,
          organizationId: "org_1",
          invoiceId: `inv_${String(place + 1)}`,
          amount: 10_000_000n,
          refunded: 0n,
          status: "confirming",
          statusWhenBack: null,
          rule: "manual",
          source: "operator",
          createdAt: 0,
          ...changes,
        }) as PaymentRow,
    ),
    decisions: decisions.map(
      (changes) =>
        ({
          organizationId: "org_1",
          decision: "allocated",
          paymentId: null,
          invoiceId: null,
          amount: 1n,
          actorType: "operator",
          actorId: null,
          actorLabel: "till",
          createdAt: 0,
          ...changes,
        }) as DecisionRow,
    ),
    suggestions,
  };
}

const shown = (...given: Parameters<typeof transferView>) =>
  presentTransfer(transferView(...given));

describe("A transfer as its organization sees it", () => {
  it("has its confirmations and its standing, and none of them once it is off the chain", () => {
    expect(shown()).to.include({ status: "unmatched", confirmations: 11 });
    const matched = { disposition: "matched" } as const;
    expect(shown({ transfer: matched })).to.include({ status: "matched", confirmations: 11 });
    const gone = { ...matched, status: "orphaned" } as const;
    expect(shown({ transfer: gone })).to.include({ status: "reverted", confirmations: 0 });
  });

  it("is verified if its providers agree on it, or if a payment of it was confirmed", () => {
    const verified = { transfer: { verification: "verified" } } as const;
    const pending = { payments: [{ status: "rejected" }, { status: "confirming" }] } as const;
    const confirmed = { payments: [{ status: "rejected" }, { status: "confirmed" }] } as const;
    expect([verified, confirmed].map((given) => shown(given).isVerified)).to.deep.equal([
      true,
      true,
    ]);
    expect([{}, pending].map((given) => shown(given).isVerified)).to.deep.equal([false, false]);
  });

  it("says why it waits, until a part of it is allocated or it leaves the inbox", () => {
    const waiting = { waitingReason: "own_wallet" } as const;
    const reason = (...given: Parameters<typeof transferView>) => shown(...given).waitingReason;
    expect(reason()).to.equal(null);
    expect(reason({ transfer: waiting })).to.equal("own_wallet");
    expect(reason({ transfer: waiting, payments: [{ status: "review" }] })).to.equal("own_wallet");
    expect(reason({ transfer: waiting, payments: [{ status: "rejected" }] })).to.equal(
      "own_wallet",
    );
    expect(reason({ transfer: waiting, payments: [{ status: "confirming" }] })).to.equal(null);
    expect(reason({ transfer: { ...waiting, disposition: "ignored" } })).to.equal(null);
    expect(reason({ transfer: { ...waiting, status: "orphaned" } })).to.equal(null);
  });

  it("has less left for every payment that takes of it, and shows only its own payments and decisions", () => {
    const foreign = { organizationId: "org_2" } as const;
    const view = shown({
      payments: [{ status: "confirmed" }, { status: "rejected" }, foreign],
      decisions: [{ paymentId: "pay_1" }, { ...foreign, paymentId: "pay_3" }],
    });
    expect(view).to.include({ amount: "25.00", unallocatedAmount: "5.00" });
    expect(view.allocations.map(({ paymentId }) => paymentId)).to.deep.equal(["pay_1", "pay_2"]);
    expect(view.decisions.map(({ paymentId }) => paymentId)).to.deep.equal(["pay_1"]);
  });
});
