// Which payments can be refunded, and which refunds can be sent or rejected.
import { expect } from "chai";
import type { RefundablePayment } from "../../../src/features/payments/refundable.ts";
import type { PaymentRow } from "../../../src/features/payments/table.ts";
import {
  requireChangeable,
  requireRefundable,
  requireStillRefundable,
  tooEarly,
} from "../../../src/features/refunds/rules.ts";
import { Problem } from "../../../src/kernel/errors.ts";
import { testNetworks } from "../../support/merchants.ts";

const network = testNetworks("ethereum").get("ethereum");

const paymentWith = (changes: Partial<PaymentRow> = {}) =>
  ({
    id: "pay_1",
    invoiceId: "inv_1",
    status: "confirmed",
    statusWhenBack: null,
    refundRequested: 0n,
    refunded: 0n,
    requiredConfirmations: 3,
    blockHeight: 101,
    ...changes,
  }) as PaymentRow;

/** Another payment, by default of the same invoice. */
const other = (status: PaymentRow["status"], changes: Partial<PaymentRow> = {}) =>
  paymentWith({ id: "pay_2", status, ...changes });

interface Given {
  readonly payment?: Partial<PaymentRow>;
  readonly transfer?: object;
  readonly others?: readonly PaymentRow[];
  /** Confirmations of the payment. */
  readonly has?: number;
  readonly changes?: Partial<RefundablePayment>;
}

/** A payment of which 5 units of USDT are surplus, by default confirmed and verified. */
function foundWith({
  payment: own = {},
  transfer = {},
  others = [],
  has = 3,
  changes = {},
}: Given) {
  const payment = paymentWith(own);
  const [surplus, surplusInTime] = [5_000_000n, 5_000_000n];
  return {
    payment,
    transfer: {
      status: "seen",
      isFinal: true,
      ...transfer,
    },
    network,
    state: { tipHeight: 100 + has },
    stored: [payment, ...others],
    free: surplus,
    surplus,
    surplusInTime,
    isConfirmed: true,
    isVerified: true,
    ...changes,
  } as unknown as RefundablePayment;
}

/** Returns the problem with which a rule refuses; null if it does not. */
function problemOf(rule: () => void): Problem | null {
  try {
    rule();
    return null;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

describe("A refund of a payment", () => {
  const refused = (given: Given) =>
    problemOf(() => {
      requireRefundable(foundWith(given));
    });

  it("is possible of a surplus of a confirmed and verified payment", () => {
    expect(refused({})).to.equal(null);
    expect(refused({ changes: { free: 1n } })).to.equal(null);
  });

  const nothing = { free: 0n, surplus: 0n, surplusInTime: 0n };
  const needed = /^Its invoice needs all of pay_1\. To return/;
  const elsewhere = /^Its invoice needs all of pay_1\. If the invoice has an excess/;
  const gone = /^All of the surplus of pay_1 is refunded already/;
  const inReview = /^pay_1 is in review/;
  const disagreed = /^The network's providers have not agreed/;
  /** Whether others of an invoice are not confirmed, so that this payment has no surplus yet. */
  const later = { free: 0n, surplus: 0n };
  const refusals: readonly (readonly [string, Given, string, RegExp])[] = [
    ["that the invoice needs", { changes: nothing }, "not_refundable", needed],
    [
      "if the invoice has another one that counts",
      { others: [other("confirming")], changes: nothing },
      "not_refundable",
      elsewhere,
    ],
    [
      "if the invoice has two others, of which one counts",
      {
        others: [other("rejected"), other("confirmed", { id: "pay_3" })],
        changes: nothing,
      },
      "not_refundable",
      elsewhere,
    ],
    [
      "if its transfer pays another invoice too",
      { others: [other("confirmed", { invoiceId: "inv_2" })], changes: nothing },
      "not_refundable",
      needed,
    ],
    [
      "if the invoice has another one that does not count",
      { others: [other("review")], changes: nothing },
      "not_refundable",
      needed,
    ],
    ["in review", { payment: { status: "review" }, changes: nothing }, "not_refundable", inReview],
    [
      "that returns to review",
      { payment: { status: "reverted", statusWhenBack: "review" }, changes: nothing },
      "not_refundable",
      inReview,
    ],
    [
      "that is rejected",
      { payment: { status: "rejected" }, changes: nothing },
      "not_refundable",
      gone,
    ],
    [
      "after its surplus was refunded",
      { payment: { refunded: 5_000_000n }, changes: { free: 0n } },
      "not_refundable",
      gone,
    ],
    [
      "after its surplus was refunded, also if it is not certain any more",
      { payment: { refunded: 5_000_000n }, changes: { free: 0n, isVerified: false } },
      "not_refundable",
      gone,
    ],
    [
      "while the invoice waits for another one",
      { others: [other("confirmed", { id: "pay_3" }), other("confirming")], changes: later },
      "refund_too_early",
      /^pay_2 of the same invoice is not confirmed/,
    ],
    [
      "that waits for a payment of another invoice",
      { others: [other("confirming", { invoiceId: "inv_2" })], changes: later },
      "not_refundable",
      gone,
    ],
    [
      "after its surplus was refunded, while the invoice waits for another one",
      {
        payment: { refunded: 3_000_000n },
        others: [other("confirming")],
        changes: { free: 0n, surplus: 3_000_000n },
      },
      "not_refundable",
      gone,
    ],
    [
      "if the invoice waits for none",
      { others: [other("reverted")], changes: later },
      "not_refundable",
      gone,
    ],
    [
      "that has too few confirmations",
      { payment: { status: "confirming" }, has: 2, changes: { isConfirmed: false } },
      "refund_too_early",
      /^pay_1 has 2 of its 3 confirmations/,
    ],
    [
      "that has its confirmations, but is not verified",
      { payment: { status: "confirming" }, changes: { isConfirmed: false } },
      "refund_too_early",
      disagreed,
    ],
    ["that is not verified", { changes: { isVerified: false } }, "refund_too_early", disagreed],
    [
      "that does not count, and is not final",
      {
        payment: { status: "rejected" },
        transfer: { isFinal: false },
        changes: { isConfirmed: false },
      },
      "refund_too_early",
      /its block must be final before it is refunded: at about \d+ confirmations\. It has 3\./,
    ],
    [
      "that does not count, and is final, but not verified",
      { payment: { status: "rejected" }, changes: { isVerified: false } },
      "refund_too_early",
      disagreed,
    ],
    [
      "that is not on the chain",
      { transfer: { status: "orphaned" }, changes: { isConfirmed: false } },
      "refund_too_early",
      /^pay_1 is not on the chain/,
    ],
  ];
  for (const [what, given, code, words] of refusals) {
    it(`is not possible of a payment ${what}`, () => {
      const problem = refused(given);
      expect(problem?.code).to.equal(code);
      expect(problem?.message).to.match(words);
    });
  }

  it("that is requested can be sent while the surplus covers it with the other refunds, and is certain", () => {
    const requested = { refundRequested: 5_000_000n };
    const half = { ...requested, refunded: 5_000_000n };
    const surplus = (units: bigint) => ({ surplus: units, surplusInTime: units });
    for (const [payment, changes, code] of [
      [requested, {}, undefined],
      [half, surplus(10_000_000n), undefined],
      [half, surplus(9_999_999n), "not_refundable"],
      [requested, { isVerified: false }, "refund_too_early"],
      [requested, { isConfirmed: false }, "refund_too_early"],
      // Waiting does not bring it back.
      [requested, { ...surplus(4_999_999n), isConfirmed: false }, "not_refundable"],
      [requested, { surplus: 0n }, "not_refundable"],
    ] as const) {
      const problem = problemOf(() => {
        requireStillRefundable(foundWith({ payment, changes }));
      });
      expect(problem?.code).to.equal(code);
    }
  });

  it("can be changed until its transaction is in a block", () => {
    for (const [status, blockHash, words] of [
      ["requested", null, undefined],
      ["sent", null, undefined],
      ["sent", "dd", "is in a block already"],
      ["confirmed", "dd", "rfd_1 is confirmed. Only"],
      ["rejected", null, "rfd_1 is rejected. Only"],
    ] as const) {
      const problem = problemOf(() => {
        requireChangeable({ id: "rfd_1", status, blockHash });
      });
      if (words === undefined) expect(problem, status).to.equal(null);
      else expect(problem?.message).to.contain(words);
    }
  });

  it("that is too early is worth another request after its missing blocks, at the soonest after a minute", () => {
    const waits = [1, 5, 14, 15, 16, 20, 30].map((has) => {
      const payment = { status: "confirming", requiredConfirmations: 20 } as const;
      const problem = tooEarly(foundWith({ payment, has }), "Not yet.");
      expect(problem).to.include({ code: "refund_too_early", message: "Not yet." });
      return (problem as Problem).retryAfterSeconds;
    });
    expect(waits).to.deep.equal([228, 180, 72, 60, 60, 60, 60]);
  });
});
