import type { Instant } from "../../kernel/clock.ts";
import { invalidField } from "../../kernel/errors.ts";
import { idFloor, type Id } from "../../kernel/id.ts";
import type { PageRequest } from "../../kernel/page.ts";
import {
  foldAscii,
  hasWords,
  metadataTerm,
  rarestWord,
  searchQuery,
  wordTerm,
  type SearchQuery,
} from "../../kernel/search.ts";
import {
  everyAlong,
  everyFacet,
  facetsMax,
  facetsOf,
  findAlong,
  startingWith,
  type Bound,
  type Condition,
  type Key,
  type Span,
  type Walk,
} from "../../platform/database/facets.ts";
import { encodeAmount, type Reader, type SqlValue } from "../../platform/database/index.ts";
import { listed } from "../../platform/database/json-rows.ts";
import { customerTexts, isFoundCustomer, searchCustomers } from "../customers/index.ts";
import { walletsAt } from "../wallets/index.ts";
import type { InvoiceStatus } from "./rules.ts";
import { invoicesById, type InvoiceRow } from "./store.ts";
import { invoiceFacet } from "./table.ts";

/** The orders of the list; `-` is descending. */
export const invoiceSorts = [
  "createdAt",
  "-createdAt",
  "paidAt",
  "-paidAt",
  "amount",
  "-amount",
] as const;
export type InvoiceSort = (typeof invoiceSorts)[number];

export interface InvoiceFilters {
  /** One of these. */
  readonly status?: readonly InvoiceStatus[] | undefined;
  readonly network?: string | undefined;
  readonly tokenSymbol?: string | undefined;
  readonly settlementCurrency?: string | undefined;
  readonly walletId?: Id<"wallet"> | undefined;
  readonly customerId?: Id<"customer"> | undefined;
  readonly externalId?: string | undefined;
  /** In the network's form. */
  readonly walletAddress?: string | undefined;
  /** 64 lower-case hex digits. */
  readonly transactionHash?: string | undefined;
  readonly metadata?: { readonly key: string; readonly value: string } | undefined;
  /** Words of publicId, externalId, description or customer. */
  readonly search?: string | undefined;
  /** From this moment on. */
  readonly createdFrom?: Instant | undefined;
  /** Before this moment. */
  readonly createdTo?: Instant | undefined;
  /** From this moment on. */
  readonly paidFrom?: Instant | undefined;
  /** Before this moment. */
  readonly paidTo?: Instant | undefined;
  /** By default `-createdAt`, and `-paidAt` where a time of payment is given. */
  readonly sort?: InvoiceSort | undefined;
}

/** Finds the invoices that a transaction pays; payments stand behind invoices, so compose fills it. */
export type InvoicesOfTransaction = (
  reader: Reader,
  organizationId: Id<"organization">,
  transactionHash: string,
) => Promise<readonly Id<"invoice">[]>;

/**
 * Invoices that a page examines at most, where its filters are not all served by one index. A filter that finds fewer
 * is answered exactly; where each of several finds more, the page may be short and its cursor goes on.
 */
export const examinedMax = 500;
/** Customers that a search may find before it is taken for one that finds very many invoices. */
const foundCustomersMax = 50;

type Order = "created" | "paid" | "amount";
const columnsOf: Readonly<Record<Order, readonly string[]>> = {
  created: ["id"],
  paid: ["paid_at", "id"],
  amount: ["amount", "id"],
};

/** A page of the list: its rows in order, and the position to go on at where the search stopped early. */
export interface InvoicePage {
  readonly rows: readonly InvoiceRow[];
  readonly resumeAt: string | null;
}

/** The order of a list by its filters. Refuses combinations that no index can serve: a 400 that says what to give. */
export function sortOf({
  sort,
  settlementCurrency,
  paidFrom,
  paidTo,
}: InvoiceFilters): InvoiceSort {
  const hasPaidTime = paidFrom !== undefined || paidTo !== undefined;
  const chosen = sort ?? (hasPaidTime ? "-paidAt" : "-createdAt");
  if (chosen.endsWith("amount") && settlementCurrency === undefined) {
    const message =
      "needs settlementCurrency beside it: amounts of several currencies have no order";
    throw invalidField({ parameter: "sort" }, "invalid_sort", message);
  }
  if (chosen.endsWith("createdAt") && hasPaidTime) {
    const message =
      "must be paidAt, -paidAt, amount or -amount beside paidFrom and paidTo; leave it out for -paidAt";
    throw invalidField({ parameter: "sort" }, "invalid_sort", message);
  }
  return chosen;
}

/** The position of an invoice in a list of this order. */
export function positionIn(sort: InvoiceSort, row: InvoiceRow): string {
  const order = orderOf(sort);
  if (order === "created") return row.id;
  const value = order === "paid" ? String(row.paidAt ?? 0) : row.amount.toString();
  return `${value}.${row.id}`;
}

/** A page of an organization's invoices. */
export async function listInvoices(
  reader: Reader,
  invoicesOfTransaction: InvoicesOfTransaction,
  organizationId: Id<"organization">,
  filters: InvoiceFilters,
  page: PageRequest,
): Promise<InvoicePage> {
  const sort = sortOf(filters);
  const order = orderOf(sort);
  const direction = sort.startsWith("-") ? "DESC" : "ASC";
  const listing: Listing = { reader, organizationId, filters, order };
  const wallets = await walletsOf(listing);
  const narrowed = await narrow(listing, invoicesOfTransaction, wallets);
  const span: Span = {
    facets: null,
    after: page.after === null ? null : keyOf(order, page.after),
    bounds: boundsOf(order, filters),
    conditions: narrowed.conditions,
    // A search looks at the texts of all that the other filters leave.
    fetch: narrowed.search === null ? page.fetch : examinedMax + facetsMax,
  };
  const walk: Walk = {
    ...{ table: "invoices", facet: null, order: columnsOf[order], direction },
    scope: [["organization_id", organizationId]],
  };
  if (narrowed.ids !== null) {
    // They are few, so each is looked up by its id, whatever order they are in.
    const most = narrowed.search === null ? page.fetch : narrowed.ids.length;
    const conditions = [
      ...span.conditions,
      ...facetConditions(filters, wallets),
      ...customerCondition(filters),
    ];
    const { keys } = await everyAlong(
      reader,
      { ...walk, facet: "id" },
      { ...span, facets: narrowed.ids, conditions, fetch: Math.max(1, most) },
    );
    return take(listing, page, keys, null, narrowed.search);
  }
  const along = await alongIndex(listing, walk, span, wallets);
  // What is searched for is compared here, row by row, so that the walk must stop after so many.
  const conditions =
    narrowed.search === null ? along.span.conditions : [...along.span.conditions, always];
  const { keys, resumeAt } = await findAlong(
    reader,
    along.walk,
    { ...along.span, conditions },
    examinedMax,
  );
  return take(listing, page, keys, resumeAt, narrowed.search);
}

interface Listing {
  readonly reader: Reader;
  readonly organizationId: Id<"organization">;
  readonly filters: InvoiceFilters;
  readonly order: Order;
}

const always: Condition = () => "1 = 1";

/** The rows of keys, of which a search drops those that it does not find. */
async function take(
  { reader }: Listing,
  page: PageRequest,
  keys: readonly Key[],
  resumeAt: Key | null,
  search: SearchQuery | null,
): Promise<InvoicePage> {
  const ids = keys.map((key) => key.at(-1) as Id<"invoice">);
  const found = search === null ? ids : await searched(reader, ids, search);
  const shown = found.slice(0, page.fetch);
  const rows = new Map((await invoicesById(reader, shown)).map((row) => [row.id, row]));
  return {
    rows: shown.flatMap((id) => rows.get(id) ?? []),
    resumeAt: resumeAt === null ? null : positionOfKey(resumeAt),
  };
}

async function searched(
  reader: Reader,
  ids: readonly Id<"invoice">[],
  query: SearchQuery,
): Promise<readonly Id<"invoice">[]> {
  if (ids.length === 0) return [];
  const rows = await reader.all<
    Pick<InvoiceRow, "id" | "publicId" | "externalId" | "description" | "customerId">
  >(
    `SELECT id AS "id", public_id AS "publicId", external_id AS "externalId", description AS "description",
       customer_id AS "customerId" FROM invoices WHERE id IN ${listed(reader.dialect, 1)}`,
    [JSON.stringify(ids)],
  );
  const customers = await customerTexts(
    reader,
    rows.flatMap(({ customerId }) => customerId ?? []),
  );
  const found = new Set(
    rows
      .filter(({ publicId, externalId, description, customerId }) => {
        const customer = customerId === null ? undefined : customers.get(customerId);
        return (
          publicId === query.folded ||
          (externalId !== null && foldAscii(externalId).startsWith(query.folded)) ||
          hasWords(description ?? "", query) ||
          (customer !== undefined && isFoundCustomer(customer, query))
        );
      })
      .map(({ id }) => id),
  );
  return ids.filter((id) => found.has(id));
}

/** The walk along the index that fits the filters, with what it leaves to be checked row by row. */
async function alongIndex(
  { reader, filters, order }: Listing,
  walk: Walk,
  span: Span,
  wallets: readonly string[] | null,
): Promise<{ walk: Walk; span: Span }> {
  const { status, network, tokenSymbol, settlementCurrency, customerId } = filters;
  const ofCustomer = order === "created" && customerId !== undefined;
  const isNarrowed = [status, network, tokenSymbol, settlementCurrency, wallets].some(
    (each) => each != null,
  );
  if (order === "created" && !ofCustomer && !isNarrowed) return { walk, span };
  const scope = ofCustomer ? [...walk.scope, ["customer_id", customerId] as const] : walk.scope;
  const faceted = {
    ...{ ...walk, scope, facet: invoiceFacet },
    ...(order === "paid" ? { where: "paid_at IS NOT NULL" } : {}),
    ...(ofCustomer ? { where: "customer_id IS NOT NULL" } : {}),
  };
  const ranges = status?.map((each) => startingWith(`${each} `)) ?? [everyFacet];
  const facets = await facetsOf(reader, faceted, ranges);
  if (facets !== null) {
    const left = facets.filter((facet) => isLeft(facet, filters, wallets));
    return { walk: faceted, span: { ...span, facets: left } };
  }
  if (order !== "created") {
    const message =
      "has too many kinds of invoices to sort; filter by status and walletId beside it";
    throw invalidField({ parameter: "sort" }, "invalid_sort", message);
  }
  const rest = facetConditions(filters, wallets);
  const customer: Condition[] = ofCustomer
    ? [(bind) => `${unindexed("customer_id")} = ${bind(customerId)}`]
    : [];
  return { walk, span: { ...span, conditions: [...span.conditions, ...rest, ...customer] } };
}

/** Whether the filters leave a facet, as `invoiceFacet` writes it. */
function isLeft(
  facet: string,
  filters: InvoiceFilters,
  wallets: readonly string[] | null,
): boolean {
  const [, network, token, currency, wallet = ""] = facet.split(" ");
  const { network: asked, tokenSymbol, settlementCurrency } = filters;
  return (
    (asked === undefined || asked === network) &&
    (tokenSymbol === undefined || tokenSymbol === token) &&
    (settlementCurrency === undefined || settlementCurrency === currency) &&
    (wallets === null || wallets.includes(wallet))
  );
}

/** The same filters as conditions on a row. */
function facetConditions(filters: InvoiceFilters, wallets: readonly string[] | null): Condition[] {
  const { status, network, tokenSymbol, settlementCurrency } = filters;
  const among = (column: string, given: readonly string[] | null | undefined): Condition[] =>
    given == null
      ? []
      : [(bind) => `one.${column} IN (${given.map((value) => bind(value)).join(", ") || "NULL"})`];
  const equal = (column: string, value: string | undefined): Condition[] =>
    value === undefined ? [] : [(bind) => `one.${column} = ${bind(value)}`];
  return [
    ...among("status", status),
    ...equal("network", network),
    ...equal("token_symbol", tokenSymbol),
    ...equal("settlement_currency", settlementCurrency),
    ...among("wallet_id", wallets),
  ];
}

/** The wallets that the filters leave; null where they leave all. */
async function walletsOf({
  reader,
  organizationId,
  filters,
}: Listing): Promise<readonly string[] | null> {
  const { walletId, walletAddress } = filters;
  if (walletAddress === undefined) return walletId === undefined ? null : [walletId];
  const at = await walletsAt(reader, organizationId, walletAddress);
  // Nobody's own address: one that an extended key gave to a single invoice, if any.
  if (at.length === 0) return walletId === undefined ? null : [walletId];
  return walletId === undefined ? at : at.filter((id) => id === walletId);
}

/** What the filters beside the facets leave. */
interface Narrowed {
  /** The invoices, where a filter finds few; null where each finds many. */
  readonly ids: readonly Id<"invoice">[] | null;
  readonly conditions: readonly Condition[];
  /** Null where nothing is searched for. */
  readonly search: SearchQuery | null;
}

async function narrow(
  listing: Listing,
  invoicesOfTransaction: InvoicesOfTransaction,
  wallets: readonly string[] | null,
): Promise<Narrowed> {
  const { reader, organizationId, filters, order } = listing;
  const { externalId, walletAddress, transactionHash, metadata, customerId } = filters;
  const conditions: Condition[] = [];
  const sets: (readonly Id<"invoice">[])[] = [];
  const ids = async (rest: string, ...values: SqlValue[]) => {
    const rows = await reader.all<{ id: Id<"invoice"> }>(
      `SELECT id AS "id" FROM invoices WHERE organization_id = $1 AND ${rest} LIMIT ${String(examinedMax + 1)}`,
      [organizationId, ...values],
    );
    return rows.map(({ id }) => id);
  };
  /** Few are looked up; of many each row is checked. */
  const keep = (found: readonly Id<"invoice">[], ...many: Condition[]) => {
    if (found.length > examinedMax) conditions.push(...many);
    else sets.push(found);
  };
  if (externalId !== undefined) {
    sets.push(await ids("lower(external_id) = lower($2) AND external_id = $2", externalId));
  }
  if (transactionHash !== undefined) {
    sets.push(await invoicesOfTransaction(reader, organizationId, transactionHash));
  }
  if (walletAddress !== undefined) {
    const at: Condition = (bind) => `${unindexed("wallet_address")} = ${bind(walletAddress)}`;
    if (wallets !== null && wallets.length > 0 && filters.walletId === undefined)
      conditions.push(at);
    else keep(await ids("wallet_address = $2 AND address_index IS NOT NULL", walletAddress), at);
  }
  if (metadata !== undefined) {
    const term = metadataTerm(metadata.key, metadata.value);
    keep(
      await terms(reader, organizationId, "term = $2", term),
      (bind) =>
        `(SELECT COUNT(*) FROM invoice_terms AS its WHERE its.organization_id = one.organization_id
           AND its.term = ${bind(term)} AND its.invoice_id = one.id) = 1`,
    );
  }
  if (order !== "created" && customerId !== undefined) {
    keep(
      await ids("customer_id = $2 AND customer_id IS NOT NULL", customerId),
      (bind) => `${unindexed("customer_id")} = ${bind(customerId)}`,
    );
  }
  const created = createdBounds(filters);
  if (order !== "created" && created.length > 0) {
    const { keys } = await findAlong(
      reader,
      {
        ...{ table: "invoices", facet: null, order: ["id"], direction: "DESC" },
        scope: [["organization_id", organizationId]],
      },
      { facets: null, after: null, bounds: created, conditions: [], fetch: examinedMax + 1 },
      examinedMax,
    );
    keep(
      keys.map(([id]) => id as Id<"invoice">),
      ...checkedBounds(unindexed("id"), created),
    );
  }
  if (order !== "paid") conditions.push(...checkedBounds("(one.paid_at + 0)", paidBounds(filters)));
  const search = filters.search === undefined ? null : searchQuery(filters.search);
  if (search !== null) {
    const candidates = await candidatesOf(listing, search);
    if (candidates !== null) sets.push(candidates);
  }
  const [first, ...others] = sets;
  return {
    ids: first === undefined ? null : first.filter((id) => others.every((set) => set.includes(id))),
    conditions,
    search,
  };
}

/**
 * A column as no index has it. Conditions that are checked row by row must not tempt the database away from the index
 * that has the order: it would sort everything that another index finds.
 */
const unindexed = (column: string) => `(one.${column} || '')`;

/** Every invoice that a search may find, and some that it does not; null where there are many. */
async function candidatesOf(
  { reader, organizationId }: Listing,
  query: SearchQuery,
): Promise<readonly Id<"invoice">[] | null> {
  const most = examinedMax + 1;
  const word = rarestWord(query);
  const customers = await searchCustomers(reader, organizationId, query, foundCustomersMax);
  if (customers === null) return null;
  const find = async (rest: string, ...values: SqlValue[]) => {
    const rows = await reader.all<{ id: Id<"invoice"> }>(
      `SELECT id AS "id" FROM invoices WHERE organization_id = $1 AND ${rest} LIMIT ${String(most)}`,
      [organizationId, ...values],
    );
    return rows.map(({ id }) => id);
  };
  const found = await Promise.all([
    find("public_id = $2", query.folded),
    find(
      "lower(external_id) >= $2 AND lower(external_id) < $3 AND external_id IS NOT NULL",
      ...startingWith(query.folded),
    ),
    word === undefined
      ? []
      : terms(reader, organizationId, "term >= $2 AND term < $3", ...startingWith(wordTerm(word))),
    customers.length === 0
      ? []
      : find(
          `customer_id IN ${listed(reader.dialect, 2)} AND customer_id IS NOT NULL`,
          JSON.stringify(customers),
        ),
  ]);
  const ids = [...new Set(found.flat())];
  return ids.length > examinedMax ? null : ids;
}

async function terms(
  reader: Reader,
  organizationId: Id<"organization">,
  condition: string,
  ...values: SqlValue[]
): Promise<Id<"invoice">[]> {
  const rows = await reader.all<{ id: Id<"invoice"> }>(
    `SELECT invoice_id AS "id" FROM invoice_terms WHERE organization_id = $1 AND ${condition}
     LIMIT ${String(examinedMax + 1)}`,
    [organizationId, ...values],
  );
  return rows.map(({ id }) => id);
}

/** The bounds of time that the order's index serves. */
function boundsOf(order: Order, filters: InvoiceFilters): Bound[] {
  if (order === "created") return createdBounds(filters);
  return order === "paid" ? paidBounds(filters) : [];
}

/** Ids sort by time, so bounds of time are bounds of the id. */
function createdBounds({ createdFrom, createdTo }: InvoiceFilters): Bound[] {
  const floor = (time: Instant | undefined) =>
    time === undefined ? undefined : idFloor("invoice", time);
  return [...bound(">=", floor(createdFrom)), ...bound("<", floor(createdTo))];
}

function paidBounds({ paidFrom, paidTo }: InvoiceFilters): Bound[] {
  return [...bound(">=", paidFrom), ...bound("<", paidTo)];
}

function bound(comparison: Bound["comparison"], value: SqlValue | undefined): Bound[] {
  return value === undefined ? [] : [{ comparison, value }];
}

/** Bounds of a column that the order's index does not have, to be checked row by row. */
function checkedBounds(column: string, bounds: readonly Bound[]): Condition[] {
  return bounds.map(
    ({ comparison, value }) =>
      (bind) =>
        `${column} ${comparison} ${bind(value)}`,
  );
}

function customerCondition({ customerId }: InvoiceFilters): Condition[] {
  return customerId === undefined
    ? []
    : [(bind) => `${unindexed("customer_id")} = ${bind(customerId)}`];
}

function orderOf(sort: InvoiceSort): Order {
  if (sort.endsWith("paidAt")) return "paid";
  return sort.endsWith("amount") ? "amount" : "created";
}

function keyOf(order: Order, position: string): Key {
  if (order === "created") return [position];
  const [, value, id] = /^(\d{1,78})\.(inv_\w+)$/.exec(position) ?? [];
  if (value === undefined || id === undefined) {
    const message =
      "must be the nextCursor of this list with these filters; leave it out to start again";
    throw invalidField({ parameter: "cursor" }, "invalid_cursor", message);
  }
  return [order === "paid" ? Number(value) : encodeAmount(BigInt(value)), id];
}

function positionOfKey(key: Key): string {
  const id = String(key.at(-1));
  const [value] = key;
  if (key.length === 1) return id;
  return `${typeof value === "number" ? String(value) : BigInt(value ?? 0).toString()}.${id}`;
}
