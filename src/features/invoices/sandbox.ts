import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Reader, Tx } from "../../platform/database/index.ts";
import { lateWindowMs } from "./holds.ts";
import type { InvoiceRow } from "./store.ts";
import { invoices } from "./table.ts";

/** An issued invoice of any organization, for the operator of a test network. */
export function issuedInvoice(
  reader: Reader,
  invoiceId: Id<"invoice">,
): Promise<InvoiceRow | null> {
  return reader.findOne(invoices, "WHERE id = $1 AND wallet_address IS NOT NULL", [invoiceId]);
}

/** Lets an invoice's time be over now, as if it had been issued earlier. Nothing else about it changes. */
export async function endTime(tx: Tx, invoiceId: Id<"invoice">, at: Instant): Promise<void> {
  await tx.update(invoices, { expiresAt: at }, "WHERE id = $1 AND expires_at > $2", [
    invoiceId,
    at,
  ]);
  await tx.run("UPDATE holds SET ends_at = $2 WHERE invoice_id = $1 AND ends_at > $2", [
    invoiceId,
    at + lateWindowMs,
  ]);
}
