import type { App } from "../../../app.ts";
import { invalidField } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { PageRequest } from "../../../kernel/page.ts";
import { searchQuery, type SearchQuery } from "../../../kernel/search.ts";
import {
  everyAlong,
  examinedMax,
  facetsMax,
  findAlong,
  type Condition,
  type Found,
  type Span,
  type Walk,
} from "../../../platform/database/query/facets.ts";
import { alongFacets, facetConditions } from "../../../platform/database/query/list-filters.ts";
import {
  directionOf,
  fieldOf,
  keyAt,
  positionOfKey,
} from "../../../platform/database/query/list-order.ts";
import {
  boundsOf,
  customerConditions,
  facetFilterOf,
  invoiceOrders,
  sortOf,
  type InvoiceFilters,
  type InvoiceSortField,
} from "./filters.ts";
import { findWallets, narrowInvoices, type Listing } from "./narrowing.ts";
import type { InvoiceHooks } from "../hooks.ts";
import { invoicesById, type InvoiceRow } from "../store.ts";
import { hasSeveral, invoiceFacet } from "../table.ts";
import { holdsOption, mayBeHeld, mergeFound, withoutOption } from "./held-options.ts";
import { searchAmong } from "./text-search.ts";

/** A page of the list: its rows in order, and the position at which to continue if the search stopped early. */
export interface InvoicePage {
  readonly rows: readonly InvoiceRow[];
  readonly resumeAt: string | null;
}

/** Returns a page of an organization's invoices. */
export async function findInvoices(
  app: App,
  organizationId: Id<"organization">,
  filters: InvoiceFilters,
  page: PageRequest,
): Promise<InvoicePage> {
  const { db: reader } = app;
  const sort = sortOf(filters);
  const field = fieldOf<InvoiceSortField>(sort);
  const wallets = await findWallets(reader, organizationId, filters);
  const listing: Listing = { reader, organizationId, filters, field, ...wallets };
  const order = invoiceOrders[field];
  const walk: Walk = {
    table: "invoices",
    facet: null,
    order: order.columns,
    direction: directionOf(sort),
    scope: [["organization_id", organizationId]],
  };
  const search = filters.search === undefined ? null : searchQuery(filters.search);
  const span: Span = {
    facets: null,
    after: page.after === null ? null : keyAt(order, page.after),
    bounds: boundsOf(field, filters),
    conditions: [],
    // A search compares the texts of all invoices that match the other filters.
    fetch: search === null ? page.fetch : examinedMax + facetsMax,
  };
  const inForce = await findKeys(listing, app.hooks, walk, span, search);
  const { keys, resumeAt } = (await mayBeHeld(reader, organizationId, filters))
    ? mergeFound(walk, inForce, await findHeld(listing, app.hooks, walk, span, search))
    : inForce;
  const ids = keys.map((key) => key.at(-1) as Id<"invoice">);
  const found = search === null ? ids : await searchAmong(reader, ids, search);
  const shown = found.slice(0, page.fetch);
  const rows = new Map((await invoicesById(reader, shown)).map((row) => [row.id, row]));
  return {
    rows: shown.flatMap((id) => rows.get(id) ?? []),
    resumeAt: resumeAt === null ? null : positionOfKey(order, resumeAt),
  };
}

/** Returns the keys of the invoices that match the filters by the option in force. */
async function findKeys(
  listing: Listing,
  hooks: InvoiceHooks,
  walk: Walk,
  given: Span,
  search: SearchQuery | null,
): Promise<Found> {
  const { ids, conditions } = await narrowInvoices(listing, hooks, search);
  const span = { ...given, conditions };
  return ids === null
    ? findInOrder(listing, walk, span, search)
    : findAmong(listing, walk, span, ids);
}

/** Returns the keys of the invoices that match the filters by any option that has a hold, of those with several. */
async function findHeld(
  { filters, ...given }: Listing,
  hooks: InvoiceHooks,
  walk: Walk,
  span: Span,
  search: SearchQuery | null,
): Promise<Found> {
  const listing: Listing = { ...given, filters: withoutOption(filters), wallets: null };
  const narrowed = await narrowInvoices(listing, hooks, search);
  const conditions = [...narrowed.conditions, holdsOption(given.reader.dialect, filters)];
  if (narrowed.ids !== null) {
    return findAmong(listing, walk, { ...span, conditions }, narrowed.ids);
  }
  const where = given.field === "paidAt" ? `${hasSeveral} AND paid_at IS NOT NULL` : hasSeveral;
  const rest = [
    ...facetConditions(facetFilterOf(listing.filters, null)),
    ...customerConditions(listing.filters),
  ];
  return findAlong(
    given.reader,
    { ...walk, where },
    { ...span, conditions: [...conditions, ...rest] },
  );
}

/** Returns the keys among a few invoices, each looked up by its id, regardless of the sort order. */
function findAmong(
  { reader, filters, wallets }: Listing,
  walk: Walk,
  span: Span,
  ids: readonly string[],
): Promise<Found> {
  const conditions = [
    ...span.conditions,
    ...facetConditions(facetFilterOf(filters, wallets)),
    ...customerConditions(filters),
  ];
  const byId = { ...walk, facet: "id" };
  return everyAlong(reader, byId, { ...span, facets: ids, conditions });
}

const always: Condition = () => "1 = 1";

/** Returns the keys along the index that fits the filters. */
async function findInOrder(
  listing: Listing,
  walk: Walk,
  given: Span,
  search: SearchQuery | null,
): Promise<Found> {
  const { walk: along, span } = await indexFor(listing, walk, given);
  // A search compares the texts of each row later, so the walk must stop after a limited number of rows.
  const conditions = search === null ? span.conditions : [...span.conditions, always];
  return findAlong(listing.reader, along, { ...span, conditions });
}

/** Returns the walk along the index that fits the filters, with the conditions that remain to be checked row by row. */
async function indexFor(
  { reader, filters, field, wallets }: Listing,
  walk: Walk,
  span: Span,
): Promise<{ walk: Walk; span: Span }> {
  const { customerId } = filters;
  const ofCustomer = field === "createdAt" && customerId !== undefined;
  const filter = facetFilterOf(filters, wallets);
  const isNarrowed = filter.some(([, accepted]) => accepted != null);
  if (field === "createdAt" && !ofCustomer && !isNarrowed) return { walk, span };
  const scope = ofCustomer ? [...walk.scope, ["customer_id", customerId] as const] : walk.scope;
  const faceted = {
    ...walk,
    scope,
    facet: invoiceFacet,
    ...(field === "paidAt" ? { where: "paid_at IS NOT NULL" } : {}),
    ...(ofCustomer ? { where: "customer_id IS NOT NULL" } : {}),
  };
  const along = await alongFacets(reader, faceted, span, filter);
  if (along !== null) return { walk: faceted, span: along };
  if (field !== "createdAt") {
    const message =
      "would sort too many combinations of invoice properties; filter by status and walletId too";
    throw invalidField({ parameter: "sort" }, "invalid_sort", message);
  }
  const rest = [...facetConditions(filter), ...customerConditions(filters)];
  return { walk, span: { ...span, conditions: [...span.conditions, ...rest] } };
}
