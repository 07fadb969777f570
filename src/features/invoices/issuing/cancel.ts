import type { Instant } from "../../../kernel/clock.ts";
import { notFound, type Problem } from "../../../kernel/errors.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import type { EventType } from "../../../platform/events/catalogue.ts";
import { meterInvoice } from "../../usage/meter.ts";
import { InvoiceNotCancelable } from "../errors.ts";
import { endHolds } from "../holds/matching.ts";
import { requireUnmanaged } from "../managed/service.ts";
import { shownInvoice, viewOf, type InvoiceView } from "../present.ts";
import { replaceTerms } from "../search/search-terms.ts";
import type { InvoiceRow } from "../store.ts";
import { invoices } from "../table.ts";
import { announce, changedFields, type AnnouncerDependencies } from "./announce.ts";

/** Some of the payments that count for an invoice, oldest first, and the number of all of them. */
export interface CountingPayments {
  readonly first: readonly Id<"payment">[];
  readonly count: number;
}

export interface ChangeDependencies extends AnnouncerDependencies {
  readonly ids: IdSource;
  /** Returns the payments that count for an invoice. Compose supplies it, because payments depend on invoices. */
  readonly countingPayments: (
    reader: Reader,
    invoiceId: Id<"invoice">,
  ) => Promise<CountingPayments>;
  /** The base URL of this instance for payers, without a trailing slash. */
  readonly baseUrl: () => string;
}

/**
 * Cancels a draft, or an open or expired invoice. `reversed` is the payment that this transaction has reversed before.
 * 404 if the organization has no such invoice; 409 `invoice_not_cancelable` with payments, `managed_by_billing`.
 */
export async function cancelInvoice(
  tx: Tx,
  deps: ChangeDependencies,
  organizationId: Id<"organization">,
  invoiceId: Id<"invoice">,
  at: Instant,
  reversed?: Id<"payment">,
): Promise<InvoiceView> {
  const current = await lockView(tx, deps, organizationId, invoiceId);
  requireUnmanaged(current);
  const { status, seenAmount } = current;
  const isCancelable = status === "draft" || status === "open" || status === "expired";
  if (!isCancelable || seenAmount > 0n) {
    throw notCancelable(current, await deps.countingPayments(tx, invoiceId), reversed);
  }
  const lateUntil = await endHolds(tx, current, at);
  const remainingAmount = current.payableAmount === null ? null : 0n;
  const { checkoutUrl: _, tipHeight: __, ...row } = current;
  const ended = { canceledAt: at, lateUntil, remainingAmount };
  const canceled = { ...row, ...ended, status: "canceled" as const };
  return saveChange(tx, deps, at, "invoice.canceled", current, canceled);
}

function notCancelable(
  { id, status }: InvoiceRow,
  { first, count }: CountingPayments,
  reversed: Id<"payment"> | undefined,
): Problem {
  const [only] = first;
  if (status === "canceled" || only === undefined) {
    return new InvoiceNotCancelable(
      status === "canceled"
        ? `${id} is canceled already. There is nothing to do.`
        : `${id} is ${status}. Only a draft, an open or an expired invoice can be canceled, while no payment counts for it.`,
    );
  }
  const more = count - first.length;
  const named = [...first, ...(more > 0 ? [`${String(more)} more`] : [])];
  const list = `${named.slice(0, -1).join(", ")} and ${named.at(-1) ?? ""}`;
  if (reversed !== undefined) {
    const [others, all] = count === 1 ? [`${only} counts`, "it"] : [`${list} count`, "them"];
    return new InvoiceNotCancelable(
      `Nothing was changed, because ${others} for ${id} too. Reverse ${all} first without \`cancel\`, then ${reversed} again with \`cancel\`.`,
    );
  }
  const step = "with `cancel`, which cancels the invoice in the same step";
  if (count === 1) {
    return new InvoiceNotCancelable(
      `${id} is ${status}, and ${only} counts for it. Reverse this payment ${step}.`,
    );
  }
  return new InvoiceNotCancelable(
    `${id} is ${status}, and ${String(count)} payments count for it: ${list}. Reverse all of them, the last one ${step}.`,
  );
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
