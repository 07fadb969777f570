import type { lateReviewers } from "../organizations/index.ts";
import type {
  HoldMatch,
  matchHolds,
  oldestHold,
  Settlement,
  watchedAddresses,
  watchedAmong,
  watchedSince,
} from "../invoices/index.ts";
import type { MatchRule } from "./status.ts";

export interface Match extends Omit<HoldMatch, "rule"> {
  readonly rule: MatchRule;
}

/** What payments ask of invoices. */
export interface Invoices extends Settlement {
  readonly matchHolds: typeof matchHolds;
  readonly watchedAddresses: typeof watchedAddresses;
  readonly watchedAmong: typeof watchedAmong;
  /** Those of some organizations whose late money waits for them. */
  readonly lateReviewers: typeof lateReviewers;
}

/** Since when addresses are looked for, and since when an invoice can have been paid. */
export interface WatchTimes {
  readonly watchedSince: typeof watchedSince;
  readonly oldestHold: typeof oldestHold;
}
