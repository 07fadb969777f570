import type { Id } from "../../kernel/id.ts";
import type { PageRequest } from "../../kernel/page.ts";
import type { Address } from "../../platform/chain/client.ts";
import type { Instant } from "../../kernel/clock.ts";
import {
  everyAlong,
  examinedMax,
  findAlong,
  type Condition,
  type Span,
  type Walk,
} from "../../platform/database/facets.ts";
import type { Reader, SqlValue } from "../../platform/database/index.ts";
import { listed } from "../../platform/database/json-rows.ts";
import {
  alongFacets,
  createdBounds,
  facetConditions,
  makeNarrowing,
  type FacetFilter,
  type Narrowed,
} from "../../platform/database/list-filters.ts";
import { byId, directionOf, keyAt, positionOfKey } from "../../platform/database/list-order.ts";
import type { PaymentStatus } from "./status.ts";
import { paymentFacet, payments, type PaymentRow } from "./table.ts";

/** The orders of the list; `-` is descending. */
export const paymentSorts = ["createdAt", "-createdAt"] as const;
export type PaymentSort = (typeof paymentSorts)[number];

export interface PaymentFilters {
  /** Undefined: the payments of every organization. */
  readonly organizationId?: Id<"organization"> | undefined;
  readonly invoiceId?: Id<"invoice"> | undefined;
  /** One of these. */
  readonly status?: readonly PaymentStatus[] | undefined;
  readonly network?: string | undefined;
  readonly tokenSymbol?: string | undefined;
  /** 64 lower-case hex digits. */
  readonly transactionHash?: string | undefined;
  /** The sender's; only beside an organization. */
  readonly fromAddress?: Address | undefined;
  /** From this moment on. */
  readonly createdFrom?: Instant | undefined;
  /** Before this moment. */
  readonly createdTo?: Instant | undefined;
  /** By default `-createdAt`. */
  readonly sort?: PaymentSort | undefined;
}

/** A page of the list: its rows in order, and the position to go on at where the search stopped early. */
export interface PaymentPage {
  readonly rows: readonly PaymentRow[];
  readonly resumeAt: string | null;
}

/** A page of payments. */
export async function listPayments(
  reader: Reader,
  filters: PaymentFilters,
  page: PageRequest,
): Promise<PaymentPage> {
  const { organizationId, invoiceId, sort = "-createdAt" } = filters;
  const transfers = await narrowTransfers(reader, filters);
  const walk: Walk = {
    ...{ table: "payments", facet: null, order: byId.columns, direction: directionOf(sort) },
    scope: [
      ...(organizationId === undefined ? [] : [["organization_id", organizationId] as const]),
      ...(invoiceId === undefined ? [] : [["invoice_id", invoiceId] as const]),
    ],
  };
  const span: Span = {
    facets: null,
    after: page.after === null ? null : keyAt(byId, page.after),
    bounds: createdBounds("payment", filters),
    conditions: transfers.conditions,
    fetch: page.fetch,
  };
  const { keys, resumeAt } =
    transfers.ids === null
      ? await findInOrder(reader, walk, span, filters)
      : await everyAlong(
          reader,
          { ...walk, facet: "transfer_id" },
          {
            ...span,
            facets: transfers.ids,
            conditions: [...span.conditions, ...facetConditions(facetFilterOf(filters))],
          },
        );
  const ids = keys.map((key) => key.at(-1) as Id<"payment">);
  const rows = await reader.find(payments, `WHERE id IN ${listed(reader.dialect, 1)}`, [
    JSON.stringify(ids),
  ]);
  const byPaymentId = new Map(rows.map((row) => [row.id, row]));
  return {
    rows: ids.flatMap((id) => byPaymentId.get(id) ?? []),
    resumeAt: resumeAt === null ? null : positionOfKey(byId, resumeAt),
  };
}

/** The filters on the columns of the facet, in the order of `paymentFacet`. */
function facetFilterOf({ status, network, tokenSymbol }: PaymentFilters): FacetFilter {
  return [
    ["status", status],
    ["network", network === undefined ? null : [network]],
    ["token", tokenSymbol === undefined ? null : [tokenSymbol]],
  ];
}

/** The keys along the index that fits the filters. */
async function findInOrder(reader: Reader, walk: Walk, span: Span, filters: PaymentFilters) {
  const filter = facetFilterOf(filters);
  const isNarrowed = filter.some(([, accepted]) => accepted != null);
  if (isNarrowed && filters.invoiceId === undefined) {
    const faceted = { ...walk, facet: paymentFacet };
    const along = await alongFacets(reader, faceted, span, filter);
    if (along !== null) return findAlong(reader, faceted, along);
  }
  const conditions = [...span.conditions, ...facetConditions(filter)];
  return findAlong(reader, walk, { ...span, conditions });
}

/** The transfers that the filters name: few are looked up by their payments, of many each payment is checked. */
async function narrowTransfers(
  reader: Reader,
  { organizationId, transactionHash, fromAddress }: PaymentFilters,
): Promise<Narrowed> {
  const narrowing = makeNarrowing();
  const narrow = async (condition: string, values: readonly SqlValue[], check: Condition) => {
    const rows = await reader.all<{ id: string }>(
      `SELECT id AS "id" FROM transfers WHERE ${condition} LIMIT ${String(examinedMax + 1)}`,
      values,
    );
    narrowing.onlyOrCheck(
      rows.map(({ id }) => id),
      check,
    );
  };
  const itsTransfer = (column: string, value: string): Condition => {
    return (bind) =>
      `(SELECT its.${column} FROM transfers AS its WHERE its.id = one.transfer_id) = ${bind(value)}`;
  };
  if (transactionHash !== undefined) {
    const check = itsTransfer("transaction_hash", transactionHash);
    await narrow("transaction_hash = $1", [transactionHash], check);
  }
  if (fromAddress !== undefined && organizationId !== undefined) {
    const values = [organizationId, fromAddress];
    const check = itsTransfer("from_address", fromAddress);
    await narrow("organization_id = $1 AND from_address = $2", values, check);
  }
  return narrowing.narrowed;
}

/** The invoices of an organization that a transaction pays, or was said to pay. */
export async function invoicesOfTransaction(
  reader: Reader,
  organizationId: Id<"organization">,
  transactionHash: string,
): Promise<readonly Id<"invoice">[]> {
  const rows = await reader.all<{ id: Id<"invoice"> }>(
    // A cross join has SQLite look the transfers up first: it would read all of the organization's payments otherwise.
    `SELECT DISTINCT payments.invoice_id AS "id" FROM transfers CROSS JOIN payments
     WHERE transfers.transaction_hash = $1 AND payments.transfer_id = transfers.id
     AND (payments.organization_id || '') = $2`,
    [transactionHash, organizationId],
  );
  return rows.map(({ id }) => id);
}
