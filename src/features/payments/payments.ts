import type { App, InTx } from "../../app.ts";
import { Defect, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPartialPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { notationOf } from "../../platform/chain/networks.ts";
import { networkStates } from "../../platform/chain/state/network-state.ts";
import type { Reader } from "../../platform/database/database.ts";
import type { PaymentView } from "./records.ts";
import { positionIn, sortOf, type PaymentFilters } from "./filters.ts";
import { findPayments } from "./listing.ts";
import { findPayment, paymentsOfInvoice, transfersById } from "./ledger/store.ts";
import { payments, type PaymentRow } from "./table.ts";

/** Returns an organization's payments, newest first or in the requested order. */
export function listPayments(
  app: App,
  organizationId: Id<"organization">,
  query: PaymentFilters & PageQuery,
): Promise<Page<PaymentView>> {
  return pageOf(app, "payments", { ...query, organizationId });
}

/** Returns the payments of every organization, for the operator. */
export function listAllPayments(
  app: App,
  query: PaymentFilters & PageQuery,
): Promise<Page<PaymentView>> {
  return pageOf(app, "admin_payments", query);
}

/** Returns a payment. @throws a 404 problem if the organization has none with this id */
export async function getPayment(
  app: App,
  organizationId: Id<"organization">,
  paymentId: Id<"payment">,
): Promise<PaymentView> {
  return viewOf(app, await findPayment(app.db, organizationId, paymentId));
}

/** Returns a payment of any organization, for the operator. */
export async function getAnyPayment(app: App, paymentId: Id<"payment">): Promise<PaymentView> {
  return viewOf(app, await app.db.findOne(payments, "WHERE id = $1", [paymentId]));
}

/** Returns all payments of an invoice in any status, oldest first. */
export async function readPaymentsOf(
  reader: Reader,
  app: InTx,
  invoiceId: Id<"invoice">,
): Promise<readonly PaymentView[]> {
  return viewsOf(reader, app, await paymentsOfInvoice(reader, invoiceId));
}

async function pageOf(
  app: App,
  list: string,
  { limit, cursor, ...filters }: PaymentFilters & PageQuery,
): Promise<Page<PaymentView>> {
  const { db } = app;
  const sort = sortOf(filters);
  const page = parsePage({ limit, cursor }, list, { ...filters, sort });
  const { rows, resumeAt } = await findPayments(db, filters, page);
  const positionAt = ({ payment }: PaymentView) => positionIn(sort, payment);
  return toPartialPage(await viewsOf(db, app, rows), page, positionAt, resumeAt);
}

async function viewOf(app: App, row: PaymentRow | null): Promise<PaymentView> {
  const [view] = row === null ? [] : await viewsOf(app.db, app, [row]);
  if (view === undefined) throw notFound();
  return view;
}

/** Disabled networks are known too: their payments are still shown. */
async function viewsOf(
  reader: Reader,
  { networks }: InTx,
  rows: readonly PaymentRow[],
): Promise<PaymentView[]> {
  if (rows.length === 0) return [];
  const [transfers, states] = await Promise.all([
    transfersById(
      reader,
      rows.map(({ transferId }) => transferId),
    ),
    networkStates(reader),
  ]);
  return rows.map((payment) => {
    const transfer = transfers.get(payment.transferId);
    if (transfer === undefined) throw new Defect(`${payment.id} has no transfer`);
    const tipHeight = states.get(payment.network)?.tipHeight ?? payment.blockHeight;
    return { payment, transfer, notation: notationOf(networks.known, payment.network), tipHeight };
  });
}
