import { expect } from "chai";
import { tooEarly } from "../../../src/features/refunds/service.ts";
import type { RefundablePayment } from "../../../src/features/payments/index.ts";

/** A counted payment that needs 20 confirmations, in a block of 12 seconds with some of them. */
const withConfirmations = (has: number) =>
  ({
    payment: { status: "confirming", requiredConfirmations: 20, blockHeight: 101 },
    network: { blockTimeMs: 12_000 },
    state: { tipHeight: 100 + has },
  }) as RefundablePayment;

describe("A refund that is too early", () => {
  it("is worth another request after its missing blocks, at the soonest after a minute", () => {
    const waits = [1, 5, 14, 15, 16, 20, 30].map((has) => {
      const problem = tooEarly(withConfirmations(has), "Not yet.");
      expect(problem).to.include({ code: "refund_too_early", message: "Not yet." });
      return (problem as { retryAfterSeconds?: number }).retryAfterSeconds;
    });
    expect(waits).to.deep.equal([228, 180, 72, 60, 60, 60, 60]);
  });
});
