import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { HoldMatch } from "../../invoices/holds/matching.ts";
import type { LockedTerms } from "../../invoices/settlement/terms-to-pay.ts";
import type { MatchRule } from "../payment-status.ts";
import type { PaymentRow } from "../table.ts";
import type { Candidate } from "../watcher/receipt-verifier.ts";
import type { TimedLog, WindowDifference } from "./chain-diff.ts";

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

/** The invoice that a transfer pays, and the rule that says so. */
export interface Match extends Omit<HoldMatch, "rule"> {
  readonly rule: MatchRule;
}

export type TermsOf = ReadonlyMap<Id<"invoice">, LockedTerms>;

/** A payment as stored, null for a new one, and as it becomes. */
export interface PaymentChange {
  readonly before: PaymentRow | null;
  readonly after: PaymentRow;
}
