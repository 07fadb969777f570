import type { Id } from "../../../kernel/id.ts";
import { metadataTerm, type SearchQuery } from "../../../kernel/search.ts";
import type { Reader } from "../../../platform/database/database.ts";
import {
  checkedBounds,
  createdBounds,
  equals,
  idsWithin,
  makeNarrowing,
  paidBounds,
  unindexed,
  unindexedNumber,
  type Narrowed,
} from "../../../platform/database/query/list-filters.ts";
import { walletsAt } from "../../wallets/store.ts";
import type { InvoiceHooks } from "../hooks.ts";
import { customerConditions, type InvoiceFilters, type InvoiceSortField } from "./filters.ts";
import { invoiceIdsWhere } from "../store.ts";
import { searchCandidates } from "./text-search.ts";

/** The wallets that match the filters. */
interface MatchingWallets {
  /** Null: all. */
  readonly wallets: readonly string[] | null;
  /** Whether `walletAddress` is an address that invoices share, not one of an extended key. */
  readonly isAddressShared: boolean;
}

/** A requested list of an organization's invoices. */
export interface Listing extends MatchingWallets {
  readonly reader: Reader;
  readonly organizationId: Id<"organization">;
  readonly filters: InvoiceFilters;
  readonly field: InvoiceSortField;
}

/** Returns the wallets that match the filters. */
export async function findWallets(
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
export async function narrowInvoices(
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
