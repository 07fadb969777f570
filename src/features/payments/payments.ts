import type { App, InTx } from "../../app.ts";
import { Defect, invalidField, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import {
  parsePage,
  toPartialPage,
  type Page,
  type PageQuery,
  type PageRequest,
} from "../../kernel/page.ts";
import { notationOf } from "../../platform/chain/networks.ts";
import { networkStates } from "../../platform/chain/state/network-state.ts";
import type { Reader } from "../../platform/database/database.ts";
import {
  everyAlong,
  examinedMax,
  findAlong,
  type Condition,
  type Span,
  type Walk,
} from "../../platform/database/query/facets.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
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
  organizationFilter,
  type ListOwner,
  type Narrowed,
} from "../../platform/database/query/lists.ts";
import type { SqlValue } from "../../platform/database/schema/table.ts";
import { isReceiverSql } from "../wallets/store.ts";
import type { PaymentView } from "./records.ts";
import {
  boundsOf,
  facetFilterOf,
  paymentOrders,
  positionIn,
  sortOf,
  type PaymentFilters,
  type PaymentSortField,
} from "./filters.ts";
import { findPayment, paymentsOfInvoice, transfersById } from "./ledger/store.ts";
import { paymentFacet, payments, type PaymentRow } from "./table.ts";

/** Returns an organization's payments, or for the platform all, newest first or in the requested order. */
export async function listPayments(
  app: App,
  owner: ListOwner,
  { limit, cursor, ...given }: Omit<PaymentFilters, "organizationId"> & PageQuery,
): Promise<Page<PaymentView>> {
  const { db } = app;
  const filters = { ...given, organizationId: organizationFilter(owner) };
  const sort = sortOf(filters);
  const page = parsePage({ limit, cursor }, "payments", { ...filters, sort });
  const { rows, resumeAt } = await findPayments(db, filters, page);
  const positionAt = ({ payment }: PaymentView) => positionIn(sort, payment);
  return toPartialPage(await viewsOf(db, app, rows), page, positionAt, resumeAt);
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

/** A page of the list: its rows in order, and the position at which to resume if the search stopped early. */
export interface PaymentPage {
  readonly rows: readonly PaymentRow[];
  readonly resumeAt: string | null;
}

/** Returns a page of payments. */
export async function findPayments(
  reader: Reader,
  filters: PaymentFilters,
  page: PageRequest,
): Promise<PaymentPage> {
  const sort = sortOf(filters);
  const field = fieldOf<PaymentSortField>(sort);
  const order = paymentOrders[field];
  const { organizationId } = filters;
  const walk: Walk = {
    table: "payments",
    facet: null,
    order: order.columns,
    direction: directionOf(sort),
    scope: organizationId === undefined ? [] : [["organization_id", organizationId]],
  };
  const narrowed = await narrowPayments(reader, walk, filters, field);
  const span: Span = {
    facets: null,
    after: page.after === null ? null : keyAt(order, page.after),
    bounds: boundsOf(field, filters),
    conditions: narrowed.conditions,
    fetch: page.fetch,
  };
  const { keys, resumeAt } =
    narrowed.ids === null
      ? await findInOrder(reader, walk, span, filters, field)
      : await findAmong(reader, walk, span, filters, narrowed.ids);
  const ids = keys.map((key) => key.at(-1) as Id<"payment">);
  const rows = await reader.find(payments, `WHERE id IN ${listed(reader.dialect, 1)}`, [
    JSON.stringify(ids),
  ]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return {
    rows: ids.flatMap((id) => byId.get(id) ?? []),
    resumeAt: resumeAt === null ? null : positionOfKey(order, resumeAt),
  };
}

/** Finds the keys of a few payments by looking up each id, whatever the sort order. */
function findAmong(
  reader: Reader,
  walk: Walk,
  span: Span,
  filters: PaymentFilters,
  ids: readonly string[],
) {
  const conditions = [
    ...span.conditions,
    ...facetConditions(facetFilterOf(filters)),
    ...invoiceConditions(filters),
  ];
  return everyAlong(reader, { ...walk, facet: "id" }, { ...span, facets: ids, conditions });
}

function invoiceConditions({ invoiceId }: PaymentFilters): Condition[] {
  return invoiceId === undefined ? [] : [equals(unindexed("invoice_id"), invoiceId)];
}

/**
 * Returns true if a page is found along the facets: in every order but that of creation, and in that order for filters on
 * the facet's columns, unless the payments of one invoice are listed, which have an index of their own.
 */
export function isAlongFacets(field: PaymentSortField, filters: PaymentFilters): boolean {
  if (field !== "createdAt") return true;
  const isNarrowed = facetFilterOf(filters).some(([, accepted]) => accepted != null);
  return isNarrowed && filters.invoiceId === undefined;
}

/** Finds the keys along the index that fits the filters. */
async function findInOrder(
  reader: Reader,
  walk: Walk,
  span: Span,
  filters: PaymentFilters,
  field: PaymentSortField,
) {
  const filter = facetFilterOf(filters);
  if (isAlongFacets(field, filters)) {
    const faceted = { ...walk, facet: paymentFacet };
    const along = await alongFacets(reader, faceted, span, filter);
    if (along !== null) return findAlong(reader, faceted, along);
    if (field !== "createdAt") {
      const message =
        "matches too many combinations of status, network and token to sort; filter by status and network as well";
      throw invalidField({ parameter: "sort" }, "invalid_sort", message);
    }
  }
  const { invoiceId } = filters;
  const scope =
    invoiceId === undefined ? walk.scope : [...walk.scope, ["invoice_id", invoiceId] as const];
  const conditions = [...span.conditions, ...facetConditions(filter)];
  return findAlong(reader, { ...walk, scope }, { ...span, conditions });
}

/** Returns the conditions of the filters that the facet does not cover. */
async function narrowPayments(
  reader: Reader,
  { table, scope }: Walk,
  filters: PaymentFilters,
  field: PaymentSortField,
): Promise<Narrowed> {
  const { organizationId, invoiceId, transactionHash, fromAddress, walletId } = filters;
  const narrowing = makeNarrowing();
  const idsOf = async (from: string, values: readonly SqlValue[]) => {
    const rows = await reader.all<{ id: string }>(
      `SELECT id AS "id" FROM ${from} LIMIT ${String(examinedMax + 1)}`,
      values,
    );
    return rows.map(({ id }) => id);
  };
  const narrow = async (column: string, value: string, condition: string, values: SqlValue[]) => {
    const check: Condition = (bind) =>
      `(SELECT its.${column} FROM transfers AS its WHERE its.id = one.transfer_id) = ${bind(value)}`;
    const transfers = await idsOf(`transfers WHERE ${condition}`, values);
    if (transfers.length > examinedMax) {
      narrowing.check(check);
      return;
    }
    const theirs = `payments WHERE transfer_id IN ${listed(reader.dialect, 1)}`;
    narrowing.onlyOrCheck(await idsOf(theirs, [JSON.stringify(transfers)]), check);
  };
  if (transactionHash !== undefined) {
    await narrow("transaction_hash", transactionHash, "transaction_hash = $1", [transactionHash]);
  }
  if (fromAddress !== undefined) {
    const [own, values] =
      organizationId === undefined ? ["", []] : [" AND organization_id = $2", [organizationId]];
    await narrow("from_address", fromAddress, `from_address = $1${own}`, [fromAddress, ...values]);
  }
  if (walletId !== undefined) {
    narrowing.check(
      (bind) => `EXISTS (
        SELECT 1 FROM transfers AS its WHERE its.id = one.transfer_id
          AND ${isReceiverSql(bind(walletId), { organization: "one.organization_id", network: "its.network", address: "its.to_address", invoice: "one.invoice_id", optionWallet: "one.wallet_id" })}
      )`,
    );
  }
  if (field !== "createdAt" && invoiceId !== undefined) {
    narrowing.onlyOrCheck(
      await idsOf("payments WHERE invoice_id = $1", [invoiceId]),
      ...invoiceConditions(filters),
    );
  }
  const created = createdBounds("payment", filters);
  if (field !== "createdAt" && created.length > 0) {
    narrowing.onlyOrCheck(
      await idsWithin(reader, { table, scope }, created),
      ...checkedBounds(unindexed("id"), created),
    );
  }
  if (field !== "blockTime") {
    narrowing.check(...checkedBounds(unindexedNumber("block_time"), paidBounds(filters)));
  }
  return narrowing.narrowed;
}

/** The number of an invoice's payments that an error names. */
const namedMax = 3;

/** Returns the first payments that count for an invoice, and the number of all of them. */
export async function countingPayments(
  reader: Reader,
  invoiceId: Id<"invoice">,
): Promise<{ readonly first: readonly Id<"payment">[]; readonly count: number }> {
  const rows = await reader.all<{ id: Id<"payment">; count: number }>(
    `SELECT id AS "id", CAST(count(*) OVER () AS integer) AS "count" FROM payments
     WHERE invoice_id = $1 AND status IN ('confirming', 'confirmed') ORDER BY id LIMIT ${String(namedMax)}`,
    [invoiceId],
  );
  return { first: rows.map(({ id }) => id), count: rows[0]?.count ?? 0 };
}

/** Returns the invoices of an organization that have payments, in any status, by a transaction. */
export async function invoicesOfTransaction(
  reader: Reader,
  organizationId: Id<"organization">,
  transactionHash: string,
): Promise<readonly Id<"invoice">[]> {
  const rows = await reader.all<{ id: Id<"invoice"> }>(
    // The cross join makes SQLite look up the transfers first instead of reading all payments of the organization.
    `SELECT DISTINCT payments.invoice_id AS "id" FROM transfers CROSS JOIN payments
     WHERE transfers.transaction_hash = $1 AND payments.transfer_id = transfers.id
     AND (payments.organization_id || '') = $2`,
    [transactionHash, organizationId],
  );
  return rows.map(({ id }) => id);
}
