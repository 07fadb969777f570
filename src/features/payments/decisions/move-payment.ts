import type { Instant } from "../../../kernel/clock.ts";
import { invalidField } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { AllocationTooLarge } from "../errors.ts";
import { requireCreditable, requireRoom } from "../inbox/allocation-rules.ts";
import {
  openAllocation,
  requireOnChain,
  requirePayable,
  type AllocationDependencies,
} from "../inbox/open-allocation.ts";
import { rejectPayment } from "../ledger/payment-rules.ts";
import type { PaymentRow } from "../table.ts";
import type { LockedCase } from "./locked-case.ts";

/**
 * Returns the payment of another invoice that takes the place of a counted one, with its amount less what was refunded
 * of it. The invoice is locked with the payment. 400 if it is the payment's own; 404 for an unknown invoice; 409
 * `transfer_reverted`, `transfer_not_creditable`, `invoice_not_payable`, `managed_by_billing`, `transfer_allocated`,
 * `allocation_too_large`; 422 `token_mismatch`.
 */
export async function movedPayment(
  deps: AllocationDependencies,
  tx: Tx,
  { payment, transfer, others, network, state, terms }: LockedCase,
  invoiceId: Id<"invoice">,
  at: Instant,
): Promise<PaymentRow> {
  if (invoiceId === payment.invoiceId) {
    const message = "is the payment's own invoice: name the one that the money is to count for";
    throw invalidField("/toInvoiceId", "same_invoice", message);
  }
  requireOnChain(transfer);
  requireCreditable(transfer, network, state.disabledTokens);
  const asked = await requirePayable(deps, tx, payment.organizationId, transfer, invoiceId, terms);
  const given = { invoiceId, amount: payment.amount - payment.refunded };
  if (given.amount <= 0n) {
    throw new AllocationTooLarge(
      `All of ${payment.id} was refunded, so nothing of it is left for another invoice.`,
    );
  }
  requireRoom(transfer, [rejectPayment(payment), ...others], [given]);
  return openAllocation(deps, transfer, asked, given, at);
}
