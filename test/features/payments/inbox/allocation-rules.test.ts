import { expect } from "chai";
import {
  readAllocations,
  requireCreditable,
  requireRoom,
  restOf,
} from "../../../../src/features/payments/inbox/allocation-rules.ts";
import {
  eventOf,
  rejectedPayment,
  revertPayment,
} from "../../../../src/features/payments/ledger/payment-rules.ts";
import {
  creditFault,
  isWorthless,
} from "../../../../src/features/payments/ledger/transfer-rules.ts";
import type { PaymentRow, TransferRow } from "../../../../src/features/payments/table.ts";
import { TokenMismatch } from "../../../../src/features/payments/errors.ts";
import { requirePayable } from "../../../../src/features/payments/inbox/allocation.ts";
import type { LockedTerms } from "../../../../src/features/invoices/settlement/terms-to-pay.ts";
import type { InTx } from "../../../../src/app.ts";
import { testNetworks } from "../../../support/merchants.ts";

const transfer: TransferRow = {
  id: "trf_1",
  network: "ethereum",
  transactionHash: "aa".repeat(32),
  logIndex: 0,
  ordinal: 0,
  blockHeight: 10,
  blockHash: "b1",
  blockTime: 0,
  contract: "cc".repeat(20),
  token: "USDT",
  tokenDecimals: 6,
  amount: 25_000_000n,
  fromAddress: "a1".repeat(20),
  toAddress: "b2".repeat(20),
  status: "seen",
  isFinal: false,
  organizationId: "org_1",
  invoiceId: null,
  disposition: "unmatched",
  waitingReason: null,
  verification: "open",
  createdAt: 0,
};

const payment = (invoice: string, amount: bigint): PaymentRow =>
  ({
    id: `pay_${invoice}`,
    invoiceId: `inv_${invoice}`,
    amount,
    status: "confirming",
    statusWhenBack: null,
    refundRequested: 0n,
    refunded: 0n,
  }) as PaymentRow;

/** Returns the code of the refusal; null if nothing is refused. */
function refusal(act: () => unknown): string | null {
  try {
    act();
    return null;
  } catch (error) {
    return (error as { readonly code: string }).code;
  }
}

describe("The allocations of a transfer", () => {
  it("are parsed in the token's smallest unit, each invoice once", () => {
    const read = readAllocations(transfer, [
      { invoiceId: "inv_1", amount: "20.5" },
      { invoiceId: "inv_2", amount: "0.000001" },
    ]);
    expect(read).to.deep.equal([
      { invoiceId: "inv_1", amount: 20_500_000n },
      { invoiceId: "inv_2", amount: 1n },
    ]);
    const twice = [
      { invoiceId: "inv_1", amount: "1" },
      { invoiceId: "inv_1", amount: "2" },
    ] as const;
    expect(() => readAllocations(transfer, twice))
      .to.throw()
      .with.nested.property("errors[0].pointer", "/allocations/1/invoiceId");
  });

  it("leave a rest of the transfer's amount that is never below zero", () => {
    const rest = (payments: readonly PaymentRow[], ...amounts: string[]) =>
      restOf({ transfer, payments }, amounts);
    expect(rest([])).to.equal("25.00");
    expect(rest([payment("1", 5_000_000n)], "2.5", "7.5")).to.equal("10.00");
    expect(rest([payment("1", 5_000_000n)], "20")).to.equal("0.00");
    expect(rest([payment("1", 5_000_000n)], "20.000001")).to.equal("0.00");
  });

  it("never exceed the unallocated amount", () => {
    const room = (payments: readonly PaymentRow[], ...amounts: bigint[]) =>
      refusal(() => {
        const given = amounts.map((amount, place) => ({
          invoiceId: `inv_new${String(place)}` as const,
          amount,
        }));
        requireRoom(transfer, payments, given);
      });
    expect(room([], 25_000_000n)).to.equal(null);
    expect(room([], 25_000_001n)).to.equal("allocation_too_large");
    const taken = payment("1", 5_000_000n);
    expect(room([taken], 15_000_000n, 5_000_000n)).to.equal(null);
    expect(room([taken], 15_000_000n, 5_000_001n)).to.equal("allocation_too_large");
    expect(room([revertPayment(taken)], 20_000_001n)).to.equal("allocation_too_large");
    expect(room([rejectedPayment(taken)], 25_000_000n)).to.equal(null);
  });

  it("create one payment per invoice at a time, and at most 200 per transfer in total", () => {
    const again = [{ invoiceId: "inv_1" as const, amount: 1n }];
    const taken = payment("1", 5n);
    expect(
      refusal(() => {
        requireRoom(transfer, [taken], again);
      }),
    ).to.equal("transfer_allocated");
    const reversed = Array.from({ length: 200 }, () => rejectedPayment(taken));
    expect(
      refusal(() => {
        requireRoom(transfer, reversed.slice(1), again);
      }),
    ).to.equal(null);
    expect(
      refusal(() => {
        requireRoom(transfer, reversed, again);
      }),
    ).to.equal("transfer_allocated");
  });

  it("are refused for dust, for a transfer of an address to itself, and for a disabled token", () => {
    const network = testNetworks("ethereum").get("ethereum");
    if (network === undefined) throw new Error("no network");
    const fault = (changes: Partial<TransferRow>, ...disabled: string[]) => {
      const changed = { ...transfer, ...changes };
      const found = creditFault(changed, network, disabled);
      const refused = refusal(() => {
        requireCreditable(changed, network, disabled);
      });
      // A transfer that was not dust when it was recorded stays creditable if the dust is raised.
      const wasDust = changed.verification === "skipped" && changed.disposition === "ignored";
      const isRaised = changes.amount !== undefined && !wasDust;
      expect(refused).to.equal(found === null || isRaised ? null : "transfer_not_creditable");
      return found;
    };
    expect(fault({})).to.equal(null);
    expect(fault({}, "USDC")).to.equal(null);
    expect(fault({}, "USDT")).to.equal("token_disabled");
    expect(fault({ token: "NONE" })).to.equal("token_disabled");
    expect(fault({ fromAddress: transfer.toAddress })).to.equal("worthless");
    const { dust } = network.tokens.find(({ symbol }) => symbol === "USDT") ?? { dust: 0n };
    expect(fault({ amount: dust })).to.equal(null);
    expect(fault({ amount: dust - 1n })).to.equal("worthless");
    const recorded = { amount: dust - 1n, verification: "skipped" } as const;
    expect(fault({ ...recorded, disposition: "ignored" })).to.equal("worthless");
    // Nobody verifies transfers to addresses without a hold until somebody decides.
    expect(fault(recorded)).to.equal("worthless");
    expect(isWorthless({ dust: 0n }, { amount: 0n, from: "a", to: "b" })).to.equal(false);
  });
});

describe("The refusal of a transfer in another token than the invoice asks for", () => {
  it("names both networks by their titles, and one that is no longer configured by its id", async () => {
    const asked = {
      organizationId: "org_1",
      managedBy: null,
      quotes: [
        { network: "tron", tokenSymbol: "USDT" },
        { network: "gone", tokenSymbol: "USDC" },
      ],
    } as unknown as LockedTerms;
    const known = testNetworks("ethereum", "tron");
    const app = { networks: { known } } as unknown as InTx;
    const payable = requirePayable(
      ...([null as never, app, "org_1", transfer, "inv_1"] as const),
      new Map([["inv_1", asked]]),
    );
    const refused = await payable.catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(TokenMismatch);
    expect((refused as Error).message).to.equal(
      "inv_1 asks for USDT on TRON or USDC on gone, but this transfer is USDT on Ethereum. Choose another invoice.",
    );
  });
});

describe("The event of a payment", () => {
  it("has the type of the new status, or its own type if the merchant accepts the payment", () => {
    const counted = payment("1", 1n);
    const review = { ...counted, status: "review" } as const;
    expect(eventOf(null, counted)).to.equal("payment.detected");
    expect(eventOf(null, review)).to.equal("payment.needs_review");
    expect(eventOf(review, counted)).to.equal("payment.accepted");
    expect(eventOf(review, rejectedPayment(review))).to.equal("payment.rejected");
    expect(eventOf(revertPayment(counted), counted)).to.equal("payment.detected");
    expect(eventOf(counted, revertPayment(counted))).to.equal("payment.reverted");
    expect(eventOf(counted, { ...counted, status: "confirmed" })).to.equal("payment.confirmed");
  });
});
