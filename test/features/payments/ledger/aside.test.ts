import { expect } from "chai";
import { asideOf, type RejectedFacts } from "../../../../src/features/payments/ledger/aside.ts";
import type { PaymentRow } from "../../../../src/features/payments/table.ts";
import type { Id } from "../../../../src/kernel/id.ts";

let made = 0;
/** A payment of a transfer of 10; later ones are newer. */
const payment = (changes: Partial<PaymentRow> = {}) =>
  ({
    id: `pay_${String((made += 1)).padStart(3, "0")}`,
    organizationId: "org_1",
    invoiceId: "inv_1",
    transferId: "trf_1",
    network: "ethereum",
    token: "USDT",
    amount: 10n,
    status: "rejected",
    statusWhenBack: null,
    rule: "exact_amount",
    refunded: 0n,
    ...changes,
  }) as PaymentRow;

type Transfer = Partial<{ amount: bigint; status: string; organizationId: string | null }>;

/** Returns the sums of the first invoice, whose transfers are of 10 unless given. */
function sumsOf(
  claiming: readonly PaymentRow[],
  given: Transfer | null = {},
  accepted: readonly Id<"payment">[] = [],
) {
  const of = (transferId: string) =>
    claiming.filter((row) => row.transferId === transferId).toReversed();
  const ids = [...new Set(claiming.map(({ transferId }) => transferId))];
  const transfer = { amount: 10n, status: "seen", organizationId: "org_1", ...given };
  const facts = {
    transfers: new Map(given === null ? [] : ids.map((id) => [id, transfer])),
    byTransfer: new Map(ids.map((id) => [id, of(id)])),
    accepted: new Set(accepted),
  } as unknown as RejectedFacts;
  const ledger = claiming.filter(({ invoiceId }) => invoiceId === "inv_1");
  return asideOf(ledger, { managedBy: null, quotes: [] }, facts);
}

const rejectedOf = (...given: Parameters<typeof sumsOf>) => sumsOf(...given)[0]?.rejected ?? 0n;
const elsewhere = (changes: Partial<PaymentRow>) => payment({ invoiceId: "inv_2", ...changes });

describe("The sums of an invoice's payments that its totals do not have", () => {
  it("are none without payments in review, rejected payments and refunds, and for a managed invoice", () => {
    expect(sumsOf([])).to.deep.equal([]);
    expect(sumsOf([payment({ status: "confirmed" })])).to.deep.equal([]);
    const nothing: RejectedFacts = {
      transfers: new Map(),
      byTransfer: new Map(),
      accepted: new Set(),
    };
    const inReview = [payment({ status: "review" })];
    expect(asideOf(inReview, { managedBy: "billing", quotes: [] }, nothing)).to.deep.equal([]);
    expect(asideOf(inReview, { managedBy: null, quotes: [] }, nothing)).to.have.length(1);
  });

  it("are the payments in review, and the refunds of the payments that count, of each token", () => {
    const USDT = { network: "ethereum", tokenSymbol: "USDT" };
    const ledger = [
      payment({ status: "review", transferId: "trf_2", amount: 3n }),
      payment({ status: "review", transferId: "trf_3", amount: 4n, token: "USDC" }),
      payment({ status: "review", transferId: "trf_4", amount: 5n, network: "bsc" }),
      payment({ status: "review", transferId: "trf_5", amount: 6n }),
      payment({ status: "confirmed", refunded: 1n, transferId: "trf_6" }),
      payment({ status: "confirming", refunded: 2n, transferId: "trf_7" }),
      payment({ status: "reverted", refunded: 4n, transferId: "trf_8" }),
      payment({ status: "review", refunded: 8n, transferId: "trf_9", amount: 0n }),
    ];
    expect(sumsOf(ledger)).to.deep.equal([
      { ...USDT, rejected: 0n, inReview: 9n, refunded: 3n },
      { ...USDT, tokenSymbol: "USDC", rejected: 0n, inReview: 4n, refunded: 0n },
      { ...USDT, network: "bsc", rejected: 0n, inReview: 5n, refunded: 0n },
    ]);
  });

  it("are what was rejected and is neither refunded nor counted again, of each transfer once", () => {
    expect(rejectedOf([payment()])).to.equal(10n);
    expect(rejectedOf([payment({ amount: 4n })])).to.equal(4n);
    expect(rejectedOf([payment({ refunded: 4n })])).to.equal(6n);
    expect(rejectedOf([payment({ refunded: 10n })])).to.equal(0n);
    expect(rejectedOf([payment(), payment()])).to.equal(10n);
    const onTwo = [payment({ amount: 4n }), payment({ transferId: "trf_2" })];
    expect(rejectedOf(onTwo)).to.equal(14n);
    expect(rejectedOf([payment({ refunded: 4n })], { amount: 20n })).to.equal(6n);
    expect(rejectedOf([payment(), payment({ status: "confirming" })])).to.equal(0n);
    expect(rejectedOf([payment(), payment({ status: "confirming", amount: 4n })])).to.equal(6n);
    const reverted = { status: "reverted", statusWhenBack: "confirming", amount: 4n } as const;
    expect(rejectedOf([payment(), payment(reverted)])).to.equal(6n);
    const counted = payment({ status: "confirmed" });
    expect(rejectedOf([payment({ amount: 4n }), counted], { amount: 20n })).to.equal(0n);
    expect(rejectedOf([payment({ status: "review" })])).to.equal(0n);
  });

  it("do not include money that is not on the chain, or that belongs to another organization", () => {
    expect(rejectedOf([payment()], null)).to.equal(0n);
    expect(rejectedOf([payment()], { status: "orphaned" })).to.equal(0n);
    expect(rejectedOf([payment()], { organizationId: "org_2" })).to.equal(0n);
    expect(rejectedOf([payment()], { organizationId: null })).to.equal(0n);
  });

  it("do not include a payment that only a submitted hash assigned, unless the merchant accepted it", () => {
    const submitted = payment({ rule: "submitted_hash" });
    expect(rejectedOf([submitted])).to.equal(0n);
    expect(rejectedOf([submitted], {}, [submitted.id])).to.equal(10n);
    expect(rejectedOf([submitted], {}, [payment().id])).to.equal(0n);
    expect(rejectedOf([payment({ rule: "manual" })])).to.equal(10n);
  });

  it("do not include what other invoices have of the transfer, or have refunded", () => {
    const counted = (amount: bigint) => elsewhere({ status: "confirmed", amount });
    expect(rejectedOf([payment(), counted(7n)])).to.equal(3n);
    expect(rejectedOf([payment(), counted(10n)])).to.equal(0n);
    expect(rejectedOf([payment(), counted(7n), elsewhere({ refunded: 7n })])).to.equal(0n);
    expect(rejectedOf([payment({ amount: 2n }), counted(7n)])).to.equal(2n);
    const waiting = elsewhere({ status: "review" });
    expect(rejectedOf([payment(), waiting])).to.equal(10n);
  });

  it("are owed by the invoice with the newest payment of the transfer, and the rest by the others", () => {
    expect(rejectedOf([payment(), elsewhere({})])).to.equal(0n);
    expect(rejectedOf([elsewhere({}), payment()])).to.equal(10n);
    expect(rejectedOf([payment(), elsewhere({ amount: 4n })])).to.equal(6n);
    expect(rejectedOf([payment(), elsewhere({ rule: "submitted_hash" })])).to.equal(10n);
    const more = { status: "confirmed", amount: 8n } as const;
    const both = [payment(), elsewhere({ amount: 2n }), elsewhere(more)];
    expect(rejectedOf(both, { amount: 12n })).to.equal(4n);
    const owners = [
      payment(),
      elsewhere({ amount: 4n }),
      payment({ invoiceId: "inv_3", amount: 3n }),
    ];
    expect(rejectedOf(owners)).to.equal(3n);
  });
});
