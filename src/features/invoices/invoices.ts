import type { App, InTx } from "../../app.ts";
import type { Instant } from "../../kernel/clock.ts";
import { notFound, type Problem } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { mapPage, parsePage, toPartialPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { networkStates } from "../../platform/chain/state/network-state.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import type { EventType } from "../../platform/events/catalogue.ts";
import { meterInvoice } from "../usage/meter.ts";
import { InvoiceNotCancelable, InvoiceNotEditable } from "./errors.ts";
import { endHolds } from "./holds/matching.ts";
import type { CountingPayments } from "./hooks.ts";
import { announceInvoice, changedFields } from "./issuing/announce.ts";
import {
  draftRow,
  editedInput,
  externalIdConflict,
  isExternalIdTaken,
  requireReferences,
} from "./issuing/create.ts";
import { issueInvoice } from "./issuing/issue.ts";
import { planIfAllowed, readOffer } from "./issuing/plan.ts";
import { requireUnmanaged } from "./managed.ts";
import { shownInvoice, viewOf, type InvoiceView, type UpdateInvoiceInput } from "./records.ts";
import { positionIn, sortOf, type InvoiceFilters } from "./search/filters.ts";
import { findInvoices } from "./search/listing.ts";
import { replaceTerms } from "./search/text-search.ts";
import { findByExternalId, findInvoice, type InvoiceRow } from "./store.ts";
import { invoices } from "./table.ts";

/** Returns a page of an organization's invoices. */
export async function listInvoices(
  app: App,
  organizationId: Id<"organization">,
  { limit, cursor, ...filters }: InvoiceFilters & PageQuery,
): Promise<Page<InvoiceView>> {
  const sort = sortOf(filters);
  const { metadata, ...others } = filters;
  const page = parsePage({ limit, cursor }, "invoices", {
    organizationId,
    ...others,
    sort,
    metadata: metadata === undefined ? undefined : [metadata.key, metadata.value],
  });
  const [{ rows, resumeAt }, states] = await Promise.all([
    findInvoices(app, organizationId, filters, page),
    networkStates(app.db),
  ]);
  const found = toPartialPage(rows, page, (row) => positionIn(sort, row), resumeAt);
  return mapPage(found, (row) =>
    viewOf(row, app.baseUrl(), states.get(row.network)?.tipHeight ?? null),
  );
}

/** Returns an invoice. @throws a 404 problem if the organization has none with this id */
export async function getInvoice(
  { db, baseUrl }: App,
  organizationId: Id<"organization">,
  invoiceId: Id<"invoice">,
): Promise<InvoiceView> {
  const row = await findInvoice(db, organizationId, invoiceId);
  if (row === null) throw notFound();
  return shownInvoice(db, row, baseUrl());
}

/** Returns an invoice of any organization, for the operator. @throws a 404 problem if no invoice has this id */
export async function getAnyInvoice(
  { db, baseUrl }: App,
  invoiceId: Id<"invoice">,
): Promise<InvoiceView> {
  const row = await db.findOne(invoices, "WHERE id = $1", [invoiceId]);
  if (row === null) throw notFound();
  return shownInvoice(db, row, baseUrl());
}

/**
 * Updates a draft; `status: "open"` issues it.
 * @param expect throws if the caller has read another version
 */
export async function updateInvoice(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  invoiceId: Id<"invoice">,
  changes: UpdateInvoiceInput,
  expect: (current: InvoiceView) => void,
): Promise<InvoiceView> {
  const { db, clock } = app;
  try {
    return await db.write(context, async (tx) => {
      const at = clock.now();
      const current = await lockView(tx, app, organizationId, invoiceId);
      expect(current);
      return updateDraft(tx, app, at, current, changes);
    });
  } catch (error) {
    const { externalId } = changes;
    if (!isExternalIdTaken(error) || externalId == null) throw error;
    throw externalIdConflict(await findByExternalId(db, organizationId, externalId), null);
  }
}

async function updateDraft(
  tx: Tx,
  app: InTx,
  at: Instant,
  current: InvoiceView,
  changes: UpdateInvoiceInput,
): Promise<InvoiceView> {
  requireUnmanaged(current);
  if (current.status !== "draft") {
    throw new InvoiceNotEditable(
      "Only drafts can be changed. Cancel the invoice and create another.",
    );
  }
  const { id, organizationId, publicId, requestFingerprint, createdAt, version } = current;
  const input = editedInput(current, changes);
  const terms = readOffer(app, input);
  await requireReferences(tx, organizationId, input, terms);
  const draft = {
    ...draftRow(app.ids, at, organizationId, input, terms, requestFingerprint),
    id,
    publicId,
    createdAt,
    version,
  };
  if (changes.status === undefined)
    return saveChange(tx, app, at, "invoice.updated", current, draft);
  const plan = await planIfAllowed(tx, app, at, organizationId, terms);
  const issued = await issueInvoice(tx, app, at, draft, plan);
  return saveChange(tx, app, at, "invoice.issued", current, issued);
}

/** Cancels a draft, or an open or expired invoice; never one with payments. */
export function cancelInvoice(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  invoiceId: Id<"invoice">,
): Promise<InvoiceView> {
  return app.db.write(context, (tx) =>
    cancelInvoiceIn(tx, app, app.clock.now(), organizationId, invoiceId),
  );
}

/**
 * Cancels a draft, or an open or expired invoice. `reversed` is the payment that this transaction has reversed before.
 * 404 if the organization has no such invoice; 409 `invoice_not_cancelable` with payments, `managed_by_billing`.
 */
export async function cancelInvoiceIn(
  tx: Tx,
  app: InTx,
  at: Instant,
  organizationId: Id<"organization">,
  invoiceId: Id<"invoice">,
  reversed?: Id<"payment">,
): Promise<InvoiceView> {
  const current = await lockView(tx, app, organizationId, invoiceId);
  requireUnmanaged(current);
  const { status, seenAmount } = current;
  const isCancelable = status === "draft" || status === "open" || status === "expired";
  if (!isCancelable || seenAmount > 0n) {
    throw notCancelable(current, await app.hooks.countingPayments(tx, invoiceId), reversed);
  }
  const lateUntil = await endHolds(tx, current, at);
  const remainingAmount = current.payableAmount === null ? null : 0n;
  const { checkoutUrl: _, tipHeight: __, ...row } = current;
  const ended = { canceledAt: at, lateUntil, remainingAmount };
  const canceled = { ...row, ...ended, status: "canceled" as const };
  return saveChange(tx, app, at, "invoice.canceled", current, canceled);
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
async function lockView(
  tx: Tx,
  app: InTx,
  organizationId: Id<"organization">,
  invoiceId: Id<"invoice">,
): Promise<InvoiceView> {
  const row = await tx.lockOne(invoices, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    invoiceId,
  ]);
  if (row === null) throw notFound();
  return shownInvoice(tx, row, app.baseUrl());
}

/** Stores and announces a change; without one, returns the invoice as it was. */
async function saveChange(
  tx: Tx,
  app: InTx,
  at: Instant,
  type: EventType,
  before: InvoiceView,
  after: InvoiceRow,
): Promise<InvoiceView> {
  const { id, organizationId: _, publicId: __, createdAt: ___, ...rest } = after;
  const set = { ...rest, version: before.version + 1, updatedAt: at };
  const view = viewOf({ ...after, ...set }, app.baseUrl(), before.tipHeight);
  const changes = changedFields(before, view);
  if (Object.keys(changes).length === 0) return before;
  await tx.update(invoices, set, "WHERE id = $1", [id]);
  await replaceTerms(tx, before, after);
  meterInvoice(tx, app.ids, at, before, view);
  announceInvoice(tx, app, at, { types: [type], previousStatus: before.status, changes }, view);
  return view;
}
