import type { Instant } from "../../kernel/clock.ts";
import type { IdSource } from "../../kernel/id.ts";
import type { Auditor } from "../../platform/audit/index.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { NetworkState } from "../../platform/chain/state.ts";
import type { Outbox } from "../../platform/events/index.ts";
import type { Invoices } from "./ports.ts";
import type { Candidate } from "./verify.ts";
import type { TimedLog, WindowDifference } from "./window.ts";

export interface LedgerDeps {
  readonly ids: IdSource;
  readonly auditor: Auditor;
  readonly outbox: Outbox;
  readonly invoices: Invoices;
}

/** What a look at a network brings to the ledger. */
export interface Entry {
  readonly network: Network;
  /** The state as the same transaction stores it. */
  readonly state: NetworkState;
  readonly difference: WindowDifference<TimedLog>;
  /** Payments whose receipts were found good. */
  readonly verified: readonly Candidate[];
  readonly at: Instant;
}
