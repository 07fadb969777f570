import type { InTx } from "../../app.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import type { InvoiceRow } from "./store.ts";

/** The calls of invoices to the features that depend on them: payments and billing. src/hooks.ts assigns them. */
export interface InvoiceHooks {
  /**
   * Throws if the organization may not issue invoices: `organization_not_verified`, or an error of billing. Returns the
   * decision for the issuing transaction.
   */
  mayIssue(reader: Reader, app: InTx, organizationId: Id<"organization">): Promise<IssuingDecision>;
  /** Called inside the transaction with the changed invoices that are managed, in their new state. */
  managedChanged(tx: Tx, app: InTx, at: Instant, invoices: readonly InvoiceRow[]): Promise<void>;
  /**
   * Counts invoices of links against the plans of their organizations, or takes counts back unless their period has been
   * billed. Returns the time at which each counts now; null for one that does not.
   */
  countStarted(
    tx: Tx,
    at: Instant,
    started: readonly StartedInvoice[],
  ): Promise<readonly (Instant | null)[]>;
  /** Returns the payments that count for an invoice. */
  countingPayments(reader: Reader, invoiceId: Id<"invoice">): Promise<CountingPayments>;
  /** Finds the invoices that a transaction pays. */
  invoicesOfTransaction(
    reader: Reader,
    organizationId: Id<"organization">,
    transactionHash: string,
  ): Promise<readonly Id<"invoice">[]>;
}

/** The permission to issue, as read before the transaction that issues. */
export interface IssuingDecision {
  /**
   * Decides again on rows that it locks, and counts invoices against the plan's limit. Grants at least one of `count`
   * invoices; throws the errors of `mayIssue` before it changes anything. `count` 0 requires room for an invoice that
   * counts later.
   */
  grant(tx: Tx, at: Instant, count: number): Promise<Grant>;
  /** Takes invoices that were granted and counted, and that the same transaction does not issue, out of the count. */
  giveBack(tx: Tx, count: number): Promise<void>;
}

export interface Grant {
  /** How many invoices may be issued. */
  readonly count: number;
  /**
   * Whether they were counted, because the plan has a limit. If not, other transactions may share the locks of the
   * grant, and giving back would wait for them.
   */
  readonly isCounted: boolean;
}

/** The decision without a limit. */
export const unlimited: IssuingDecision = {
  grant: (_tx, _at, count) => Promise.resolve({ count, isCounted: false }),
  giveBack: () => Promise.resolve(),
};

/** An invoice that a payer started at a link, and whose money has just been seen first, or has gone. */
interface StartedInvoice {
  readonly organizationId: Id<"organization">;
  /** Null: it is to be counted. Otherwise a reorganization removed its money, and the count is to be taken back. */
  readonly countedAt: Instant | null;
}

/** Some of the payments that count for an invoice, oldest first, and the number of all of them. */
export interface CountingPayments {
  readonly first: readonly Id<"payment">[];
  readonly count: number;
}
