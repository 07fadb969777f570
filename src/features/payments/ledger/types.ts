import type { Instant } from "../../../kernel/clock.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import type { Journal } from "../../../platform/journal/index.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { LockedTerms } from "../../invoices/settlement/terms-to-pay.ts";
import type { PaymentRow } from "../table.ts";
import type { Invoices } from "./invoices-port.ts";
import type { Candidate } from "../watcher/receipt-verifier.ts";
import type { TimedLog, WindowDifference } from "./chain-diff.ts";

export interface LedgerDeps {
  readonly ids: IdSource;
  readonly journal: Journal;
  readonly invoices: Invoices;
  readonly refunds: RefundRequests;
}

/** The function of refunds that payments use. */
export interface RefundRequests {
  /** Rejects the requested refunds of payments that no longer have the surplus for them. */
  withdraw(tx: Tx, paymentIds: readonly Id<"payment">[], at: Instant): Promise<void>;
}

/** The network, its state and the time of a change to payments. */
export interface ChainContext {
  readonly network: Network;
  /** The network's state as stored in the same transaction. */
  readonly state: NetworkState;
  readonly at: Instant;
}

/** The findings of a scan that the payment ledger enters. */
export interface ChainDiffInput extends ChainContext {
  readonly difference: WindowDifference<TimedLog>;
  /** Payments whose receipts were verified. */
  readonly verified: readonly Candidate[];
  /** The hashes of holds' marks, at or above transfers of the difference, that the chain has. */
  readonly marks: readonly string[];
}

export type TermsOf = ReadonlyMap<Id<"invoice">, LockedTerms>;

/** A payment as stored, null for a new one, and as it becomes. */
export interface PaymentChange {
  readonly before: PaymentRow | null;
  readonly after: PaymentRow;
}
