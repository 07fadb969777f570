import type { Instant } from "../../../kernel/clock.ts";
import { notFound } from "../../../kernel/errors.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import type { Tx } from "../../../platform/database/index.ts";
import type { EventType } from "../../../platform/events/catalogue.ts";
import { meterInvoice } from "../../usage/index.ts";
import { InvoiceNotCancelable } from "../errors.ts";
import { endHolds } from "../holds/matching.ts";
import { requireUnmanaged } from "../managed/service.ts";
import { shownInvoice, viewOf, type InvoiceView } from "../present.ts";
import { replaceTerms } from "../search/search-terms.ts";
import type { InvoiceRow } from "../store.ts";
import { invoices } from "../table.ts";
import { announce, changedFields, type AnnouncerDependencies } from "./announce.ts";

export interface ChangeDependencies extends AnnouncerDependencies {
  readonly ids: IdSource;
  /** The base URL of this instance for payers, without a trailing slash. */
  readonly baseUrl: () => string;
}

/**
 * Cancels a draft, or an open or expired invoice. 404 if the organization has no such invoice; 409
 * `invoice_not_cancelable` with payments, `managed_by_billing`.
 */
export async function cancelInvoice(
  tx: Tx,
  deps: ChangeDependencies,
  organizationId: Id<"organization">,
  invoiceId: Id<"invoice">,
  at: Instant,
): Promise<InvoiceView> {
  const current = await lockView(tx, deps, organizationId, invoiceId);
  requireUnmanaged(current);
  const { status, seenAmount } = current;
  const isCancelable = status === "draft" || status === "open" || status === "expired";
  if (!isCancelable || seenAmount > 0n) {
    throw new InvoiceNotCancelable(
      "A draft, an open or an expired invoice can be canceled while it has no payments. Read the invoice to see its status.",
    );
  }
  const lateUntil = await endHolds(tx, current, at);
  const remainingAmount = current.payableAmount === null ? null : 0n;
  const { checkoutUrl: _, tipHeight: __, ...row } = current;
  const ended = { canceledAt: at, lateUntil, remainingAmount };
  const canceled = { ...row, ...ended, status: "canceled" as const };
  return saveChange(tx, deps, at, "invoice.canceled", current, canceled);
}

/** Locks an invoice of the organization. 404 if it has no such invoice. */
export async function lockView(
  tx: Tx,
  { baseUrl }: ChangeDependencies,
  organizationId: Id<"organization">,
  invoiceId: Id<"invoice">,
): Promise<InvoiceView> {
  const row = await tx.lockOne(invoices, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    invoiceId,
  ]);
  if (row === null) throw notFound();
  return shownInvoice(tx, row, baseUrl());
}

/** Stores and announces a change; without one, returns the invoice as it was. */
export async function saveChange(
  tx: Tx,
  deps: ChangeDependencies,
  at: Instant,
  type: EventType,
  before: InvoiceView,
  after: InvoiceRow,
): Promise<InvoiceView> {
  const { id, organizationId: _, publicId: __, createdAt: ___, ...rest } = after;
  const set = { ...rest, version: before.version + 1, updatedAt: at };
  const view = viewOf({ ...after, ...set }, deps.baseUrl(), before.tipHeight);
  const changes = changedFields(before, view);
  if (Object.keys(changes).length === 0) return before;
  await tx.update(invoices, set, "WHERE id = $1", [id]);
  await replaceTerms(tx, before, after);
  meterInvoice(tx, deps.ids, at, before, view);
  announce(deps, tx, at, { types: [type], previousStatus: before.status, changes }, view);
  return view;
}
