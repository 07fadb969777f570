import type { InTx } from "../../app.ts";
import { second, type Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { deadlineTime, networkState } from "../../platform/chain/state/network-state.ts";
import type { Tx } from "../../platform/database/database.ts";
import { announceInvoice, createdFields } from "./issuing/announce.ts";
import { draftRow } from "./issuing/create.ts";
import { planIssue, readOffer, type TermsInput } from "./issuing/plan.ts";
import { ManagedByBilling } from "./errors.ts";
import { endHolds } from "./holds/matching.ts";
import { issueInvoice } from "./issuing/issue.ts";
import { unlimited } from "./hooks.ts";
import { statusTerms, storedTotals } from "./settlement/terms-to-pay.ts";
import { type InvoiceView, viewOf } from "./records.ts";
import { invoiceStateOf } from "./rules.ts";
import { appendInvoice } from "./search/text-search.ts";
import { settlementOf } from "./options/quotes.ts";
import type { InvoiceRow } from "./store.ts";
import { invoices } from "./table.ts";

/** The input of a managed invoice. */
type ManagedInput = TermsInput & {
  readonly walletId: Id<"wallet">;
  readonly metadata: Readonly<Record<string, string>>;
  readonly expiresAt: Instant;
};

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

/**
 * Plans the issue of a managed invoice inside the caller's transaction, without asking whether the organization may issue
 * invoices, and returns the function that issues it there. Nothing that other issues need is locked before that function
 * runs. Both throw the errors of an ordinary create: `no_wallet`, `wallet_capacity_exhausted`, `network_not_ready`,
 * `rate_unavailable`, `token_not_enabled` and others.
 */
export async function prepareManagedInvoice(
  tx: Tx,
  app: InTx,
  at: Instant,
  organizationId: Id<"organization">,
  { expiresAt, ...asked }: ManagedInput,
): Promise<(description: string) => Promise<InvoiceView>> {
  const expiresInSeconds = Math.ceil((expiresAt - at) / second);
  const input = { ...asked, expiresInSeconds };
  const terms = readOffer(app, input);
  const plan = await planIssue(tx, app, unlimited, organizationId, terms, asked.walletId, at);
  return async (description) => {
    const draft = draftRow(app.ids, at, organizationId, { ...input, description }, terms, null);
    const row = await issueInvoice(tx, app, at, { ...draft, managedBy: "billing" }, plan);
    appendInvoice(tx, row);
    const view = viewOf(row, app.baseUrl(), null);
    announceInvoice(
      tx,
      app,
      at,
      { types: ["invoice.created"], previousStatus: null, changes: createdFields(view) },
      view,
    );
    return view;
  };
}

/**
 * Withdraws an unpaid managed invoice: its checkout page tells payers not to pay. A payment that arrives nevertheless
 * counts, and emits events like any other. Returns false if the invoice was already canceled or paid.
 */
export async function withdrawInvoice(
  tx: Tx,
  app: InTx,
  at: Instant,
  row: InvoiceRow,
): Promise<boolean> {
  if (row.canceledAt !== null || row.status === "paid") return false;
  const state = await networkState(tx, row.network);
  // All payments of a canceled invoice count as late, including a part that arrived earlier.
  const withdrawn = { ...row, canceledAt: at, isLate: row.isLate || row.seenAmount > 0n };
  const terms = statusTerms(withdrawn);
  const time = state === null ? at : deadlineTime(state, at);
  const withdrawnState = invoiceStateOf(terms, storedTotals(withdrawn), time);
  const lateUntil = await endHolds(tx, row, at);
  const after: InvoiceRow = {
    ...withdrawn,
    ...withdrawnState,
    lateUntil,
    remainingAmount: 0n,
    version: row.version + 1,
    updatedAt: at,
  };
  const { canceledAt, isLate, status, exception, remainingAmount, version, updatedAt } = after;
  const changed = { canceledAt, lateUntil, isLate, status, exception, remainingAmount };
  await tx.update(invoices, { ...changed, version, updatedAt }, "WHERE id = $1", [row.id]);
  announceInvoice(
    tx,
    app,
    at,
    {
      types: [status === "canceled" ? "invoice.canceled" : "invoice.updated"],
      previousStatus: row.status,
      changes: { status: { from: row.status, to: status } },
    },
    viewOf(after, app.baseUrl(), state?.tipHeight ?? null),
  );
  return true;
}

/** The payments received for an invoice, in the smallest unit of its settlement currency. */
interface Received {
  /** On the chain, whether confirmed or not. */
  readonly seen: bigint;
  readonly confirmed: bigint;
}

export function receivedBy(row: InvoiceRow): Received {
  const worth = (tokens: bigint) => settlementOf(tokens, row);
  return { seen: worth(row.seenAmount), confirmed: worth(row.confirmedAmount) };
}
