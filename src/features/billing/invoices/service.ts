import type { InTx } from "../../../app.ts";
import { bind, type Bound } from "../../../kernel/bind.ts";
import { notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../../kernel/page.ts";
import type { Plan, PlanCatalog } from "../../../platform/config/plans.ts";
import type { Database, Reader } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import { pageQuery } from "../../../platform/database/query/page.ts";
import { namesOf } from "../../organizations/store.ts";
import { readPaymentsOf } from "../../payments/payments.ts";
import type { AdminInvoiceDetail, AdminInvoiceView, PlatformInvoiceView } from "../present.ts";
import {
  platformInvoiceLines,
  platformInvoices,
  platformInvoiceTwins,
  type PlatformInvoiceLineRow,
  type PlatformInvoiceRow,
} from "../table.ts";

/** The statuses of the API record; no platform invoice is ever a draft. */
export type InvoiceStatusFilter = PlatformInvoiceRow["status"] | "draft";

export interface InvoiceFilters extends PageQuery {
  readonly status?: InvoiceStatusFilter | undefined;
}

export interface AdminInvoiceFilters extends InvoiceFilters {
  readonly organizationId?: Id<"organization"> | undefined;
}

/** Reads plans and platform invoices. */
export type BillingReader = Bound<typeof methods>;

interface Deps {
  readonly db: Database;
  readonly catalog: PlanCatalog;
  readonly app: InTx;
  /** Returns the URL of a checkout. */
  readonly checkoutUrl: (checkoutId: string) => string;
}

const methods = { views, plans, list, get, listAll, getAny };

export function makeBillingReader(deps: Deps): BillingReader {
  return bind(deps, methods);
}

/** Returns platform invoices with their lines, in the order of the rows. Events use it within their transaction. */
async function views(
  { checkoutUrl }: Deps,
  reader: Reader,
  invoices: readonly PlatformInvoiceRow[],
): Promise<PlatformInvoiceView[]> {
  const lines = await linesOf(
    reader,
    invoices.map(({ id }) => id),
  );
  return invoices.map((invoice) => ({
    invoice,
    lines: lines.get(invoice.id) ?? [],
    checkoutUrl: invoice.twinCheckoutId === null ? null : checkoutUrl(invoice.twinCheckoutId),
  }));
}

function plans({ catalog }: Deps): Promise<readonly Plan[]> {
  return Promise.resolve(catalog.plans);
}

function list(
  deps: Deps,
  organizationId: Id<"organization">,
  query: InvoiceFilters,
): Promise<Page<PlatformInvoiceView>> {
  return page(deps, "platform_invoices", { ...query, organizationId });
}

async function get(
  deps: Deps,
  organizationId: Id<"organization">,
  platformInvoiceId: Id<"platformInvoice">,
): Promise<PlatformInvoiceView> {
  const { db } = deps;
  const row = await db.findOne(platformInvoices, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    platformInvoiceId,
  ]);
  const [view] = row === null ? [] : await views(deps, db, [row]);
  if (view === undefined) throw notFound();
  return view;
}

async function listAll(deps: Deps, query: AdminInvoiceFilters): Promise<Page<AdminInvoiceView>> {
  const { data, nextCursor } = await page(deps, "admin_platform_invoices", query);
  return { data: await owned(deps, data), nextCursor };
}

async function getAny(
  deps: Deps,
  platformInvoiceId: Id<"platformInvoice">,
): Promise<AdminInvoiceDetail> {
  const { db, app } = deps;
  const row = await db.findOne(platformInvoices, "WHERE id = $1", [platformInvoiceId]);
  const [view] = row === null ? [] : await owned(deps, await views(deps, db, [row]));
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
  { db }: Deps,
  given: readonly PlatformInvoiceView[],
): Promise<AdminInvoiceView[]> {
  const names = await namesOf(
    db,
    given.map(({ invoice }) => invoice.organizationId),
  );
  return given.map((view) => ({
    ...view,
    organizationName: names.get(view.invoice.organizationId) ?? "",
  }));
}

async function page(deps: Deps, name: string, query: AdminInvoiceFilters) {
  const { db } = deps;
  const { limit, cursor, organizationId, status } = query;
  const asked = parsePage({ limit, cursor }, name, { organizationId, status });
  const { rest, values } = pageQuery(asked, [
    ["organization_id =", organizationId],
    ["status =", status],
  ]);
  const { data, nextCursor } = toPage(await db.find(platformInvoices, rest, values), asked);
  return { data: await views(deps, db, data), nextCursor };
}

/** Returns the lines of platform invoices by invoice id, ordered by position. */
export async function linesOf(
  reader: Reader,
  ids: readonly Id<"platformInvoice">[],
): Promise<ReadonlyMap<string, readonly PlatformInvoiceLineRow[]>> {
  const lines = new Map<string, PlatformInvoiceLineRow[]>();
  if (ids.length === 0) return lines;
  const rows = await reader.find(
    platformInvoiceLines,
    `WHERE platform_invoice_id IN ${listed(reader.dialect, 1)} ORDER BY platform_invoice_id, position`,
    [JSON.stringify(ids)],
  );
  for (const row of rows) {
    const there = lines.get(row.platformInvoiceId);
    if (there === undefined) lines.set(row.platformInvoiceId, [row]);
    else there.push(row);
  }
  return lines;
}
