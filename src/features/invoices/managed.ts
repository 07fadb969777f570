import { second, type Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { deadlineTime, networkState } from "../../platform/chain/state.ts";
import type { Tx } from "../../platform/database/index.ts";
import { announce, createdFields, type AnnouncerDependencies } from "./announce.ts";
import { draftRow, type DraftInput } from "./draft.ts";
import { ManagedByBilling } from "./errors.ts";
import { endHolds } from "./hold-matching.ts";
import { issue, planIssue, type IssueDependencies, type IssuingDecision } from "./issue.ts";
import { statusTerms, storedTotals } from "./payable.ts";
import { viewOf, type InvoiceView } from "./present.ts";
import { standingOf, settlementOf } from "./rules.ts";
import { appendInvoice } from "./search-terms.ts";
import { lockInvoices, type InvoiceRow } from "./store.ts";
import { invoices } from "./table.ts";
import { readTerms } from "./terms.ts";

/** What an invoice that is managed for its organization asks for. */
export type ManagedInput = Required<
  Pick<DraftInput, "amount" | "settlementCurrency" | "tokenSymbol" | "network">
> & {
  readonly walletId: Id<"wallet">;
  readonly metadata: Readonly<Record<string, string>>;
  readonly expiresAt: Instant;
};

/** Ordinary invoices that another part of the program issues, and that nobody else may change. */
export interface ManagedInvoices {
  /**
   * Finds out inside the caller's transaction how one may be paid, past the gates on issuing, and gives what issues it
   * there: until then nothing is locked that others issue by. Both throw as an ordinary create does: `no_wallet`,
   * `wallet_capacity_exhausted`, `network_not_ready`, `rate_unavailable`, `token_not_enabled` and so on.
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
   * Takes back an invoice that is not paid: its page tells payers to send nothing. What comes all the same counts, and
   * is told of like any payment. Gives whether there was something to take back.
   */
  withdraw(tx: Tx, at: Instant, invoice: InvoiceRow): Promise<boolean>;
}

/** What came for an invoice, in the smallest unit of its settlement currency. */
export interface Received {
  /** On the chain, confirmed or not. */
  readonly seen: bigint;
  readonly confirmed: bigint;
}

export function receivedBy(row: InvoiceRow): Received {
  const worth = (tokens: bigint) => settlementOf(tokens, row.amount, row.payableAmount);
  return { seen: worth(row.seenAmount), confirmed: worth(row.confirmedAmount) };
}

/** Refuses to change what somebody else manages: 409 `managed_by_billing`. */
export function requireUnmanaged(invoice: Pick<InvoiceRow, "managedBy">): void {
  if (invoice.managedBy === null) return;
  throw new ManagedByBilling(
    "This invoice collects a platform invoice and follows that one by itself: `till billing invoices` lists it. Give a credit or an adjustment to change what is owed.",
  );
}

/** Billing's own invoices pass every gate. */
const free: IssuingDecision = () => Promise.resolve();

export function makeManagedInvoices(
  deps: Omit<IssueDependencies, "issuingGate"> &
    AnnouncerDependencies & { readonly baseUrl: () => string },
): ManagedInvoices {
  const { ids, baseUrl } = deps;
  const ungated: IssueDependencies = { ...deps, issuingGate: () => Promise.resolve(free) };

  return {
    async prepare(tx, at, organizationId, { expiresAt, ...asked }) {
      const expiresInSeconds = Math.ceil((expiresAt - at) / second);
      const input = { ...asked, expiresInSeconds };
      const terms = readTerms(deps, input);
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
      // Everything that came for a canceled invoice is late, a part that came before too.
      const withdrawn = { ...row, canceledAt: at, isLate: row.isLate || row.seenAmount > 0n };
      const terms = statusTerms(withdrawn);
      const time = state === null ? at : deadlineTime(state, at);
      const standing = standingOf(terms, storedTotals(withdrawn), time);
      const after: InvoiceRow = {
        ...withdrawn,
        ...standing,
        remainingAmount: 0n,
        version: row.version + 1,
        updatedAt: at,
      };
      const { canceledAt, isLate, status, exception, remainingAmount, version, updatedAt } = after;
      await tx.update(
        invoices,
        { canceledAt, isLate, status, exception, remainingAmount, version, updatedAt },
        "WHERE id = $1",
        [row.id],
      );
      await endHolds(tx, row, at);
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
