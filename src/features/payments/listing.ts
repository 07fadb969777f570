import type { Instant } from "../../kernel/clock.ts";
import { idFloor, type Id } from "../../kernel/id.ts";
import type { PageRequest } from "../../kernel/page.ts";
import type { Address } from "../../platform/chain/client.ts";
import {
  everyAlong,
  everyFacet,
  facetsOf,
  findAlong,
  startingWith,
  type Bound,
  type Condition,
  type Walk,
} from "../../platform/database/facets.ts";
import type { Reader, SqlValue } from "../../platform/database/index.ts";
import { listed } from "../../platform/database/json-rows.ts";
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

/** Payments that a page examines at most, where its filters are not all served by one index. */
const examinedMax = 500;

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
  const { walk, facets, conditions } = await alongIndex(reader, filters);
  const transfers = await transfersOf(reader, filters);
  const span = {
    facets,
    after: page.after === null ? null : [page.after],
    bounds: createdBounds(filters),
    conditions: [...conditions, ...transfers.conditions],
    fetch: page.fetch,
  };
  const { keys, resumeAt } =
    transfers.ids === null
      ? await findAlong(reader, walk, span, examinedMax)
      : await everyAlong(
          reader,
          { ...walk, facet: "transfer_id" },
          { ...span, facets: transfers.ids },
        );
  const ids = keys.map(([id]) => id as Id<"payment">);
  const rows = await reader.find(payments, `WHERE id IN ${listed(reader.dialect, 1)}`, [
    JSON.stringify(ids),
  ]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return {
    rows: ids.flatMap((id) => byId.get(id) ?? []),
    resumeAt: resumeAt === null ? null : String(resumeAt[0]),
  };
}

/** The walk along the index that fits the filters, with what it leaves to be checked row by row. */
async function alongIndex(
  reader: Reader,
  filters: PaymentFilters,
): Promise<{ walk: Walk; facets: readonly string[] | null; conditions: readonly Condition[] }> {
  const { organizationId, invoiceId, status, network, tokenSymbol, sort = "-createdAt" } = filters;
  const owner: Walk["scope"] =
    organizationId === undefined ? [] : [["organization_id", organizationId]];
  const direction = sort === "createdAt" ? "ASC" : "DESC";
  const walk: Walk = { table: "payments", scope: owner, facet: null, order: ["id"], direction };
  const facetConditions: Condition[] = [
    ...equal("network", network),
    ...equal("token", tokenSymbol),
    ...(status === undefined
      ? []
      : [
          ((bind) =>
            `one.status IN (${status.map((each) => bind(each)).join(", ")})`) satisfies Condition,
        ]),
  ];
  if (invoiceId !== undefined || hasTransfer(filters)) {
    const scope = [
      ...owner,
      ...(invoiceId === undefined ? [] : [["invoice_id", invoiceId] as const]),
    ];
    return { walk: { ...walk, scope }, facets: null, conditions: facetConditions };
  }
  if (facetConditions.length === 0) return { walk, facets: null, conditions: [] };
  const faceted = { ...walk, facet: paymentFacet };
  const ranges = status?.map((each) => startingWith(`${each} `)) ?? [everyFacet];
  const facets = await facetsOf(reader, faceted, ranges);
  if (facets === null) return { walk, facets, conditions: facetConditions };
  const left = facets.filter((facet) => {
    const [, its, token] = facet.split(" ");
    return (network ?? its) === its && (tokenSymbol ?? token) === token;
  });
  return { walk: faceted, facets: left, conditions: [] };
}

const hasTransfer = ({ transactionHash, fromAddress }: PaymentFilters) =>
  transactionHash !== undefined || fromAddress !== undefined;

/** The transfers that the filters name: few are looked up by their payments, of many each payment is checked. */
async function transfersOf(
  reader: Reader,
  { organizationId, transactionHash, fromAddress }: PaymentFilters,
): Promise<{ ids: readonly string[] | null; conditions: readonly Condition[] }> {
  const sets: (readonly string[])[] = [];
  const conditions: Condition[] = [];
  const find = async (column: string, value: string, condition: string, values: SqlValue[]) => {
    const rows = await reader.all<{ id: string }>(
      `SELECT id AS "id" FROM transfers WHERE ${condition} LIMIT ${String(examinedMax + 1)}`,
      values,
    );
    if (rows.length <= examinedMax) {
      sets.push(rows.map(({ id }) => id));
      return;
    }
    conditions.push(
      (bind) =>
        `(SELECT its.${column} FROM transfers AS its WHERE its.id = one.transfer_id) = ${bind(value)}`,
    );
  };
  if (transactionHash !== undefined) {
    await find("transaction_hash", transactionHash, "transaction_hash = $1", [transactionHash]);
  }
  if (fromAddress !== undefined && organizationId !== undefined) {
    const values = [organizationId, fromAddress];
    await find("from_address", fromAddress, "organization_id = $1 AND from_address = $2", values);
  }
  const [first, ...others] = sets;
  const ids = first?.filter((id) => others.every((set) => set.includes(id))) ?? null;
  return { ids, conditions };
}

/** Ids sort by time, so bounds of time are bounds of the id. */
function createdBounds({ createdFrom, createdTo }: PaymentFilters): Bound[] {
  const at = (comparison: Bound["comparison"], time: Instant | undefined): Bound[] =>
    time === undefined ? [] : [{ comparison, value: idFloor("payment", time) }];
  return [...at(">=", createdFrom), ...at("<", createdTo)];
}

function equal(column: string, value: string | undefined): Condition[] {
  return value === undefined ? [] : [(bind) => `one.${column} = ${bind(value)}`];
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
