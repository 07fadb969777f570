import type { Id } from "../../kernel/id.ts";
import type { NetworkStateRow } from "../../platform/chain/state/network-state.ts";
import type { Tx } from "../../platform/database/index.ts";
import type { PayerInvoice } from "../invoices/index.ts";
import type { HashClaims, PayerLedger, PayerPayment } from "../payments/index.ts";

export type CheckoutPayment = PayerPayment;

/** A checkout as the store holds it. */
export interface StoredCheckout extends PayerLedger {
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
  /** Returns an invoice's payments and submitted transactions as a transaction sees them. */
  ledgerIn(tx: Tx, invoiceId: Id<"invoice">): Promise<PayerLedger>;
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
