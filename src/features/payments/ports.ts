import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Address } from "../../platform/chain/client.ts";
import type { NetworkState } from "../../platform/chain/state.ts";
import type { Database, Reader, Tx } from "../../platform/database/index.ts";

/** Why a transfer is an invoice's: a rule of matching, or somebody's decision. */
export type MatchRule =
  "exclusive_address" | "exact_amount" | "within_tolerance" | "submitted_hash" | "allocated";
