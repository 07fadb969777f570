import { invalidField } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Bound, Condition } from "../../../platform/database/query/facets.ts";
import {
  byAmount,
  byId,
  byTime,
  createdBounds,
  equals,
  fieldOf,
  paidBounds,
  positionOf,
  unindexed,
  type FacetFilter,
  type ListOrder,
  type TimeFilters,
} from "../../../platform/database/query/lists.ts";
import type { InvoiceStatus } from "../rules.ts";
import type { InvoiceRow } from "../store.ts";

/** The sort orders of the list; `-` means descending. */
export const invoiceSorts = [
  "createdAt",
  "-createdAt",
  "paidAt",
  "-paidAt",
  "amount",
  "-amount",
] as const;
type InvoiceSort = (typeof invoiceSorts)[number];
export type InvoiceSortField = "createdAt" | "paidAt" | "amount";

export const invoiceOrders: Readonly<Record<InvoiceSortField, ListOrder>> = {
  createdAt: byId,
  paidAt: byTime("paid_at"),
  amount: byAmount("amount"),
};

export interface InvoiceFilters extends TimeFilters {
  /** Any of these. */
  readonly status?: readonly InvoiceStatus[] | undefined;
  readonly network?: string | undefined;
  readonly tokenSymbol?: string | undefined;
  readonly settlementCurrency?: string | undefined;
  readonly walletId?: Id<"wallet"> | undefined;
  readonly customerId?: Id<"customer"> | undefined;
  readonly externalId?: string | undefined;
  /** In the network's notation. */
  readonly walletAddress?: string | undefined;
  /** 64 lower-case hexadecimal digits. */
  readonly transactionHash?: string | undefined;
  readonly metadata?: { readonly key: string; readonly value: string } | undefined;
  /** Words of the description or customer, or the publicId or externalId. */
  readonly search?: string | undefined;
  /** Default: `-createdAt`, or `-paidAt` if a payment time is given. */
  readonly sort?: InvoiceSort | undefined;
}

/**
 * Returns the order of a list with these filters. Rejects combinations that no index can serve, with a 400 that says
 * what to change.
 */
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
      "requires settlementCurrency: amounts in different currencies cannot be compared";
    throw invalidField({ parameter: "sort" }, "invalid_sort", message);
  }
  if (chosen.endsWith("createdAt") && hasPaidTime) {
    const message =
      "must be paidAt, -paidAt, amount or -amount together with paidFrom or paidTo; omit it for -paidAt";
    throw invalidField({ parameter: "sort" }, "invalid_sort", message);
  }
  return chosen;
}

/** Returns the position of an invoice in a list of this order. */
export function positionIn(sort: InvoiceSort, { id, paidAt, amount }: InvoiceRow): string {
  const field = fieldOf<InvoiceSortField>(sort);
  return positionOf(invoiceOrders[field], field === "paidAt" ? paidAt : amount, id);
}

/** Returns the filters on the facet's columns, in the order of `invoiceFacet`; null for `wallets` means all wallets. */
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

/** Returns the time bounds that the order's index serves. */
export function boundsOf(field: InvoiceSortField, filters: InvoiceFilters): Bound[] {
  if (field === "createdAt") return createdBounds("invoice", filters);
  return field === "paidAt" ? paidBounds(filters) : [];
}

/** Returns the customer filter as a condition on a row. */
export function customerConditions({ customerId }: InvoiceFilters): Condition[] {
  return customerId === undefined ? [] : [equals(unindexed("customer_id"), customerId)];
}
