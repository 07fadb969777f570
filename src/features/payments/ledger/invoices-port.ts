import type { lateReviewers } from "../../organizations/store.ts";
import type { HoldMatch, matchHolds } from "../../invoices/holds/matching.ts";
import type {
  oldestHold,
  watchedAddresses,
  watchedAmong,
  watchedSince,
} from "../../invoices/holds/watched-addresses.ts";
import type { Settlement } from "../../invoices/settlement/settlement.ts";
import type { MatchRule } from "../payment-status.ts";

export interface Match extends Omit<HoldMatch, "rule"> {
  readonly rule: MatchRule;
}

/** The functions of invoices that payments use. */
export interface Invoices extends Settlement {
  readonly matchHolds: typeof matchHolds;
  readonly watchedAddresses: typeof watchedAddresses;
  readonly watchedAmong: typeof watchedAmong;
  /** Returns the given organizations whose policy is to review late payments. */
  readonly lateReviewers: typeof lateReviewers;
}

/** Returns since when addresses are watched, and since when an open hold can have been paid. */
export interface WatchTimes {
  readonly watchedSince: typeof watchedSince;
  readonly oldestHold: typeof oldestHold;
}
