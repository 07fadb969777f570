import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Money } from "../../kernel/money.ts";
import type { NetworkState } from "../../platform/chain/state.ts";
import type { Reader } from "../../platform/database/index.ts";

export type CheckoutStatus =
  "open" | "partially_paid" | "confirming" | "paid" | "expired" | "canceled";
export type CheckoutException = "none" | "underpaid" | "overpaid" | "late" | "reverted";

/** An issued invoice, as far as its payer is concerned. */
export interface CheckoutInvoice {
  readonly id: Id<"invoice">;
  /** Never shown: it finds the merchant's name. */
  readonly organizationId: Id<"organization">;
  /** What the payer and the merchant call the invoice by. */
  readonly publicId: string;
  readonly checkoutId: string;
  readonly status: CheckoutStatus;
  readonly exception: CheckoutException;
  readonly network: string;
  /** In the network's form. */
  readonly walletAddress: string;
  /** In the settlement currency. */
  readonly amount: Money;
  readonly paidAmount: Money;
  /** In tokens: what was asked, what was seen, and what is still to pay. */
  readonly payable: Money;
  readonly received: Money;
  readonly remaining: Money;
  readonly confirmations: { readonly current: number; readonly required: number };
  readonly checkoutUrl: string;
  readonly redirectUrl: string | null;
  readonly expiresAt: Instant;
  readonly paidAt: Instant | null;
}

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
  invoiceOf(reader: Reader, checkoutId: string): Promise<CheckoutInvoice | null>;
  /** Oldest first. */
  paymentsOf(reader: Reader, invoiceId: Id<"invoice">): Promise<readonly CheckoutPayment[]>;
  /** The display name, as the merchant wrote it. */
  merchantName(reader: Reader, organizationId: Id<"organization">): Promise<string>;
  /** Null: the network was never reached. */
  networkState(reader: Reader, network: string): Promise<NetworkState | null>;
}

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
