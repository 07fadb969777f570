import type { InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { assert, NotFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { ManagedByBilling } from "../../invoices/errors.ts";
import { quoteFor } from "../../invoices/options/quotes.ts";
import { findInvoice } from "../../invoices/store.ts";
import type { PayableTerms } from "../../invoices/settlement/terms-to-pay.ts";
import { InvoiceNotPayable, TokenMismatch, TransferReverted } from "../errors.ts";
import { openPayment } from "../ledger/payment-rules.ts";
import type { TermsOf } from "../ledger/types.ts";
import type { PaymentRow, TransferRow } from "../table.ts";
import { shown } from "./allocation-rules.ts";

/** Throws 409 `transfer_reverted` unless the transfer is on its chain. */
export function requireOnChain({ status }: TransferRow): void {
  if (status === "seen") return;
  throw new TransferReverted(
    "A reorganization removed this transfer from its chain. Wait until it is back.",
  );
}

/**
 * Returns the terms of an invoice of the organization that may receive a part of the transfer, or throws the reason why
 * it may not.
 */
export async function requirePayable(
  tx: Tx,
  { networks }: InTx,
  organizationId: Id<"organization">,
  transfer: TransferRow,
  invoiceId: Id<"invoice">,
  terms: TermsOf,
): Promise<PayableTerms> {
  const asked = terms.get(invoiceId);
  if (asked?.organizationId !== organizationId) {
    if (asked === undefined && (await findInvoice(tx, organizationId, invoiceId)) !== null) {
      throw new InvoiceNotPayable(`${invoiceId} is a draft. Issue it, then allocate to it.`);
    }
    throw new NotFound(`No invoice ${invoiceId} is visible to this credential.`);
  }
  if (asked.managedBy === "billing") {
    throw new ManagedByBilling(
      `${invoiceId} collects a platform invoice and accepts only payments made to it directly. Leave the transfer unallocated, and give its payer a credit with till billing credit.`,
    );
  }
  if (quoteFor(asked.quotes, transfer) === undefined) {
    const titleOf = (network: string) => networks.known.get(network)?.title ?? network;
    const offered = asked.quotes.map(
      (quote) => `${quote.tokenSymbol} on ${titleOf(quote.network)}`,
    );
    throw new TokenMismatch(
      `${invoiceId} asks for ${offered.join(" or ")}, but this transfer is ${transfer.token} on ${titleOf(transfer.network)}. Choose another invoice.`,
    );
  }
  return asked;
}

/** Returns a new payment for a part of a transfer that a person assigns to an invoice. */
export function openAllocation(
  { ids }: InTx,
  at: Instant,
  transfer: TransferRow,
  terms: PayableTerms,
  given: { readonly invoiceId: Id<"invoice">; readonly amount: bigint },
): PaymentRow {
  const { organizationId } = terms;
  const { invoiceId, amount } = given;
  const payment = openPayment({
    id: ids.next("payment", at),
    transfer,
    terms,
    amount,
    at,
    match: { invoiceId, organizationId, rule: "manual" },
    source: "operator",
  });
  // No review, even if the transfer is late or the invoice canceled: the merchant has decided.
  return { ...payment, status: "confirming" };
}

/** Records in the audit log which invoices a person assigned a transfer to. */
export function recordAllocation(
  tx: Tx,
  { journal }: InTx,
  at: Instant,
  transfer: TransferRow,
  opened: readonly PaymentRow[],
): void {
  const [first] = opened;
  assert(first !== undefined, "an allocation opens a payment");
  journal.record(tx, at, {
    action: "transfer.allocated",
    organizationId: first.organizationId,
    subjectType: "transfer",
    subjectId: transfer.id,
    changes: {
      allocations: opened.map(({ id, invoiceId, amount }) => ({
        paymentId: id,
        invoiceId,
        amount: shown(transfer, amount),
      })),
    },
  });
}
