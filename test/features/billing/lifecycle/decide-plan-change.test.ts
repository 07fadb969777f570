import { expect } from "chai";
import { decidePlanChange } from "../../../../src/features/billing/lifecycle/rules.ts";
import type { SubscriptionStatus } from "../../../../src/features/billing/status.ts";

const living = ["trialing", "active", "past_due", "suspended"] as const;
const of = (
  status: SubscriptionStatus,
  pendingPlan: string | null = null,
  cancelAt: number | null = null,
) => ({ status, pendingPlan, cancelAt, terms: { id: "growth" } });

describe("a request for a plan", () => {
  it("schedules another plan in every status except canceled, replacing a scheduled one", () => {
    for (const status of living) {
      for (const pendingPlan of [null, "starter"]) {
        expect(decidePlanChange(of(status, pendingPlan), "scale"), status).to.equal("scheduled");
      }
    }
  });

  it("drops the scheduled change if it names the current plan", () => {
    for (const status of living) {
      expect(decidePlanChange(of(status, "scale"), "growth"), status).to.equal("cleared");
    }
  });

  it("changes nothing if it names the pending plan, or the current one without a scheduled change", () => {
    for (const status of living) {
      expect(decidePlanChange(of(status, "scale"), "scale"), status).to.equal("unchanged");
      expect(decidePlanChange(of(status), "growth"), status).to.equal("unchanged");
    }
  });

  it("is refused for a canceled subscription with any plan", () => {
    for (const plan of ["growth", "scale"]) {
      expect(decidePlanChange(of("canceled"), plan)).to.equal("refused");
    }
  });

  it("is refused with any plan while a cancellation is scheduled", () => {
    for (const status of living) {
      for (const plan of ["growth", "scale"]) {
        expect(decidePlanChange(of(status, null, 1), plan), status).to.equal("ending");
      }
    }
  });
});
