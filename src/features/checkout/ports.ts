import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { NetworkState } from "../../platform/chain/state/network-state.ts";
import type { Tx } from "../../platform/database/index.ts";
import type { PayerInvoice } from "../invoices/index.ts";
import type { HashClaims, SubmittedTransaction } from "../payments/index.ts";

/** A payment of an invoice. */
export interface CheckoutPayment {
  /** 64 lower-case hex digits, without prefix. */
  readonly transactionHash: string;
  /** A payment in `review` counts only once the merchant accepts it. */
  readonly status: "confirming" | "confirmed" | "reverted" | "review" | "rejected";
  /** While it is reverted, whether it counts or is in review again if it returns to the chain. */
  readonly isExpectedBack: boolean;
  /** The block that includes it; while it is reverted, the one that did. */
  readonly blockHeight: number;
  readonly blockTime: Instant;
}

/** Data that checkout reads from other features and the chains. */
export interface CheckoutSources {
  /** Returns null if no issued invoice has this checkout id. */
  invoiceOf(checkoutId: string): Promise<PayerInvoice | null>;
  /** Returns the invoice's payments, oldest first. */
  paymentsOf(invoiceId: Id<"invoice">): Promise<readonly CheckoutPayment[]>;
  /** Returns the results of transactions that payers submitted, newest first; within a transaction if one is given. */
  submittedFor(invoiceId: Id<"invoice">, tx?: Tx): Promise<readonly SubmittedTransaction[]>;
  /** Returns the merchant's display name. */
  merchantName(organizationId: Id<"organization">): Promise<string>;
  /** Returns null if the network was never read. */
  networkState(network: string): Promise<NetworkState | null>;
}

/** Receives the hashes that payers submit. */
export type CheckoutClaims = HashClaims;

/** Actions of the test panel; each is complete when its promise resolves. */
export interface CheckoutSandbox {
  /** Pays the remaining amount, half of it, or one token too much. */
  pay(checkoutId: string, how: "exact" | "under" | "over"): Promise<void>;
  /** Mines blocks immediately. */
  mine(blocks: number): Promise<void>;
  /** Replaces the newest blocks with as many other ones. */
  reorganize(depth: number): Promise<void>;
  /** Makes the invoice expire. */
  expire(checkoutId: string): Promise<void>;
}
