import type { lateReviewers } from "../organizations/index.ts";
import type {
  HoldMatch,
  matchHolds,
  Settlement,
  watchedAddresses,
  watchedAmong,
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
