import type {
  HoldMatch,
  matchHolds,
  Settlement,
  watchedAddresses,
  watchedAmong,
} from "../invoices/index.ts";

/** Why a transfer is an invoice's: a rule of matching, or somebody's decision. */
export type MatchRule = HoldMatch["rule"] | "submitted_hash" | "allocated";

export interface Match extends Omit<HoldMatch, "rule"> {
  readonly rule: MatchRule;
}

/** What payments ask of invoices. */
export interface Invoices extends Settlement {
  readonly matchHolds: typeof matchHolds;
  readonly watchedAddresses: typeof watchedAddresses;
  readonly watchedAmong: typeof watchedAmong;
}
