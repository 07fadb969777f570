import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { NetworkState } from "../../platform/chain/state.ts";
import type { PayerInvoice } from "../invoices/index.ts";
import type { HashClaims, SubmittedTransaction } from "../payments/index.ts";

/** What came for an invoice. */
export interface CheckoutPayment {
  /** 64 lower-case hex digits. */
  readonly transactionHash: string;
  /** `review`: it counts nothing until the merchant accepts it. */
  readonly status: "confirming" | "confirmed" | "reverted" | "review" | "rejected";
  readonly blockTime: Instant;
}

/** What checkout reads of the features before it and of the chains. */
export interface CheckoutSources {
  /** Null: there is no issued invoice of this checkout id. */
  invoiceOf(checkoutId: string): Promise<PayerInvoice | null>;
  /** Oldest first. */
  paymentsOf(invoiceId: Id<"invoice">): Promise<readonly CheckoutPayment[]>;
  /** The results of the transactions that payers submitted, newest first. */
  submittedFor(invoiceId: Id<"invoice">): Promise<readonly SubmittedTransaction[]>;
  /** The display name, as the merchant wrote it. */
  merchantName(organizationId: Id<"organization">): Promise<string>;
  /** Null: the network was never reached. */
  networkState(network: string): Promise<NetworkState | null>;
}

/** Where hashes that payers submit go. */
export type CheckoutClaims = HashClaims;

/** The commands that the page of an invoice on the test network has; each is done when its promise is. */
export interface CheckoutSandbox {
  /** Pays what remains: all of it, too little or too much. */
  pay(checkoutId: string, how: "exact" | "under" | "over"): Promise<void>;
  /** Makes blocks at once. */
  mine(blocks: number): Promise<void>;
  /** Replaces the newest blocks by as many others. */
  reorganise(depth: number): Promise<void>;
  /** Lets the invoice's time pass. */
  expire(checkoutId: string): Promise<void>;
}
