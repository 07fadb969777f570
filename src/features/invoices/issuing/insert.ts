import type { InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { NotFound, type Problem } from "../../../kernel/errors.ts";
import { UniqueViolation } from "../../../platform/database/errors.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { meterInvoice } from "../../usage/meter.ts";
import { viewOf, type InvoiceView } from "../present.ts";
import { appendInvoice } from "../search/search-terms.ts";
import type { InvoiceRow } from "../store.ts";
import { announceInvoice, createdFields } from "./announce.ts";

/** Stores a new invoice, counts it and announces it. Nothing in the transaction may read it before the commit. */
export function insertInvoice(tx: Tx, app: InTx, at: Instant, row: InvoiceRow): InvoiceView {
  // Nothing in this transaction reads the row, and its hold refers to it only by id.
  appendInvoice(tx, row);
  meterInvoice(tx, app.ids, at, null, row);
  const invoice = viewOf(row, app.baseUrl(), null);
  announceInvoice(
    tx,
    app,
    at,
    { types: ["invoice.created"], previousStatus: null, changes: createdFields(invoice) },
    invoice,
  );
  return invoice;
}

export function isExternalIdTaken(error: unknown): boolean {
  return error instanceof UniqueViolation && error.index === "invoices_external_id";
}

export function noCustomer(): Problem {
  return new NotFound("No customer with this customerId is visible to this credential.");
}
