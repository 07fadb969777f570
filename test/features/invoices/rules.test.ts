import { expect } from "chai";
import fc from "fast-check";
import { ratio } from "../../../src/kernel/money/ratio.ts";
import {
  changesBetween,
  confirmationsShown,
  dueAmount,
  noPayments,
  reopensMs,
  invoiceStateOf,
  type PaymentTotals,
  type Terms,
} from "../../../src/features/invoices/rules.ts";
import { settlementOf } from "../../../src/features/invoices/options/quotes.ts";

const expiresAt = 1_800_000_000_000;
const inTime = expiresAt;
const tooLate = expiresAt + 1;

/** Payable 100; due from 98. */
function issued(changes: Partial<Terms> = {}): Terms {
  return {
    status: "open",
    issued: {
      amount: 100n,
      payableAmount: 100n,
      askedAmount: 100n,
      excessSlack: 0n,
      dueAmount: 98n,
      wholeAmount: 100n,
      expiresAt,
    },
    canceledAt: null,
    ...changes,
  };
}

function paid(seen: bigint, confirmed: bigint, more: Partial<PaymentTotals> = {}): PaymentTotals {
  return { ...noPayments, seen, confirmed, completedAt: seen >= 98n ? 5 : null, ...more };
}

describe("the status and exception of an invoice", () => {
  const surcharged = issued({
    issued: {
      amount: 100n,
      payableAmount: 100n,
      askedAmount: 103n,
      excessSlack: 0n,
      dueAmount: 98n,
      wholeAmount: 100n,
      expiresAt,
    },
  });
  const slack = issued({
    issued: {
      amount: 100n,
      payableAmount: 100n,
      askedAmount: 100n,
      excessSlack: 4n,
      dueAmount: 98n,
      wholeAmount: 100n,
      expiresAt,
    },
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
    ["no payment before the deadline", issued(), noPayments, inTime, "open", "none"],
    [
      "a partial payment before the deadline",
      issued(),
      paid(97n, 97n),
      inTime,
      "partially_paid",
      "none",
    ],
    ["a sufficient payment seen", issued(), paid(100n, 97n), inTime, "confirming", "none"],
    [
      "a sufficient payment seen after the deadline",
      issued(),
      paid(100n, 0n),
      tooLate,
      "confirming",
      "none",
    ],
    ["exactly the due amount seen", issued(), paid(98n, 97n), inTime, "confirming", "underpaid"],
    ["the full amount confirmed", issued(), paid(100n, 100n), inTime, "paid", "none"],
    [
      "an amount within the tolerance confirmed",
      issued(),
      paid(98n, 98n),
      inTime,
      "paid",
      "underpaid",
    ],
    ["more than the payable amount", issued(), paid(101n, 101n), inTime, "paid", "overpaid"],
    ["less than dust more than that", slack, paid(104n, 104n), inTime, "paid", "none"],
    ["dust more than that", slack, paid(105n, 105n), inTime, "paid", "overpaid"],
    ["the rest together with its surcharge", surcharged, paid(103n, 103n), inTime, "paid", "none"],
    [
      "more than the surcharge of the rest",
      surcharged,
      paid(104n, 104n),
      inTime,
      "paid",
      "overpaid",
    ],
    [
      "less than that, but within the tolerance",
      surcharged,
      paid(99n, 99n),
      inTime,
      "paid",
      "underpaid",
    ],
    [
      "a further payment of a paid invoice, not confirmed yet",
      issued(),
      paid(200n, 100n),
      inTime,
      "paid",
      "overpaid",
    ],
    ["no payment by the deadline", issued(), noPayments, tooLate, "expired", "none"],
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
      "a full payment after the deadline",
      issued({ status: "expired" }),
      paid(100n, 100n, { isLate: true }),
      tooLate,
      "paid",
      "late",
    ],
    [
      "an overpayment after the deadline",
      issued({ status: "expired" }),
      paid(101n, 101n, { isLate: true }),
      tooLate,
      "paid",
      "late",
    ],
    ["a canceled invoice", issued({ canceledAt: 1 }), noPayments, tooLate, "canceled", "none"],
    [
      "a payment of a canceled invoice that waits for a decision",
      issued({ canceledAt: 1 }),
      paid(0n, 0n, { isLate: true }),
      inTime,
      "canceled",
      "late",
    ],
    [
      "an accepted payment of a canceled invoice",
      issued({ canceledAt: 1 }),
      paid(100n, 100n, { isLate: true }),
      inTime,
      "paid",
      "late",
    ],
    [
      "a payment removed by a reorganization",
      issued({ status: "paid" }),
      paid(0n, 0n, { isReverted: true }),
      inTime,
      "open",
      "reverted",
    ],
    [
      "a payment removed after the deadline",
      issued({ status: "paid" }),
      paid(0n, 0n, { isReverted: true, isLate: true }),
      tooLate,
      "expired",
      "reverted",
    ],
  ];
  for (const [name, terms, totals, tipTime, status, exception] of cases) {
    it(`${name}: ${status}, ${exception}`, () => {
      expect(invoiceStateOf(terms, totals, tipTime)).to.include({ status, exception });
    });
  }

  it("come with the time of the block that completed the amount, and with none before it is paid", () => {
    const whole = { ...paid(100n, 100n), completedAt: 1_234 };
    expect(invoiceStateOf(issued(), whole, inTime).paidAt).to.equal(1_234);
    expect(invoiceStateOf(issued(), { ...whole, confirmed: 0n }, inTime).paidAt).to.equal(null);
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
          amount: payable,
          payableAmount: payable,
          askedAmount: payable,
          excessSlack: 0n,
          dueAmount: dueAmount(payable, ratio(percent, 100n)),
          wholeAmount: payable,
          expiresAt,
        },
        canceledAt: isCanceled ? 1 : null,
      }),
    );

  it("depend on their inputs only, and do not change when computed again", () => {
    fc.assert(
      fc.property(anyTerms, anyTotals, fc.boolean(), (terms, any, isOver) => {
        const tipTime = isOver ? tooLate : inTime;
        const once = invoiceStateOf(terms, toTotals(any), tipTime);
        const again = invoiceStateOf({ ...terms, status: once.status }, toTotals(any), tipTime);
        expect(again).to.deep.equal(once);
      }),
    );
  });

  it("are paid exactly if enough is confirmed, and expired only once the chain has passed the deadline", () => {
    fc.assert(
      fc.property(anyTerms, anyTotals, fc.boolean(), (terms, any, isOver) => {
        const totals = toTotals(any);
        const { status, paidAt } = invoiceStateOf(terms, totals, isOver ? tooLate : inTime);
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

  it("move forward as payments arrive: a further payment never makes an invoice less paid", () => {
    const rank = ["open", "partially_paid", "expired", "canceled", "confirming", "paid"];
    fc.assert(
      fc.property(anyTerms, anyTotals, fc.bigInt(0n, 300n), (terms, any, more) => {
        const totals = toTotals(any);
        const before = invoiceStateOf(terms, totals, inTime).status;
        const after = invoiceStateOf(
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

  it("are settled exactly by an exact payment, and never settled beyond the payment", () => {
    fc.assert(
      fc.property(amounts, amounts, amounts, (amount, payableAmount, seen) => {
        const terms = { amount, payableAmount, dustAmount: null };
        expect(settlementOf(payableAmount, terms)).to.equal(amount);
        const worth = settlementOf(seen, terms);
        expect(worth * payableAmount <= seen * amount).to.equal(true);
        expect((worth + 1n) * payableAmount > seen * amount).to.equal(true);
      }),
    );
    expect(settlementOf(5n, { amount: 5n, payableAmount: null, dustAmount: 1n })).to.equal(0n);
  });

  it("are settled in full if less than dust and at most 1 % is missing", () => {
    const worth = (seen: bigint, payableAmount: bigint, dustAmount: bigint | null) =>
      settlementOf(seen, { amount: 1_000n, payableAmount, dustAmount });
    // Dust of 10 of 2,000 units: 9 may be missing, 10 are asked for.
    expect([1_990n, 1_991n, 1_999n, 2_000n].map((seen) => worth(seen, 2_000n, 10n))).to.deep.equal([
      ...[995n, 1_000n, 1_000n, 1_000n],
    ]);
    // 1 % of 500 units is 5.
    expect([494n, 495n].map((seen) => worth(seen, 500n, 10n))).to.deep.equal([988n, 1_000n]);
    expect([worth(1_999n, 2_000n, 1n), worth(1_999n, 2_000n, null)]).to.deep.equal([999n, 999n]);
    expect(worth(2_001n, 2_000n, 10n)).to.equal(1_000n);
  });

  it("are due up to the fraction of a unit", () => {
    expect(dueAmount(25_000_000n, ratio(0n, 1n))).to.equal(25_000_000n);
    expect(dueAmount(25_000_000n, ratio(1n, 200n))).to.equal(24_875_000n);
    // 0.95 of 3 is 2.85: a payment of 2 would exceed the tolerance.
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
  it("are 0 without a payment, and while the tip is below the payment's block", () => {
    expect(shown("open", null, 100)).to.equal(0);
    expect(shown("confirming", 100, 99)).to.equal(0);
    expect(shown("confirming", 100, null)).to.equal(0);
  });
  it("stay complete on a paid invoice that receives another payment", () => {
    expect(shown("paid", 100, 100)).to.equal(19);
  });
});

describe("the events of a change", () => {
  const moment = (
    status: Parameters<typeof changesBetween>[0]["status"],
    seen: bigint,
    exception: Parameters<typeof changesBetween>[0]["exception"] = "none",
  ) => ({ status, exception, seen, owed: 0n, inReview: 0n });

  const open = moment("open", 0n);
  const cases: [string, typeof open, typeof open, string[]][] = [
    ["a partial payment", open, moment("partially_paid", 1n), ["invoice.partially_paid"]],
    [
      "a further payment that is still not enough",
      moment("partially_paid", 1n),
      moment("partially_paid", 2n),
      ["invoice.payment_detected"],
    ],
    ["a sufficient payment", open, moment("confirming", 100n), ["invoice.confirming"]],
    ["paid", moment("confirming", 100n), moment("paid", 100n), ["invoice.paid"]],
    [
      "paid within the tolerance",
      moment("confirming", 99n, "underpaid"),
      moment("paid", 99n, "underpaid"),
      ["invoice.paid", "invoice.underpaid"],
    ],
    [
      "paid with more than requested",
      moment("confirming", 101n, "overpaid"),
      moment("paid", 101n, "overpaid"),
      ["invoice.paid", "invoice.overpaid"],
    ],
    [
      "a further payment of a paid invoice",
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
      "a payment that the merchant had accepted and a reorganization removed",
      moment("partially_paid", 1n),
      moment("partially_paid", 1n, "reverted"),
      ["invoice.reverted"],
    ],
    [
      "a partial payment that returns after a reorganization",
      moment("open", 0n, "reverted"),
      moment("partially_paid", 1n, "reverted"),
      ["invoice.partially_paid"],
    ],
    [
      "a further payment of an overpaid invoice",
      moment("paid", 200n, "overpaid"),
      moment("paid", 300n, "overpaid"),
      ["invoice.payment_detected"],
    ],
    [
      "a late payment that waits for a decision",
      moment("expired", 0n),
      moment("expired", 0n, "late"),
      ["invoice.updated"],
    ],
    [
      "a withdrawn decision",
      moment("paid", 100n),
      moment("partially_paid", 50n),
      ["invoice.updated"],
    ],
    [
      "the same payment in another block",
      moment("paid", 100n),
      moment("confirming", 100n),
      ["invoice.confirming"],
    ],
    [
      "a rejected payment that is owed now",
      moment("expired", 0n),
      { ...moment("expired", 0n), owed: 5n },
      ["invoice.updated"],
    ],
    [
      "a payment of a hash that waits for a decision",
      moment("expired", 0n),
      { ...moment("expired", 0n), inReview: 5n },
      ["invoice.updated"],
    ],
    ["no change", open, open, []],
  ];
  for (const [name, before, after, types] of cases) {
    it(`${name}: ${types.join(" and ") || "none"}`, () => {
      expect(changesBetween(before, after)).to.deep.equal(types);
    });
  }
});
