import { expect } from "chai";
import {
  findPlan,
  minCollectableOf,
  overagePriceOf,
  pendingTermsOf,
  policyOf,
  priceOf,
  termsOf,
} from "../../../src/features/billing/plans.ts";
import { usageReached } from "../../../src/features/billing/subscriptions/usage-watch.ts";
import type { Plan, PlanCatalog } from "../../../src/platform/config/plans.ts";

const policy = {
  dueDays: 7,
  graceDays: 7,
  cancelAfterSuspendedDays: 30,
  paymentInFlightHours: 24,
  reminderDays: [],
  minCollectable: "1.00",
};
const growth: Plan = {
  id: "growth",
  name: "Growth",
  description: "For shops.",
  price: "49.00",
  currency: "USD",
  interval: "month",
  trialDays: 14,
  includedInvoices: 200,
  overagePrice: "0.35",
  features: [],
  policy: { ...policy, dueDays: 14 },
};
const scale: Plan = { ...growth, id: "scale", price: "199.00" };
const euro: Plan = { ...growth, id: "euro", currency: "EUR" };
const catalog: PlanCatalog = { policy, plans: [growth, scale, euro] };

describe("a plan", () => {
  it("has its prices in the smallest unit of its currency", () => {
    expect([priceOf(growth), overagePriceOf(growth)]).to.deep.equal([4_900n, 35n]);
    expect(overagePriceOf({ ...growth, overagePrice: null })).to.equal(null);
    expect(priceOf({ price: "500", currency: "JPY" })).to.equal(500n);
    expect(priceOf({ price: "1.5", currency: "KWD" })).to.equal(1_500n);
  });

  it("is collected from the smallest total on, rounded up to the currency's smallest unit", () => {
    const least = (minCollectable: string, decimals: number) =>
      minCollectableOf({ ...policy, minCollectable }, decimals);
    for (const [text, decimals, units] of [
      ["1.00", 2, 100n],
      ["1", 2, 100n],
      ["0.5", 2, 50n],
      ["0", 2, 0n],
      ["0.01", 0, 1n],
      ["1.00", 0, 1n],
      ["1.01", 0, 2n],
      ["12.34", 3, 12_340n],
    ] as const) {
      expect(least(text, decimals), `${text} ${String(decimals)}`).to.equal(units);
    }
  });

  it("keeps its policy while the catalog has it, and then gets the general one", () => {
    expect(policyOf(catalog, "growth").dueDays).to.equal(14);
    expect(policyOf(catalog, "former").dueDays).to.equal(7);
    expect([findPlan(catalog, "scale"), findPlan(catalog, "former")]).to.deep.equal([scale, null]);
  });

  it("that is scheduled has the stored terms, or those of the catalog for older changes", () => {
    const terms = termsOf(growth);
    expect(terms).to.not.have.any.keys("description", "policy");
    const stored = { ...termsOf(scale), price: "150.00" };
    for (const [pendingPlan, pendingTerms, expected] of [
      [null, null, null],
      ["scale", stored, stored],
      ["gone", stored, stored],
      ["scale", null, termsOf(scale)],
      ["gone", null, null],
      ["euro", null, null],
    ] as const) {
      expect(
        pendingTermsOf(catalog, { terms, pendingPlan, pendingTerms }),
        String(pendingPlan),
      ).to.deep.equal(expected);
    }
  });

  it("warns when 80 and when 100 percent of its included invoices are used, not before", () => {
    const reached = (includedInvoices: number | null, used: number) =>
      usageReached({ terms: { ...growth, includedInvoices } }, used);
    for (const [included, used, percent] of [
      [200, 159, 0],
      [200, 160, 80],
      [200, 199, 80],
      [200, 200, 100],
      [200, 201, 100],
      [3, 2, 0],
      [3, 3, 100],
      [1, 0, 0],
      [0, 5, 0],
      [null, 1_000, 0],
    ] as const) {
      expect(reached(included, used), `${String(used)} of ${String(included)}`).to.equal(percent);
    }
  });
});
