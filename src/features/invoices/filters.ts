import { invalidField } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import type { Bound, Condition } from "../../platform/database/facets.ts";
import {
  createdBounds,
  equals,
  paidBounds,
  unindexed,
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
import type { InvoiceStatus } from "./rules.ts";
import type { InvoiceRow } from "./store.ts";

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
export type InvoiceSortField = "createdAt" | "paidAt" | "amount";

export const invoiceOrders: Readonly<Record<InvoiceSortField, ListOrder>> = {
  createdAt: byId,
  paidAt: byTime("paid_at"),
  amount: byAmount("amount"),
};

export interface InvoiceFilters extends TimeFilters {
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
  /** By default `-createdAt`, and `-paidAt` where a time of payment is given. */
  readonly sort?: InvoiceSort | undefined;
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

/** The position of an invoice in a list of this sort. */
export function positionIn(sort: InvoiceSort, { id, paidAt, amount }: InvoiceRow): string {
  const field = fieldOf<InvoiceSortField>(sort);
  return positionOf(invoiceOrders[field], field === "paidAt" ? paidAt : amount, id);
}

/** The filters on the columns of the facet, in the order of `invoiceFacet`; null for `wallets` leaves all wallets. */
export function facetFilterOf(
  { status, network, tokenSymbol, settlementCurrency }: InvoiceFilters,
  wallets: readonly string[] | null,
): FacetFilter {
  return [
    ["status", status],
    ["network", network === undefined ? null : [network]],
    ["token_symbol", tokenSymbol === undefined ? null : [tokenSymbol]],
    ["settlement_currency", settlementCurrency === undefined ? null : [settlementCurrency]],
    ["wallet_id", wallets],
  ];
}

/** The bounds of time that the order's index serves. */
export function boundsOf(field: InvoiceSortField, filters: InvoiceFilters): Bound[] {
  if (field === "createdAt") return createdBounds("invoice", filters);
  return field === "paidAt" ? paidBounds(filters) : [];
}

/** The filter by customer as a condition on a row. */
export function customerConditions({ customerId }: InvoiceFilters): Condition[] {
  return customerId === undefined ? [] : [equals(unindexed("customer_id"), customerId)];
}
