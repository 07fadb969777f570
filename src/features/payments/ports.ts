import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Address } from "../../platform/chain/client.ts";
import type { NetworkState } from "../../platform/chain/state.ts";
import type { Database, Reader, Tx } from "../../platform/database/index.ts";

/** Why a transfer is an invoice's: a rule of matching, or somebody's decision. */
export type MatchRule =
  "exclusive_address" | "exact_amount" | "within_tolerance" | "submitted_hash" | "allocated";

/** A transfer that no invoice has yet. */
export interface MatchCandidate {
  readonly key: string;
  /** The token's symbol. */
  readonly token: string;
  readonly address: Address;
  readonly amount: bigint;
  readonly blockTime: Instant;
}

export interface Match {
  readonly invoiceId: Id<"invoice">;
  readonly organizationId: Id<"organization">;
  readonly rule: MatchRule;
}

/** What an issued invoice asks for, as far as its payments go. */
export interface InvoiceTerms {
  readonly organizationId: Id<"organization">;
  /** In the smallest unit of the settlement currency. */
  readonly amount: bigint;
  readonly settlementCurrency: string;
  readonly settlementDecimals: number;
  readonly tokenDecimals: number;
  /** Tokens that are worth `amount`, in the token's smallest unit. */
  readonly payableAmount: bigint;
  /** Tokens from which on the invoice is whole: `payableAmount` less its tolerance. */
  readonly dueAmount: bigint;
  readonly requiredConfirmations: number;
  readonly expiresAt: Instant;
  readonly isCanceled: boolean;
  /** What becomes of money that comes after `expiresAt`. */
  readonly latePolicy: "accept" | "review";
}

/** An invoice's payments together; amounts in the token's smallest unit. */
export interface PaymentTotals {
  /** Confirming and confirmed. */
  readonly seen: bigint;
  readonly confirmed: bigint;
  /** Money that came after `expiresAt`, or for a canceled invoice, before it was whole. */
  readonly isLate: boolean;
  /** A reorganisation took counted money away, and it is not back. */
  readonly isReverted: boolean;
  /** The block of the least confirmed counted payment. */
  readonly latestBlock: number | null;
  /** The block time of the payment that made it whole. */
  readonly completedAt: Instant | null;
}

/** What payments ask of invoices. */
export interface Invoices {
  /** The addresses with a live hold on the network, as many of them as `limit`. */
  watchedAddresses(reader: Reader, network: string, limit: number): Promise<readonly Address[]>;
  /** Which of these addresses have a live hold on the network. */
  watchedAmong(
    reader: Reader,
    network: string,
    addresses: readonly Address[],
  ): Promise<readonly Address[]>;
  /** Which live holds transfers belong to, in one statement; those of nobody are not in the answer. */
  matchHolds(
    tx: Tx,
    network: string,
    candidates: readonly MatchCandidate[],
  ): Promise<ReadonlyMap<string, Match>>;
  /** Locks invoices, in the order of their ids, and gives their terms. */
  lockTerms(
    tx: Tx,
    invoiceIds: readonly Id<"invoice">[],
  ): Promise<ReadonlyMap<Id<"invoice">, InvoiceTerms>>;
  /** Writes totals and what follows from them: status, exception, holds on what remains, events. */
  settleInvoices(
    tx: Tx,
    network: string,
    totals: ReadonlyMap<Id<"invoice">, PaymentTotals>,
    state: NetworkState,
    at: Instant,
  ): Promise<void>;
  /** Expires what is due by the scanned tip's time, a bounded batch; gives how many there were. */
  sweepDeadlines(db: Database, network: string, state: NetworkState, at: Instant): Promise<number>;
}
