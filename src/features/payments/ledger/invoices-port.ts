import type { lateReviewers } from "../../organizations/store.ts";
import type { HoldMatch, matchHolds } from "../../invoices/holds/matching.ts";
import type {
  oldestHold,
  watchedAddresses,
  watchedAmong,
  watchedSince,
} from "../../invoices/holds/watched-addresses.ts";
import type { PaymentTotals } from "../../invoices/rules.ts";
import type { LockedTerms } from "../../invoices/settlement/terms-to-pay.ts";
import type { NetworkState } from "../../../platform/chain/state/network-state.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { MatchRule } from "../payment-status.ts";

export interface Match extends Omit<HoldMatch, "rule"> {
  readonly rule: MatchRule;
}

/** The functions of src/features/invoices/settlement/settlement.ts that payments call inside their own transactions. */
export interface Settlement {
  lockTerms(tx: Tx, invoiceIds: readonly Id<"invoice">[]): Promise<Map<Id<"invoice">, LockedTerms>>;
  settleInvoices(
    tx: Tx,
    network: string,
    locked: ReadonlyMap<Id<"invoice">, LockedTerms>,
    totals: ReadonlyMap<Id<"invoice">, PaymentTotals>,
    state: NetworkState,
    at: Instant,
  ): Promise<void>;
  cancelInvoice(
    tx: Tx,
    organizationId: Id<"organization">,
    invoiceId: Id<"invoice">,
    at: Instant,
    reversed: Id<"payment">,
  ): Promise<unknown>;
  sweepDeadlines(
    network: string,
    state: NetworkState,
    at: Instant,
    finalTime: () => Promise<Instant | null>,
  ): Promise<number>;
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
