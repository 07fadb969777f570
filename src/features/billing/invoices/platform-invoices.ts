import { checkoutUrl, type App, type InTx } from "../../../app.ts";
import { notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { parsePage, toPage, type Page } from "../../../kernel/page.ts";
import type { Plan } from "../../../platform/config/plans.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import { pageQuery } from "../../../platform/database/query/lists.ts";
import { namesOf } from "../../organizations/store.ts";
import { readPaymentsOf } from "../../payments/payments.ts";
import type {
  AdminInvoiceDetail,
  AdminInvoiceFilters,
  AdminInvoiceView,
} from "../operator/admin-records.ts";
import type { PlatformInvoiceView } from "../records.ts";
import { groupedBy } from "../store.ts";
import {
  platformInvoiceLines,
  platformInvoices,
  platformInvoiceTwins,
  type PlatformInvoiceLineRow,
  type PlatformInvoiceRow,
} from "../table.ts";

/** Returns platform invoices with their lines, in the order of the rows. Events use it within their transaction. */
export async function viewPlatformInvoices(
  reader: Reader,
  app: InTx,
  invoices: readonly PlatformInvoiceRow[],
): Promise<PlatformInvoiceView[]> {
  const lines = await linesOf(
    reader,
    invoices.map(({ id }) => id),
  );
  return invoices.map((invoice) => viewPlatformInvoice(app, invoice, lines.get(invoice.id) ?? []));
}

/** Returns a platform invoice with its lines, which the caller has. */
export function viewPlatformInvoice(
  app: InTx,
  invoice: PlatformInvoiceRow,
  lines: readonly PlatformInvoiceLineRow[],
): PlatformInvoiceView {
  const { twinCheckoutId } = invoice;
  const url = twinCheckoutId === null ? null : checkoutUrl(app, twinCheckoutId);
  return { invoice, lines, checkoutUrl: url };
}

/** Returns the plans that organizations can select. */
export function listPlans({ config }: App): Promise<readonly Plan[]> {
  return Promise.resolve(config.plans.plans);
}

/** Returns a page of an organization's platform invoices, newest first. */
export function listPlatformInvoices(
  app: App,
  organizationId: Id<"organization">,
  query: Omit<AdminInvoiceFilters, "organizationId">,
): Promise<Page<PlatformInvoiceView>> {
  return pageOf(app, "platform_invoices", { ...query, organizationId });
}

/** Returns a platform invoice. @throws a 404 problem if the organization has none with this id */
export async function getPlatformInvoice(
  app: App,
  organizationId: Id<"organization">,
  platformInvoiceId: Id<"platformInvoice">,
): Promise<PlatformInvoiceView> {
  const { db } = app;
  const row = await db.findOne(platformInvoices, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    platformInvoiceId,
  ]);
  const [view] = row === null ? [] : await viewPlatformInvoices(db, app, [row]);
  if (view === undefined) throw notFound();
  return view;
}

/** Returns a page of the platform invoices of all organizations, newest first. */
export async function listAllPlatformInvoices(
  app: App,
  query: AdminInvoiceFilters,
): Promise<Page<AdminInvoiceView>> {
  const { data, nextCursor } = await pageOf(app, "admin_platform_invoices", query);
  return { data: await owned(app.db, data), nextCursor };
}

/** Returns a platform invoice of any organization with its payments. */
export async function getAnyPlatformInvoice(
  app: App,
  platformInvoiceId: Id<"platformInvoice">,
): Promise<AdminInvoiceDetail> {
  const { db } = app;
  const row = await db.findOne(platformInvoices, "WHERE id = $1", [platformInvoiceId]);
  const [view] = row === null ? [] : await owned(db, await viewPlatformInvoices(db, app, [row]));
  if (view === undefined) throw notFound();
  const collectionInvoices = await db.find(
    platformInvoiceTwins,
    "WHERE platform_invoice_id = $1 ORDER BY twin_id",
    [platformInvoiceId],
  );
  // One query per collection invoice: a long-standing debt has two, seldom more.
  const came = await Promise.all(
    collectionInvoices.map(({ twinId }) => readPaymentsOf(db, app, twinId)),
  );
  return { ...view, payments: came.flat() };
}

async function owned(
  reader: Reader,
  views: readonly PlatformInvoiceView[],
): Promise<AdminInvoiceView[]> {
  const names = await namesOf(
    reader,
    views.map(({ invoice }) => invoice.organizationId),
  );
  return views.map((view) => ({
    ...view,
    organizationName: names.get(view.invoice.organizationId) ?? "",
  }));
}

async function pageOf(app: App, list: string, query: AdminInvoiceFilters) {
  const { db } = app;
  const { limit, cursor, organizationId, status } = query;
  const asked = parsePage({ limit, cursor }, list, { organizationId, status });
  const { rest, values } = pageQuery(asked, [
    ["organization_id =", organizationId],
    ["status =", status],
  ]);
  const { data, nextCursor } = toPage(await db.find(platformInvoices, rest, values), asked);
  return { data: await viewPlatformInvoices(db, app, data), nextCursor };
}

/** Returns the lines of platform invoices by invoice id, ordered by position. */
export async function linesOf(
  reader: Reader,
  ids: readonly Id<"platformInvoice">[],
): Promise<ReadonlyMap<string, readonly PlatformInvoiceLineRow[]>> {
  if (ids.length === 0) return new Map();
  const rows = await reader.find(
    platformInvoiceLines,
    `WHERE platform_invoice_id IN ${listed(reader.dialect, 1)} ORDER BY platform_invoice_id, position`,
    [JSON.stringify(ids)],
  );
  return groupedBy(rows, ({ platformInvoiceId }) => platformInvoiceId);
}
