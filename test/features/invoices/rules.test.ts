import { expect } from "chai";
import fc from "fast-check";
import { ratio } from "../../../src/kernel/ratio.ts";
import {
  changesBetween,
  confirmationsShown,
  dueAmount,
  noPayments,
  reopensMs,
  settlementOf,
  standingOf,
  type PaymentTotals,
  type Terms,
} from "../../../src/features/invoices/rules.ts";

const expiresAt = 1_800_000_000_000;
const inTime = expiresAt;
const tooLate = expiresAt + 1;

/** Payable 100, whole from 98 on. */
function issued(changes: Partial<Terms> = {}): Terms {
  return {
    status: "open",
    issued: { payableAmount: 100n, askedAmount: 100n, dueAmount: 98n, expiresAt },
    canceledAt: null,
    ...changes,
  };
}

function paid(seen: bigint, confirmed: bigint, more: Partial<PaymentTotals> = {}): PaymentTotals {
  return { ...noPayments, seen, confirmed, completedAt: seen >= 98n ? 5 : null, ...more };
}

describe("the standing of an invoice", () => {
  const surcharged = issued({
    issued: { payableAmount: 100n, askedAmount: 103n, dueAmount: 98n, expiresAt },
  });
  const cases: [string, Terms, PaymentTotals, number, string, string][] = [
    ["a draft", issued({ status: "draft", issued: null }), noPayments, tooLate, "draft", "none"],
    [
      "a canceled draft",
      issued({ status: "draft", issued: null, canceledAt: 1 }),
      noPayments,
      inTime,
      "canceled",
      "none",
    ],
    ["nothing seen in time", issued(), noPayments, inTime, "open", "none"],
    ["something seen in time", issued(), paid(97n, 97n), inTime, "partially_paid", "none"],
    ["enough seen", issued(), paid(100n, 97n), inTime, "confirming", "none"],
    ["enough seen, in time or not", issued(), paid(100n, 0n), tooLate, "confirming", "none"],
    ["exactly enough seen", issued(), paid(98n, 97n), inTime, "confirming", "underpaid"],
    ["enough confirmed", issued(), paid(100n, 100n), inTime, "paid", "none"],
    ["enough within the tolerance", issued(), paid(98n, 98n), inTime, "paid", "underpaid"],
    ["too much", issued(), paid(101n, 101n), inTime, "paid", "overpaid"],
    ["the rest with its surcharge", surcharged, paid(103n, 103n), inTime, "paid", "none"],
    [
      "more than the surcharge of the rest",
      surcharged,
      paid(104n, 104n),
      inTime,
      "paid",
      "overpaid",
    ],
    ["less than that, and enough", surcharged, paid(99n, 99n), inTime, "paid", "underpaid"],
    [
      "more on a paid one, not confirmed yet",
      issued(),
      paid(200n, 100n),
      inTime,
      "paid",
      "overpaid",
    ],
    ["nothing by the deadline", issued(), noPayments, tooLate, "expired", "none"],
    ["too little by the deadline", issued(), paid(97n, 97n), tooLate, "expired", "underpaid"],
    [
      "expired before the chain's time was set back",
      issued({ status: "expired" }),
      noPayments,
      inTime,
      "expired",
      "none",
    ],
    [
      "expired by a time that was a minute wrong",
      issued({ status: "expired" }),
      noPayments,
      expiresAt - reopensMs,
      "open",
      "none",
    ],
    [
      "expired by a time that was less than a minute wrong",
      issued({ status: "expired" }),
      noPayments,
      expiresAt - reopensMs + 1,
      "expired",
      "none",
    ],
    [
      "late and whole",
      issued({ status: "expired" }),
      paid(100n, 100n, { isLate: true }),
      tooLate,
      "paid",
      "late",
    ],
    [
      "late and too much",
      issued({ status: "expired" }),
      paid(101n, 101n, { isLate: true }),
      tooLate,
      "paid",
      "late",
    ],
    ["canceled", issued({ canceledAt: 1 }), noPayments, tooLate, "canceled", "none"],
    [
      "money for a canceled one that waits for a decision",
      issued({ canceledAt: 1 }),
      paid(0n, 0n, { isLate: true }),
      inTime,
      "canceled",
      "late",
    ],
    [
      "money for a canceled one that was accepted",
      issued({ canceledAt: 1 }),
      paid(100n, 100n, { isLate: true }),
      inTime,
      "paid",
      "late",
    ],
    [
      "taken away by a reorganization",
      issued({ status: "paid" }),
      paid(0n, 0n, { isReverted: true }),
      inTime,
      "open",
      "reverted",
    ],
    [
      "taken away after the deadline",
      issued({ status: "paid" }),
      paid(0n, 0n, { isReverted: true, isLate: true }),
      tooLate,
      "expired",
      "reverted",
    ],
  ];
  for (const [name, terms, totals, tipTime, status, exception] of cases) {
    it(`${name}: ${status}, ${exception}`, () => {
      expect(standingOf(terms, totals, tipTime)).to.include({ status, exception });
    });
  }

  it("was paid when the block came that made it whole, and is not paid before", () => {
    const whole = { ...paid(100n, 100n), completedAt: 1_234 };
    expect(standingOf(issued(), whole, inTime).paidAt).to.equal(1_234);
    expect(standingOf(issued(), { ...whole, confirmed: 0n }, inTime).paidAt).to.equal(null);
  });

  const anyTotals = fc.record({
    seen: fc.bigInt(0n, 300n),
    unconfirmed: fc.bigInt(0n, 300n),
    isLate: fc.boolean(),
    isReverted: fc.boolean(),
  });
  const toTotals = (any: { seen: bigint; unconfirmed: bigint } & Partial<PaymentTotals>) =>
    paid(any.seen, any.seen > any.unconfirmed ? any.seen - any.unconfirmed : 0n, {
      isLate: any.isLate === true,
      isReverted: any.isReverted === true,
    });
  const anyTerms = fc
    .record({
      payable: fc.bigInt(1n, 200n),
      percent: fc.bigInt(0n, 5n),
      isCanceled: fc.boolean(),
    })
    .map(({ payable, percent, isCanceled }) =>
      issued({
        issued: {
          payableAmount: payable,
          askedAmount: payable,
          dueAmount: dueAmount(payable, ratio(percent, 100n)),
          expiresAt,
        },
        canceledAt: isCanceled ? 1 : null,
      }),
    );

  it("depends on nothing but what it is given, and settles at once", () => {
    fc.assert(
      fc.property(anyTerms, anyTotals, fc.boolean(), (terms, any, isOver) => {
        const tipTime = isOver ? tooLate : inTime;
        const once = standingOf(terms, toTotals(any), tipTime);
        const again = standingOf({ ...terms, status: once.status }, toTotals(any), tipTime);
        expect(again).to.deep.equal(once);
      }),
    );
  });

  it("is paid exactly when enough is confirmed, and expires only once the chain has passed the deadline", () => {
    fc.assert(
      fc.property(anyTerms, anyTotals, fc.boolean(), (terms, any, isOver) => {
        const totals = toTotals(any);
        const { status, paidAt } = standingOf(terms, totals, isOver ? tooLate : inTime);
        const due = terms.issued?.dueAmount ?? 0n;
        expect(status === "paid").to.equal(totals.confirmed >= due);
        expect(paidAt !== null).to.equal(status === "paid");
        expect(status === "confirming").to.equal(totals.seen >= due && totals.confirmed < due);
        if (status === "expired") expect(isOver).to.equal(true);
        if (status === "open" || status === "partially_paid") {
          expect(isOver).to.equal(false);
          expect(totals.seen < due).to.equal(true);
          expect(status === "open").to.equal(totals.seen === 0n);
        }
      }),
    );
  });

  it("goes forward as money comes: more never makes it less paid", () => {
    const rank = ["open", "partially_paid", "expired", "canceled", "confirming", "paid"];
    fc.assert(
      fc.property(anyTerms, anyTotals, fc.bigInt(0n, 300n), (terms, any, more) => {
        const totals = toTotals(any);
        const before = standingOf(terms, totals, inTime).status;
        const after = standingOf(
          { ...terms, status: before },
          { ...totals, seen: totals.seen + more },
          inTime,
        ).status;
        expect(rank.indexOf(after)).to.be.at.least(rank.indexOf(before));
      }),
    );
  });
});

describe("the amounts of an invoice", () => {
  const amounts = fc.bigInt(1n, 10n ** 30n);

  it("are whole when paid exactly, and never more than was paid for", () => {
    fc.assert(
      fc.property(amounts, amounts, amounts, (amount, payable, seen) => {
        expect(settlementOf(payable, amount, payable)).to.equal(amount);
        const worth = settlementOf(seen, amount, payable);
        expect(worth * payable <= seen * amount).to.equal(true);
        expect((worth + 1n) * payable > seen * amount).to.equal(true);
      }),
    );
    expect(settlementOf(5n, 5n, null)).to.equal(0n);
  });

  it("are due to the fraction of a unit", () => {
    expect(dueAmount(25_000_000n, ratio(0n, 1n))).to.equal(25_000_000n);
    expect(dueAmount(25_000_000n, ratio(1n, 200n))).to.equal(24_875_000n);
    // 0.95 of 3 is 2.85: 2 would be more underpayment than is tolerated.
    expect(dueAmount(3n, ratio(1n, 20n))).to.equal(3n);
    fc.assert(
      fc.property(amounts, fc.bigInt(0n, 50_000n), (payable, parts) => {
        const tolerance = ratio(parts, 1_000_000n);
        const due = dueAmount(payable, tolerance);
        const exact = payable * (tolerance.denominator - tolerance.numerator);
        expect(due * tolerance.denominator >= exact).to.equal(true);
        expect((due - 1n) * tolerance.denominator < exact).to.equal(true);
      }),
    );
  });
});

describe("the confirmations shown", () => {
  const shown = (
    status: "open" | "confirming" | "paid",
    latestBlock: number | null,
    tip: number | null,
  ) => confirmationsShown({ status, latestBlock, requiredConfirmations: 19 }, tip);

  it("count the payment's own block, up to what is required", () => {
    expect(shown("confirming", 100, 100)).to.equal(1);
    expect(shown("confirming", 100, 117)).to.equal(18);
    expect(shown("confirming", 100, 500)).to.equal(19);
  });
  it("are none without a payment, and none below the payment's block", () => {
    expect(shown("open", null, 100)).to.equal(0);
    expect(shown("confirming", 100, 99)).to.equal(0);
    expect(shown("confirming", 100, null)).to.equal(0);
  });
  it("stay full on a paid invoice that another payment comes to", () => {
    expect(shown("paid", 100, 100)).to.equal(19);
  });
});

describe("the events of a change", () => {
  const moment = (
    status: Parameters<typeof changesBetween>[0]["status"],
    seen: bigint,
    exception: Parameters<typeof changesBetween>[0]["exception"] = "none",
  ) => ({ status, exception, seen });

  const open = moment("open", 0n);
  const cases: [string, typeof open, typeof open, string[]][] = [
    ["part of the money", open, moment("partially_paid", 1n), ["invoice.partially_paid"]],
    [
      "more, and still not enough",
      moment("partially_paid", 1n),
      moment("partially_paid", 2n),
      ["invoice.payment_detected"],
    ],
    ["enough", open, moment("confirming", 100n), ["invoice.confirming"]],
    ["paid", moment("confirming", 100n), moment("paid", 100n), ["invoice.paid"]],
    [
      "paid with too little",
      moment("confirming", 99n, "underpaid"),
      moment("paid", 99n, "underpaid"),
      ["invoice.paid", "invoice.underpaid"],
    ],
    [
      "paid with too much",
      moment("confirming", 101n, "overpaid"),
      moment("paid", 101n, "overpaid"),
      ["invoice.paid", "invoice.overpaid"],
    ],
    [
      "more on a paid one",
      moment("paid", 100n),
      moment("paid", 200n, "overpaid"),
      ["invoice.overpaid"],
    ],
    [
      "paid late",
      moment("expired", 0n),
      moment("paid", 100n, "late"),
      ["invoice.paid", "invoice.paid_late"],
    ],
    ["the deadline", open, moment("expired", 0n), ["invoice.expired"]],
    [
      "a reorganization",
      moment("paid", 100n),
      moment("open", 0n, "reverted"),
      ["invoice.reverted"],
    ],
    [
      "a claim that the merchant had accepted and a reorganization took",
      moment("partially_paid", 1n),
      moment("partially_paid", 1n, "reverted"),
      ["invoice.reverted"],
    ],
    [
      "part of the money again after a reorganization",
      moment("open", 0n, "reverted"),
      moment("partially_paid", 1n, "reverted"),
      ["invoice.partially_paid"],
    ],
    [
      "still more on an overpaid one",
      moment("paid", 200n, "overpaid"),
      moment("paid", 300n, "overpaid"),
      ["invoice.payment_detected"],
    ],
    [
      "late money that waits for a decision",
      moment("expired", 0n),
      moment("expired", 0n, "late"),
      ["invoice.updated"],
    ],
    [
      "a decision taken back",
      moment("paid", 100n),
      moment("partially_paid", 50n),
      ["invoice.updated"],
    ],
    [
      "the same block again, elsewhere",
      moment("paid", 100n),
      moment("confirming", 100n),
      ["invoice.confirming"],
    ],
    ["nothing", open, open, []],
  ];
  for (const [name, before, after, types] of cases) {
    it(`${name}: ${types.join(" and ") || "none"}`, () => {
      expect(changesBetween(before, after)).to.deep.equal(types);
    });
  }
});
