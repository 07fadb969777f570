import { expect } from "chai";
import { decidePlanChange } from "../../../src/features/billing/plan-change.ts";
import type { SubscriptionStatus } from "../../../src/features/billing/status.ts";

const end = 1_800_000_000_000;
const firstEnd = end + 1_000;

const of = (status: SubscriptionStatus, pendingPlan: string | null = null) => ({
  status,
  pendingPlan,
  currentPeriodEnd: end,
  terms: { id: "growth" },
});
const first = (status: "open" | "paid" | "past_due") => ({ status, periodEnd: firstEnd });

describe("a change of plan", () => {
  it("14: is scheduled for the end of the period, and another one replaces it", () => {
    for (const status of ["active", "past_due"] as const) {
      const scheduled = { kind: "scheduled", effectiveAt: end };
      expect(decidePlanChange(of(status), "scale", null, false)).to.deep.equal(scheduled);
      expect(decidePlanChange(of(status, "starter"), "scale", null, false)).to.deep.equal(
        scheduled,
      );
    }
  });

  it("14: back to the plan that runs clears what was coming; the same again changes nothing", () => {
    const pending = of("active", "scale");
    expect(decidePlanChange(pending, "growth", null, false)).to.deep.equal({ kind: "cleared" });
    expect(decidePlanChange(pending, "scale", null, false)).to.deep.equal({ kind: "unchanged" });
    expect(decidePlanChange(of("active"), "growth", null, false)).to.deep.equal({
      kind: "unchanged",
    });
  });

  it("14: is refused to who is suspended or canceled, whatever the plan", () => {
    for (const status of ["suspended", "canceled"] as const) {
      for (const plan of ["growth", "scale"]) {
        expect(decidePlanChange(of(status), plan, null, false)).to.deep.equal({ kind: "refused" });
      }
    }
  });

  it("14b: in a trial whose invoice nobody began to pay it is issued anew", () => {
    expect(decidePlanChange(of("trialing"), "scale", first("open"), false)).to.deep.equal({
      kind: "reissued",
    });
  });

  it("14c: in a trial whose invoice is paid, or begun, it waits for the end of that period", () => {
    const scheduled = { kind: "scheduled", effectiveAt: firstEnd };
    const trial = of("trialing");
    expect(decidePlanChange(trial, "scale", first("open"), true)).to.deep.equal(scheduled);
    expect(decidePlanChange(trial, "scale", first("paid"), true)).to.deep.equal(scheduled);
  });

  it("in a trial without an invoice replaces the plan at once", () => {
    expect(decidePlanChange(of("trialing"), "scale", null, false)).to.deep.equal({
      kind: "replaced",
    });
  });
});
