import { invalidField } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Address } from "../../platform/chain/client.ts";
import type { Bound } from "../../platform/database/facets.ts";
import {
  createdBounds,
  paidBounds,
  type FacetFilter,
  type TimeFilters,
} from "../../platform/database/list-filters.ts";
import {
  byAmount,
  byId,
  byTime,
  fieldOf,
  positionOf,
  type ListOrder,
} from "../../platform/database/list-order.ts";
import type { PaymentStatus } from "./status.ts";
import type { PaymentRow } from "./table.ts";

/** The orders of the list; `-` is descending. */
export const paymentSorts = [
  "createdAt",
  "-createdAt",
  "blockTime",
  "-blockTime",
  "amount",
  "-amount",
] as const;
export type PaymentSort = (typeof paymentSorts)[number];
export type PaymentSortField = "createdAt" | "blockTime" | "amount";

export const paymentOrders: Readonly<Record<PaymentSortField, ListOrder>> = {
  createdAt: byId,
  blockTime: byTime("block_time"),
  amount: byAmount("amount"),
};

export interface PaymentFilters extends TimeFilters {
  /** Undefined: the payments of every organization. */
  readonly organizationId?: Id<"organization"> | undefined;
  readonly invoiceId?: Id<"invoice"> | undefined;
  /** One of these. */
  readonly status?: readonly PaymentStatus[] | undefined;
  readonly network?: string | undefined;
  readonly tokenSymbol?: string | undefined;
  /** 64 lower-case hex digits. */
  readonly transactionHash?: string | undefined;
  /** The sender's. */
  readonly fromAddress?: Address | undefined;
  /** By default `-createdAt`, and `-blockTime` where a time of payment is given. */
  readonly sort?: PaymentSort | undefined;
}

/** The order of a list by its filters. Refuses combinations that no index can serve: a 400 that says what to give. */
export function sortOf(filters: PaymentFilters): PaymentSort {
  const { sort, organizationId, network, tokenSymbol, paidFrom, paidTo } = filters;
  const hasPaidTime = paidFrom !== undefined || paidTo !== undefined;
  const chosen = sort ?? (hasPaidTime ? "-blockTime" : "-createdAt");
  const field = fieldOf<PaymentSortField>(chosen);
  if (field === "createdAt" && hasPaidTime) {
    const message =
      "must be blockTime, -blockTime, amount or -amount beside paidFrom and paidTo; leave it out for -blockTime";
    throw invalidField({ parameter: "sort" }, "invalid_sort", message);
  }
  if (field === "amount" && (network === undefined || tokenSymbol === undefined)) {
    const message =
      "needs network and tokenSymbol beside it: amounts of several tokens have no order";
    throw invalidField({ parameter: "sort" }, "invalid_sort", message);
  }
  if (field !== "createdAt" && organizationId === undefined) {
    const message =
      "is needed beside paidFrom, paidTo and a sort by blockTime or amount: they are served for one organization";
    throw invalidField({ parameter: "organizationId" }, "required", message);
  }
  return chosen;
}

/** The position of a payment in a list of this sort. */
export function positionIn(sort: PaymentSort, { id, blockTime, amount }: PaymentRow): string {
  const field = fieldOf<PaymentSortField>(sort);
  return positionOf(paymentOrders[field], field === "blockTime" ? blockTime : amount, id);
}

/** The filters on the columns of the facet, in the order of `paymentFacet`. */
export function facetFilterOf({ status, network, tokenSymbol }: PaymentFilters): FacetFilter {
  return [
    ["status", status],
    ["network", network === undefined ? null : [network]],
    ["token", tokenSymbol === undefined ? null : [tokenSymbol]],
  ];
}

/** The bounds of time that the order's index serves. */
export function boundsOf(field: PaymentSortField, filters: PaymentFilters): Bound[] {
  if (field === "createdAt") return createdBounds("payment", filters);
  return field === "blockTime" ? paidBounds(filters) : [];
}
