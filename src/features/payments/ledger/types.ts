import type { Instant } from "../../../kernel/clock.ts";
import type { IdSource } from "../../../kernel/id.ts";
import type { Journal } from "../../../platform/journal/index.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { Invoices } from "./invoices-port.ts";
import type { Candidate } from "../watcher/receipt-verifier.ts";
import type { TimedLog, WindowDifference } from "./chain-diff.ts";

export interface LedgerDeps {
  readonly ids: IdSource;
  readonly journal: Journal;
  readonly invoices: Invoices;
}

/** The findings of a scan that the payment ledger enters. */
export interface ChainDiffInput {
  readonly network: Network;
  /** The network's state as stored in the same transaction. */
  readonly state: NetworkState;
  readonly difference: WindowDifference<TimedLog>;
  /** Payments whose receipts were verified. */
  readonly verified: readonly Candidate[];
  readonly at: Instant;
}
