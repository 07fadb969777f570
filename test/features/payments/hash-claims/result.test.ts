import { expect } from "chai";
import { resultOf } from "../../../../src/features/payments/hash-claims/rules.ts";
import type {
  ClaimReason,
  ClaimState,
} from "../../../../src/features/payments/hash-claims/status.ts";
import type { PaymentStatus } from "../../../../src/features/payments/payment-status.ts";

const result = (state: ClaimState, reason: ClaimReason | null, ...found: PaymentStatus[]) =>
  resultOf(
    state,
    reason,
    found.map((status) => ({ status })),
  );

describe("The result of a submitted transaction, as its payer sees it", () => {
  it("is that the search goes on, and whether any provider knows the transaction", () => {
    expect(result("waiting", null)).to.equal("looking");
    expect(result("waiting", "unknown")).to.equal("unknown");
  });

  it("follows the best of the invoice's payments by the transaction once it was found", () => {
    for (const state of ["credited", "review"] as const) {
      expect(result(state, null, "confirming")).to.equal("counted");
      expect(result(state, null, "rejected", "reverted", "review", "confirmed")).to.equal(
        "counted",
      );
      expect(result(state, null, "rejected", "reverted", "review")).to.equal("in_review");
      expect(result(state, null, "rejected", "reverted")).to.equal("reverted");
      expect(result(state, null, "rejected")).to.equal("not_for_this");
      expect(result(state, null)).to.equal("not_for_this");
    }
  });

  it("is the reason of a refusal, whatever payments there are, without a word about other invoices", () => {
    expect(result("refused", "unknown")).to.equal("given_up");
    expect(result("refused", "dust", "confirmed")).to.equal("too_small");
    for (const reason of ["taken", "rejected", null] as const) {
      expect(result("refused", reason)).to.equal("not_for_this");
    }
  });
});
