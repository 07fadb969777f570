import { second, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { deadlineTime, networkState } from "../../../platform/chain/state/network-state.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { announce, createdFields, type AnnouncerDependencies } from "../issuing/announce.ts";
import { draftRow } from "../issuing/draft.ts";
import type { TermsInput } from "../issuing/terms.ts";
import { ManagedByBilling } from "../errors.ts";
import { endHolds } from "../holds/matching.ts";
import { issue } from "../issuing/issue.ts";
import { planIssue, type IssueDependencies, unlimited } from "../issuing/plan.ts";
import { statusTerms, storedTotals } from "../settlement/terms-to-pay.ts";
import { viewOf, type InvoiceView } from "../present.ts";
import { invoiceStateOf } from "../rules.ts";
import { appendInvoice } from "../search/search-terms.ts";
import { lockInvoices, type InvoiceRow } from "../store.ts";
import { invoices } from "../table.ts";
import { readOffer } from "../options/requested.ts";

/** The input of a managed invoice. */
export type ManagedInput = TermsInput & {
  readonly walletId: Id<"wallet">;
  readonly metadata: Readonly<Record<string, string>>;
  readonly expiresAt: Instant;
};

/** Ordinary invoices that another feature issues and manages, and that nobody else may change. */
export interface ManagedInvoices {
  /**
   * Plans the issue of an invoice inside the caller's transaction, without the gates on issuing, and returns the
   * function that issues it there. Nothing that other issues need is locked before that function runs. Both throw the
   * errors of an ordinary create: `no_wallet`, `wallet_capacity_exhausted`, `network_not_ready`, `rate_unavailable`,
   * `token_not_enabled` and others.
   */
  prepare(
    tx: Tx,
    at: Instant,
    organizationId: Id<"organization">,
    input: ManagedInput,
  ): Promise<(description: string) => Promise<InvoiceView>>;
  /** Locks managed invoices in the order of their ids. */
  lock(tx: Tx, invoiceIds: readonly Id<"invoice">[]): Promise<InvoiceRow[]>;
  /**
   * Withdraws an unpaid invoice: its checkout page tells payers not to pay. A payment that arrives nevertheless counts,
   * and emits events like any other. Returns false if the invoice was already canceled or paid.
   */
  withdraw(tx: Tx, at: Instant, invoice: InvoiceRow): Promise<boolean>;
}

/** Rejects changes to a managed invoice: 409 `managed_by_billing`. */
export function requireUnmanaged(invoice: Pick<InvoiceRow, "managedBy">): void {
  if (invoice.managedBy === null) return;
  throw new ManagedByBilling(
    "Billing manages this invoice, which collects a platform invoice: `till billing invoices` lists that one. To change the amount owed, give a credit or an adjustment.",
  );
}

/** Returns the organization that a managed invoice bills, as its `metadata` names it; null for other invoices. */
export function billedOrganization({
  managedBy,
  metadata,
}: Pick<InvoiceRow, "managedBy" | "metadata">): string | null {
  return managedBy === null ? null : (metadata["organizationId"] ?? null);
}

export function makeManagedInvoices(
  deps: Omit<IssueDependencies, "issuingGate"> &
    AnnouncerDependencies & { readonly baseUrl: () => string },
): ManagedInvoices {
  const { ids, baseUrl } = deps;
  // Billing's own invoices pass every gate.
  const ungated: IssueDependencies = { ...deps, issuingGate: () => Promise.resolve(unlimited) };

  return {
    async prepare(tx, at, organizationId, { expiresAt, ...asked }) {
      const expiresInSeconds = Math.ceil((expiresAt - at) / second);
      const input = { ...asked, expiresInSeconds };
      const terms = readOffer(deps, input);
      const plan = await planIssue(tx, ungated, organizationId, terms, asked.walletId, at);
      return async (description) => {
        const draft = draftRow(ids, at, organizationId, { ...input, description }, terms, null);
        const row = await issue(tx, ungated, { ...draft, managedBy: "billing" }, plan, at);
        appendInvoice(tx, row);
        const view = viewOf(row, baseUrl(), null);
        announce(
          deps,
          tx,
          at,
          { types: ["invoice.created"], previousStatus: null, changes: createdFields(view) },
          view,
        );
        return view;
      };
    },

    lock: (tx, invoiceIds) => lockInvoices(tx, invoiceIds),

    async withdraw(tx, at, row) {
      if (row.canceledAt !== null || row.status === "paid") return false;
      const state = await networkState(tx, row.network);
      // All payments of a canceled invoice count as late, including a part that arrived earlier.
      const withdrawn = { ...row, canceledAt: at, isLate: row.isLate || row.seenAmount > 0n };
      const terms = statusTerms(withdrawn);
      const time = state === null ? at : deadlineTime(state, at);
      const standing = invoiceStateOf(terms, storedTotals(withdrawn), time);
      const lateUntil = await endHolds(tx, row, at);
      const after: InvoiceRow = {
        ...withdrawn,
        ...standing,
        lateUntil,
        remainingAmount: 0n,
        version: row.version + 1,
        updatedAt: at,
      };
      const { canceledAt, isLate, status, exception, remainingAmount, version, updatedAt } = after;
      const changed = { canceledAt, lateUntil, isLate, status, exception, remainingAmount };
      await tx.update(invoices, { ...changed, version, updatedAt }, "WHERE id = $1", [row.id]);
      announce(
        deps,
        tx,
        at,
        {
          types: [status === "canceled" ? "invoice.canceled" : "invoice.updated"],
          previousStatus: row.status,
          changes: { status: { from: row.status, to: status } },
        },
        viewOf(after, baseUrl(), state?.tipHeight ?? null),
      );
      return true;
    },
  };
}
