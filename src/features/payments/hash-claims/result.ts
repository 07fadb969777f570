import { isCounted } from "../ledger/payment-rules.ts";
import type { PaymentRow } from "../table.ts";
import { refusalResults, type ClaimReason, type ClaimResult, type ClaimState } from "./status.ts";

/** Returns the result of a claim. `found` holds the invoice's payments by the transaction, whose status may have changed since the claim was closed. */
export function resultOf(
  state: ClaimState,
  reason: ClaimReason | null,
  found: readonly Pick<PaymentRow, "status">[],
): ClaimResult {
  switch (state) {
    case "waiting":
      return reason === "unknown" ? "unknown" : "looking";
    case "credited":
    case "review":
      if (found.some(isCounted)) return "counted";
      if (found.some(({ status }) => status === "review")) return "in_review";
      return found.some(({ status }) => status === "reverted") ? "reverted" : "not_for_this";
    case "refused":
      return reason === null ? "not_for_this" : refusalResults[reason];
  }
}
