// Unit tests of what a decision about a payment stores, up to the payments themselves, with a store in memory.
import { expect } from "chai";
import type { PayableTerms } from "../../../../src/features/invoices/index.ts";
import { applyRuling } from "../../../../src/features/payments/decisions/apply-ruling.ts";
import type {
  DecisionRow,
  PaymentRow,
  TransferRow,
} from "../../../../src/features/payments/table.ts";
import { PaymentRefunded } from "../../../../src/features/payments/errors.ts";
import { aQuote } from "../../../support/quotes.ts";
import { testContext } from "../../../support/store/stores.ts";

const terms = {
  askedAmount: 10n,
  roundingSlack: 0n,
  payableAmount: 10n,
  dueAmount: 10n,
  amount: 1_000n,
  tolerance: { numerator: 0n, denominator: 1n },
  quotes: [aQuote({ network: "one", payableAmount: 10n })],
  managedBy: null,
} as unknown as PayableTerms;

const payment = (place: number, changes: Partial<PaymentRow> = {}) =>
  ({
    id: `pay_${String(place)}`,
    organizationId: "org_1",
    invoiceId: "inv_1",
    transferId: "trf_1",
    network: "one",
    token: "USDT",
    amount: 10n,
    status: "confirmed",
    statusWhenBack: null,
    refundRequested: 0n,
    refunded: 0n,
    blockHeight: place,
    blockTime: place,
    ...changes,
  }) as PaymentRow;

type Ruling = Parameters<typeof applyRuling>[3];

/** Applies a ruling on the first payment. Returns what is stored, or the code of its refusal. */
async function applied(
  stored: readonly [PaymentRow, ...PaymentRow[]],
  ruling: Ruling,
  disposition: TransferRow["disposition"] = "unmatched",
) {
  const steps: unknown[] = [];
  const end = new Error("the payments come next");
  const tx = {
    dialect: "sqlite",
    context: testContext,
    update: (_table: unknown, set: unknown) => Promise.resolve(void steps.push(set)),
    run(sql: string) {
      const words = /SET verification = '(\w+)'/.exec(sql);
      steps.push(words?.[1]);
      return Promise.resolve();
    },
    insertMany(_table: unknown, rows: readonly DecisionRow[]) {
      steps.push(...rows.map(({ decision, paymentId }) => `${decision} ${String(paymentId)}`));
      return Promise.resolve();
    },
    updateMany: () => Promise.reject(end),
  };
  const transfer = { id: "trf_1", amount: 10n, invoiceId: null, disposition, blockHash: "b" };
  const [first] = stored;
  const found = {
    payment: first,
    transfer,
    stored,
    others: stored.slice(1).filter(({ transferId }) => transferId === "trf_1"),
    network: { id: "one" },
    state: {},
    terms: new Map(["inv_1", "inv_2"].map((id) => [id, terms])),
  };
  const deps = { ids: { next: (kind: string) => kind } };
  await applyRuling(tx as never, deps as never, found as never, ruling, 1).catch(
    (error: unknown) => {
      if (error instanceof PaymentRefunded) steps.push(error.message);
      else if (error !== end) throw error;
    },
  );
  return steps;
}

const rejected = (row: PaymentRow): PaymentRow => ({ ...row, status: "rejected" });

describe("A decision about a payment", () => {
  it("is stored with those about the transfer's other payments and the payment that takes its place", async () => {
    const [waiting, other] = [payment(1, { status: "review" }), payment(2, { status: "review" })];
    const accepted = { ...waiting, status: "confirming" } as const;
    const payments = [accepted, rejected(other)] as const;
    expect(await applied([waiting, other], { decision: "accepted", payments })).to.deep.equal([
      { invoiceId: "inv_1", disposition: "matched" },
      "open",
      "accepted pay_1",
      "rejected pay_2",
    ]);
    const counted = payment(1, { status: "confirming" });
    const moved = payment(3, { status: "confirming", invoiceId: "inv_2" });
    const ruling = { decision: "reversed", payments: [rejected(counted)], moved } as const;
    expect(await applied([counted], ruling)).to.deep.equal([
      { invoiceId: "inv_2", disposition: "matched" },
      "open",
      "reversed pay_1",
      "allocated pay_3",
    ]);
  });

  it("keeps the proof of the transfer that the confirmation of its payment was", async () => {
    const confirmed = payment(1);
    const ruling = { decision: "reversed", payments: [rejected(confirmed)] } as const;
    expect(await applied([confirmed], ruling)).to.deep.equal([
      { invoiceId: null, disposition: "unmatched" },
      ...["open", "verified", "reversed pay_1"],
    ]);
  });

  it("leaves a transfer ignored only if it rejects a payment in review", async () => {
    const waiting = payment(1, { status: "review" });
    const payments = [rejected(waiting)] as const;
    const left = async (decision: Ruling["decision"], disposition: TransferRow["disposition"]) =>
      (await applied([waiting], { decision, payments }, disposition))[0];
    const of = (disposition: string) => ({ invoiceId: null, disposition });
    expect(await left("rejected", "ignored")).to.deep.equal(of("ignored"));
    expect(await left("rejected", "unmatched")).to.deep.equal(of("unmatched"));
    expect(await left("reversed", "ignored")).to.deep.equal(of("unmatched"));
  });

  it("is refused if its invoice would then need money that was returned, whatever other invoices have", async () => {
    const [first, excess] = [payment(1), payment(2, { transferId: "trf_2", refunded: 10n })];
    const elsewhere = payment(0, { invoiceId: "inv_2" });
    const ruling = { decision: "reversed", payments: [rejected(first)] } as const;
    const steps = await applied([first, excess, elsewhere], ruling);
    expect(steps).to.have.length(1);
    expect(steps[0]).to.match(/^inv_1 would need pay_2/);
    const other = { decision: "reversed", payments: [rejected(elsewhere)] } as const;
    expect(await applied([elsewhere, first, excess], other)).to.include("reversed pay_0");
  });
});
