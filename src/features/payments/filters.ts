import { invalidField } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Address } from "../../platform/chain/client.ts";
import type { Bound } from "../../platform/database/query/facets.ts";
import {
  byAmount,
  byId,
  byTime,
  createdBounds,
  fieldOf,
  paidBounds,
  positionOf,
  type FacetFilter,
  type ListOrder,
  type TimeFilters,
} from "../../platform/database/query/lists.ts";
import type { PaymentStatus } from "./payment-status.ts";
import type { PaymentRow } from "./table.ts";

/** The sort orders of the list; `-` is descending. */
export const paymentSorts = [
  "createdAt",
  "-createdAt",
  "blockTime",
  "-blockTime",
  "amount",
  "-amount",
] as const;
type PaymentSort = (typeof paymentSorts)[number];
export type PaymentSortField = "createdAt" | "blockTime" | "amount";

export const paymentOrders: Readonly<Record<PaymentSortField, ListOrder>> = {
  createdAt: byId,
  blockTime: byTime("block_time"),
  amount: byAmount("amount"),
};

export interface PaymentFilters extends TimeFilters {
  /** If undefined, the payments of every organization. */
  readonly organizationId?: Id<"organization"> | undefined;
  readonly invoiceId?: Id<"invoice"> | undefined;
  /** Any of these statuses. */
  readonly status?: readonly PaymentStatus[] | undefined;
  readonly network?: string | undefined;
  readonly tokenSymbol?: string | undefined;
  /** 64 lower-case hex digits. */
  readonly transactionHash?: string | undefined;
  /** The sender's address. */
  readonly fromAddress?: Address | undefined;
  /** The wallet whose address, or an address of whose extended key, received the transfer. */
  readonly walletId?: Id<"wallet"> | undefined;
  /** Default: `-createdAt`, or `-blockTime` with `paidFrom` or `paidTo`. */
  readonly sort?: PaymentSort | undefined;
}

/** Returns the sort order for some filters. Throws a 400 for combinations that no index can serve. */
export function sortOf(filters: PaymentFilters): PaymentSort {
  const { sort, organizationId, network, tokenSymbol, paidFrom, paidTo } = filters;
  const hasPaidTime = paidFrom !== undefined || paidTo !== undefined;
  const chosen = sort ?? (hasPaidTime ? "-blockTime" : "-createdAt");
  const field = fieldOf<PaymentSortField>(chosen);
  if (field === "createdAt" && hasPaidTime) {
    const message =
      "must be blockTime, -blockTime, amount or -amount when paidFrom or paidTo is set; leave it out for -blockTime";
    throw invalidField({ parameter: "sort" }, "invalid_sort", message);
  }
  if (field === "amount" && (network === undefined || tokenSymbol === undefined)) {
    const message =
      "requires network and tokenSymbol: amounts of different tokens cannot be compared";
    throw invalidField({ parameter: "sort" }, "invalid_sort", message);
  }
  if (field !== "createdAt" && organizationId === undefined) {
    const message =
      "is required with paidFrom, paidTo, and a sort by blockTime or amount: they work for one organization only";
    throw invalidField({ parameter: "organizationId" }, "required", message);
  }
  return chosen;
}

/** Returns the position of a payment in a list with this sort order. */
export function positionIn(sort: PaymentSort, { id, blockTime, amount }: PaymentRow): string {
  const field = fieldOf<PaymentSortField>(sort);
  return positionOf(paymentOrders[field], field === "blockTime" ? blockTime : amount, id);
}

/** Returns the filters on the facet's columns, in the order of `paymentFacet`. */
export function facetFilterOf({ status, network, tokenSymbol }: PaymentFilters): FacetFilter {
  return [
    ["status", status],
    ["network", network === undefined ? null : [network]],
    ["token", tokenSymbol === undefined ? null : [tokenSymbol]],
  ];
}

/** Returns the time bounds that the index of the sort order serves. */
export function boundsOf(field: PaymentSortField, filters: PaymentFilters): Bound[] {
  if (field === "createdAt") return createdBounds("payment", filters);
  return field === "blockTime" ? paidBounds(filters) : [];
}
