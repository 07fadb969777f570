import type { App } from "../../../app.ts";
import { invalidField } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { PageRequest } from "../../../kernel/page.ts";
import { metadataTerm, searchQuery, type SearchQuery } from "../../../kernel/search.ts";
import type { Dialect, Reader } from "../../../platform/database/database.ts";
import {
  everyAlong,
  examinedMax,
  facetsMax,
  findAlong,
  type Condition,
  type Found,
  type Key,
  type Span,
  type Walk,
} from "../../../platform/database/query/facets.ts";
import { listedValues } from "../../../platform/database/query/json-rows.ts";
import {
  alongFacets,
  checkedBounds,
  createdBounds,
  directionOf,
  equals,
  facetConditions,
  fieldOf,
  idsWithin,
  keyAt,
  makeNarrowing,
  paidBounds,
  positionOfKey,
  unindexed,
  unindexedNumber,
  type Narrowed,
} from "../../../platform/database/query/lists.ts";
import type { SqlValue } from "../../../platform/database/schema/table.ts";
import { walletsAt } from "../../wallets/store.ts";
import {
  boundsOf,
  customerConditions,
  facetFilterOf,
  invoiceOrders,
  sortOf,
  type InvoiceFilters,
  type InvoiceSortField,
} from "./filters.ts";
import type { InvoiceHooks } from "../hooks.ts";
import { invoiceIdsWhere, invoicesById, type InvoiceRow } from "../store.ts";
import { hasSeveral, invoiceFacet } from "../table.ts";
import { searchAmong, searchCandidates } from "./text-search.ts";

/** A page of the list: its rows in order, and the position at which to continue if the search stopped early. */
interface InvoicePage {
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

/** The filters on an option of an invoice; an invoice without several holds is found by its own columns. */
type OptionFilters = Pick<InvoiceFilters, "network" | "tokenSymbol" | "walletId" | "walletAddress">;

/** Returns the filters without those on an option. */
function withoutOption(filters: InvoiceFilters): InvoiceFilters {
  return {
    ...filters,
    network: undefined,
    tokenSymbol: undefined,
    walletId: undefined,
    walletAddress: undefined,
  };
}

/** Whether filters on an option may find invoices by one that is not in force. */
async function mayBeHeld(
  reader: Reader,
  organizationId: Id<"organization">,
  { network, tokenSymbol, walletId, walletAddress }: OptionFilters,
): Promise<boolean> {
  if ([network, tokenSymbol, walletId, walletAddress].every((each) => each === undefined)) {
    return false;
  }
  const found = await reader.all(
    `SELECT 1 AS found FROM invoices WHERE organization_id = $1 AND ${hasSeveral} LIMIT 1`,
    [organizationId],
  );
  return found.length > 0;
}

/** Returns the condition that one option with a hold meets all of the filters. */
function holdsOption(
  dialect: Dialect,
  { network, tokenSymbol, walletId, walletAddress }: OptionFilters,
): Condition {
  const wanted: readonly (readonly [field: string, value: SqlValue | undefined])[] = [
    ["held.value ->> 'network'", network],
    ["held.value ->> 'tokenSymbol'", tokenSymbol],
    ["held.value -> 'quote' ->> 'walletId'", walletId],
    ["held.value -> 'quote' ->> 'walletAddress'", walletAddress],
  ];
  return (bind) => {
    const conditions = wanted.flatMap(([field, value]) =>
      value === undefined ? [] : [`(${field}) = ${bind(value)}`],
    );
    return `${hasSeveral} AND EXISTS (
      SELECT 1 FROM ${listedValues(dialect, "one.payment_options", "held")}
      WHERE (held.value ->> 'quote') IS NOT NULL AND ${conditions.join(" AND ")})`;
  };
}

/** Merges two results of one walk into one without duplicates, up to the key at which the earlier search ended. */
export function mergeFound({ direction }: Walk, one: Found, other: Found): Found {
  const sign = direction === "ASC" ? 1 : -1;
  const order = (left: Key, right: Key) => sign * compareKeys(left, right);
  const [resumeAt = null] = [one.resumeAt, other.resumeAt]
    .filter((key) => key !== null)
    .sort(order);
  const merged = new Map([...one.keys, ...other.keys].map((key) => [key.at(-1), key]));
  const keys = [...merged.values()]
    .filter((key) => resumeAt === null || order(key, resumeAt) <= 0)
    .sort(order);
  return { keys, resumeAt };
}

/** Compares the values of two keys: texts by their bytes, as both databases do, and times. */
function compareKeys(one: Key, other: Key): number {
  for (const [index, value] of one.entries()) {
    const against = other[index] ?? null;
    if (value === against || value === null || against === null) continue;
    return value < against ? -1 : 1;
  }
  return 0;
}

/** The wallets that match the filters. */
interface MatchingWallets {
  /** Null: all. */
  readonly wallets: readonly string[] | null;
  /** Whether `walletAddress` is an address that invoices share, not one of an extended key. */
  readonly isAddressShared: boolean;
}

/** A requested list of an organization's invoices. */
interface Listing extends MatchingWallets {
  readonly reader: Reader;
  readonly organizationId: Id<"organization">;
  readonly filters: InvoiceFilters;
  readonly field: InvoiceSortField;
}

/** Returns the wallets that match the filters. */
async function findWallets(
  reader: Reader,
  organizationId: Id<"organization">,
  { walletId, walletAddress }: InvoiceFilters,
): Promise<MatchingWallets> {
  const at =
    walletAddress === undefined ? [] : await walletsAt(reader, organizationId, walletAddress);
  const isAddressShared = at.length > 0;
  const isWanted = (id: string) => walletId === undefined || id === walletId;
  if (isAddressShared) return { wallets: at.filter(isWanted), isAddressShared };
  return { wallets: walletId === undefined ? null : [walletId], isAddressShared };
}

/** Returns the conditions of the filters that the facet does not cover. */
async function narrowInvoices(
  { reader, organizationId, filters, field, isAddressShared }: Listing,
  hooks: InvoiceHooks,
  search: SearchQuery | null,
): Promise<Narrowed> {
  const { externalId, walletAddress, transactionHash, metadata, customerId } = filters;
  const narrowing = makeNarrowing();
  const idsWhere = (condition: string, value: string) =>
    invoiceIdsWhere(reader, organizationId, "invoices", condition, value);
  if (externalId !== undefined) {
    narrowing.only(
      await idsWhere("lower(external_id) = lower($2) AND external_id = $2", externalId),
    );
  }
  if (transactionHash !== undefined) {
    narrowing.only(await hooks.invoicesOfTransaction(reader, organizationId, transactionHash));
  }
  if (walletAddress !== undefined) {
    const at = equals(unindexed("wallet_address"), walletAddress);
    if (isAddressShared) {
      narrowing.check(at);
    } else {
      const own = "wallet_address = $2 AND address_index IS NOT NULL";
      narrowing.onlyOrCheck(await idsWhere(own, walletAddress), at);
    }
  }
  if (metadata !== undefined) {
    const term = metadataTerm(metadata.key, metadata.value);
    narrowing.onlyOrCheck(
      await invoiceIdsWhere(reader, organizationId, "invoice_terms", "term = $2", term),
      (bind) =>
        `(SELECT COUNT(*) FROM invoice_terms AS its WHERE its.organization_id = one.organization_id
           AND its.term = ${bind(term)} AND its.invoice_id = one.id) = 1`,
    );
  }
  if (field !== "createdAt" && customerId !== undefined) {
    narrowing.onlyOrCheck(
      await idsWhere("customer_id = $2 AND customer_id IS NOT NULL", customerId),
      ...customerConditions(filters),
    );
  }
  const created = createdBounds("invoice", filters);
  if (field !== "createdAt" && created.length > 0) {
    const scope = [["organization_id", organizationId]] as const;
    narrowing.onlyOrCheck(
      await idsWithin(reader, { table: "invoices", scope }, created),
      ...checkedBounds(unindexed("id"), created),
    );
  }
  if (field !== "paidAt") {
    narrowing.check(...checkedBounds(unindexedNumber("paid_at"), paidBounds(filters)));
  }
  if (search !== null) {
    const candidates = await searchCandidates(reader, organizationId, search);
    if (candidates !== null) narrowing.only(candidates);
  }
  return narrowing.narrowed;
}
