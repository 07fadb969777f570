import type { Id } from "../../kernel/id.ts";
import type { NetworkStateRow } from "../../platform/chain/state/network-state.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { ChosenOption } from "../invoices/options/choose.ts";
import type { PayerInvoice } from "../invoices/payer-view.ts";
import type { PayerLedger, PayerPayment } from "../payments/payer-view.ts";
import type { PayerRefund } from "../refunds/payer/payer-view.ts";
import type {
  RefundInput,
  RefundOffer,
  RefundedInvoice,
  RequestResult,
} from "../refunds/payer/payer-refunds.ts";

export type CheckoutPayment = PayerPayment;

/** The payments of an invoice and their refunds, as far as its payer may know them. */
export interface CheckoutLedger extends PayerLedger {
  /** Newest first. */
  readonly refunds: readonly PayerRefund[];
  /** The payments whose next refund only the merchant may create. */
  readonly leftToMerchant: ReadonlySet<Id<"payment">>;
}

/** A checkout as the store holds it. */
export interface StoredCheckout extends CheckoutLedger {
  /** Changes with everything else here. */
  readonly version: string;
  /** Without confirmations, which depend on the network's state. */
  readonly invoice: PayerInvoice;
  readonly merchant: Merchant;
}

/** The facts about a merchant that payers see. */
export interface Merchant {
  readonly displayName: string;
  readonly website: string | null;
  readonly contactEmail: string | null;
  /** Such as `#0b5f4e`. */
  readonly accentColor: string | null;
  /** The origins of the merchant's own pages. */
  readonly allowedOrigins: readonly string[];
  /** The path of the logo's file below the instance's address. */
  readonly logoPath: string | null;
}

/** The facts that show whether a checkout has changed. */
export interface CheckoutVersion {
  /** That of the stored checkout. */
  readonly version: string;
  readonly network: string;
  /** That of the network's state; null if the network was never read. */
  readonly networkVersion: number | null;
}

export interface SeenCheckout {
  readonly stored: StoredCheckout;
  readonly states: ReadonlyMap<string, NetworkStateRow>;
}

/** Data that checkout reads from other features and the chains. */
export interface CheckoutSources {
  /** Returns the current versions of checkouts, by id; those without an issued invoice are missing. */
  versions(checkoutIds: readonly string[]): Promise<ReadonlyMap<string, CheckoutVersion>>;
  /** Returns checkouts by id. */
  load(checkoutIds: readonly string[]): Promise<ReadonlyMap<string, StoredCheckout>>;
  /** Returns the file of a merchant's logo by its name; null if no merchant has it. */
  logo(name: string): Promise<{ readonly type: string; readonly body: Buffer } | null>;
  /** Returns the states of the networks that were ever read, by network. */
  networkStates(): Promise<ReadonlyMap<string, NetworkStateRow>>;
  /** Returns a checkout and the states of the networks as a transaction sees them; null if it does not exist. */
  checkoutIn(tx: Tx, checkoutId: string): Promise<SeenCheckout | null>;
  /** Returns an invoice's payments, submitted transactions and refunds as a transaction sees them. */
  ledgerIn(tx: Tx, invoiceId: Id<"invoice">): Promise<CheckoutLedger>;
}

/** Receives the hashes that payers submit: `submitClaim`. */
export interface CheckoutClaims {
  submit(
    tx: Tx,
    invoice: RefundedInvoice & { readonly network: string },
    transactionHash: string,
  ): Promise<boolean>;
}

/** Receives the refunds that payers ask for: `offerPayerRefund` and `requestPayerRefund`. */
export interface CheckoutRefunds {
  offer(
    context: WriteContext,
    invoice: RefundedInvoice,
    input: RefundInput,
  ): Promise<RefundOffer | null>;
  request(tx: Tx, invoice: RefundedInvoice, input: RefundInput): Promise<RequestResult>;
}

/** Actions of the test panel; each is complete when its promise resolves. */
export interface CheckoutSandbox {
  /** Pays the remaining amount, half of it, or one token too much. */
  pay(checkoutId: string, how: "exact" | "under" | "over"): Promise<void>;
  /** Mines blocks immediately. */
  mine(blocks: number): Promise<void>;
  /**
   * Replaces the blocks from the checkout's newest payment on with others that lack it. False if no block that can
   * still be replaced has one.
   */
  reorganize(checkoutId: string): Promise<boolean>;
  /** Makes the invoice expire. */
  expire(checkoutId: string): Promise<void>;
}

/** Puts another option of an invoice in force, in the caller's transaction; returns false if it is in force already. */
export type CheckoutChoice = (
  tx: Tx,
  checkoutId: string,
  chosen: ChosenOption,
  at: Instant,
) => Promise<boolean>;
