import type { Instant } from "../../../kernel/clock.ts";
import { NotFound, type Problem } from "../../../kernel/errors.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import { UniqueViolation } from "../../../platform/database/errors.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { meterInvoice } from "../../usage/meter.ts";
import { viewOf, type InvoiceView } from "../present.ts";
import { appendInvoice } from "../search/search-terms.ts";
import type { InvoiceRow } from "../store.ts";
import { announce, createdFields, type AnnouncerDependencies } from "./announce.ts";

export interface InsertDependencies extends AnnouncerDependencies {
  readonly ids: IdSource;
  /** The base URL of this instance for payers, without a trailing slash. */
  readonly baseUrl: () => string;
}

/** Returns those of the customers that the organization has. */
export type CustomersAmong = (
  reader: Reader,
  organizationId: Id<"organization">,
  customerIds: readonly Id<"customer">[],
) => Promise<ReadonlySet<Id<"customer">>>;

/** Stores a new invoice, counts it and announces it. Nothing in the transaction may read it before the commit. */
export function insertInvoice(
  deps: InsertDependencies,
  tx: Tx,
  at: Instant,
  row: InvoiceRow,
): InvoiceView {
  // Nothing in this transaction reads the row, and its hold refers to it only by id.
  appendInvoice(tx, row);
  meterInvoice(tx, deps.ids, at, null, row);
  const invoice = viewOf(row, deps.baseUrl(), null);
  announce(
    deps,
    tx,
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
