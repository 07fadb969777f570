// Whether the first invoice of a trial is for the plan that applies, and what a difference costs; without a store.
import { expect } from "chai";
import {
  freezeInputs,
  thawInputs,
  type ChargeInputs,
} from "../../../../src/features/billing/charges.ts";
import {
  planDifferenceOf,
  staleFirstInvoice,
} from "../../../../src/features/billing/invoices/issue.ts";
import { periodAt } from "../../../../src/features/billing/periods.ts";
import type { Terms } from "../../../../src/features/billing/plans.ts";
import type { PlatformInvoiceRow } from "../../../../src/features/billing/table.ts";
import type { InvoiceRow } from "../../../../src/features/invoices/store.ts";
import { platformInvoice, subscription } from "../balances/balance-fixture.ts";

const anchorAt = Date.parse("2026-01-31T10:00:00Z");
const trial = subscription("org_1", {
  status: "trialing",
  anchorAt,
  periodIndex: -1,
});
const growth = trial.terms;
const scale: Terms = { ...growth, id: "scale", name: "Scale", price: "199.00" };
const yearly: Terms = {
  ...growth,
  id: "yearly",
  name: "Yearly",
  price: "490.00",
  interval: "year",
};

/** The first invoice of the trial, for the Growth plan unless its inputs say otherwise. */
function firstInvoice(
  inputs: Partial<ChargeInputs> = {},
  changes: Partial<PlatformInvoiceRow> = {},
): PlatformInvoiceRow {
  const { start: periodStart, end: periodEnd } = periodAt(anchorAt, "month", 0);
  const row = platformInvoice(trial, { periodStart, periodEnd, number: "TILL-1", ...changes });
  return { ...row, inputs: freezeInputs({ ...thawInputs(row.inputs), ...inputs }) };
}

describe("the first invoice of a trial", () => {
  const first = firstInvoice();
  const stale = (terms: Terms, { of = trial, invoice = first, seen = 0n, confirmed = 0n } = {}) => {
    const paid = {
      amount: 1n,
      payableAmount: 1n,
      dustAmount: null,
      seenAmount: seen,
      confirmedAmount: confirmed,
    };
    return staleFirstInvoice(
      {
        subscription: of,
        invoices: [invoice],
        paidAhead: [],
        collectionInvoices: new Map([[invoice.id, [paid as InvoiceRow]]]),
      },
      terms,
    );
  };

  it("is stale if the plan has another name, price or interval", () => {
    expect(stale(growth)).to.equal(null);
    // Neither decides what the invoice charges.
    expect(stale({ ...growth, id: "renamed", includedInvoices: 1 })).to.equal(null);
    for (const change of [
      { name: "Growth 2" },
      { price: "49.01" },
      { interval: "year" },
    ] as const) {
      expect(stale({ ...growth, ...change }), Object.keys(change).join()).to.equal(first);
    }
  });

  it("is not stale if it is not open, of another period, or of a subscription that ends or has begun", () => {
    expect(stale(scale)).to.equal(first);
    for (const of of [
      { ...trial, status: "active" } as const,
      { ...trial, cancelAt: anchorAt },
      { ...trial, anchorAt: anchorAt + 1 },
    ]) {
      expect(stale(scale, { of })).to.equal(null);
    }
    expect(stale(scale, { invoice: firstInvoice({}, { status: "past_due" }) })).to.equal(null);
  });

  it("is not stale while a payment waits for its confirmations", () => {
    expect(stale(scale, { seen: 2n, confirmed: 1n })).to.equal(null);
    expect(stale(scale, { seen: 2n, confirmed: 2n })).to.equal(first);
  });
});

describe("the plan difference of a first invoice", () => {
  const difference = (terms: Terms, first = firstInvoice()) => planDifferenceOf(first, terms);

  it("is nothing for the same plan, and otherwise charges or credits the difference of the prices", () => {
    expect(difference(growth)).to.equal(null);
    expect(difference(scale)).to.deep.equal({
      amount: 15_000n,
      description: "Scale plan instead of Growth plan in TILL-1",
      rest: null,
    });
    expect(difference({ ...scale, price: "9.00" })?.amount).to.equal(-4_000n);
    expect(difference({ ...scale, price: "49.00" })?.amount).to.equal(0n);
  });

  it("is reduced by the discounts of the invoice, and not by its credits", () => {
    const terms = { reason: "Welcome", periods: null, periodsUsed: 0 };
    const half = firstInvoice({
      discounts: [
        { ...terms, id: "dsc_1", kind: "percent", share: { numerator: 1n, denominator: 2n } },
      ],
      credits: [
        { id: "crd_1", remaining: 9_000n, currency: "USD", expiresAt: null, reason: "Sorry" },
      ],
    });
    expect(difference(scale, half)?.amount).to.equal(7_500n);
    const fixed = firstInvoice({
      discounts: [{ ...terms, id: "dsc_1", kind: "fixed", amount: 5_000n, currency: "USD" }],
    });
    // The discount was larger than the invoice, which wasted a part of it.
    expect(difference(scale, fixed)?.amount).to.equal(14_900n);
  });

  it("credits the whole price if the new plan's period is longer, whose rest is invoiced at once", () => {
    const { end } = periodAt(anchorAt, "month", 0);
    expect(difference(yearly)).to.deep.equal({
      amount: -4_900n,
      description: "Growth plan in TILL-1",
      rest: { start: end, end: periodAt(anchorAt, "year", 0).end },
    });
  });

  it("is that of the prices if the new plan's period is shorter", () => {
    const { end: periodEnd } = periodAt(anchorAt, "year", 0);
    const plan = { name: "Yearly", price: 49_000n };
    expect(difference(growth, firstInvoice({ plan }, { periodEnd }))).to.deep.equal({
      amount: 4_900n - 49_000n,
      description: "Growth plan instead of Yearly plan in TILL-1",
      rest: null,
    });
  });
});
