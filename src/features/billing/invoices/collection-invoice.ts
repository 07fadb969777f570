import { settlementAsset } from "../../../kernel/money/asset.ts";
import { day, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { formatMoney, money } from "../../../kernel/money/money.ts";
import type { BillingPolicy } from "../../../platform/config/plans.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { InvoiceRow } from "../../invoices/store.ts";
import type { InvoiceView } from "../../invoices/records.ts";
import type { ManagedInput, prepareManagedInvoice } from "../../invoices/managed.ts";
import type { lockInvoices } from "../../invoices/store.ts";
import { noReceiveWallet, receiveTarget } from "./receive-wallet.ts";
import { platformInvoiceTwins, type PlatformInvoiceRow } from "../table.ts";

/** The fields of a platform invoice from which its collection invoice is made. */
type Collected = Pick<
  PlatformInvoiceRow,
  "id" | "organizationId" | "currency" | "decimals" | "dueAt"
>;

/** The columns of a platform invoice that identify its collection invoice. */
export type CollectionColumns = Pick<
  PlatformInvoiceRow,
  "twinId" | "twinPublicId" | "twinCheckoutId"
>;

/**
 * Issues and withdraws collection invoices: the ordinary invoices of the platform organization by which platform
 * invoices are paid.
 */
export interface CollectionInvoices {
  /**
   * Prepares a collection invoice over an amount at the receive wallet. Returns the function that issues it, given the
   * number of the platform invoice. Throws `no_receive_wallet`; both throw the errors of issuing an ordinary invoice.
   */
  prepare(
    tx: Tx,
    at: Instant,
    invoice: Collected,
    amount: bigint,
    policy: BillingPolicy,
  ): Promise<(number: string) => Promise<InvoiceView>>;
  /** Stores which platform invoice a collection invoice belongs to. Call it after inserting the platform invoice. */
  remember(
    tx: Tx,
    at: Instant,
    invoice: Pick<Collected, "id">,
    collectionInvoice: InvoiceView,
  ): Promise<void>;
  /** Makes checkouts tell payers not to send anything anymore; payments that still arrive are counted. */
  withdraw(tx: Tx, at: Instant, collectionInvoices: readonly InvoiceRow[]): Promise<void>;
}

/** The functions of src/features/invoices/managed.ts, without the app. */
export interface ManagedInvoices {
  prepare(
    tx: Tx,
    at: Instant,
    organizationId: Id<"organization">,
    input: ManagedInput,
  ): ReturnType<typeof prepareManagedInvoice>;
  readonly lock: typeof lockInvoices;
  withdraw(tx: Tx, at: Instant, invoice: InvoiceRow): Promise<boolean>;
}

export function makeCollectionInvoices(deps: {
  readonly managed: ManagedInvoices;
  /** The enabled networks, by id. */
  readonly networks: ReadonlyMap<string, Network>;
}): CollectionInvoices {
  const { managed, networks } = deps;
  return {
    async prepare(tx, at, invoice, amount, policy) {
      const target = await receiveTarget(tx, networks);
      if (target === null) throw noReceiveWallet();
      const { id, organizationId, currency, decimals, dueAt } = invoice;
      const patience = (policy.graceDays + policy.cancelAfterSuspendedDays) * day;
      const issue = await managed.prepare(tx, at, target.organizationId, {
        amount: formatMoney(money(amount, settlementAsset(currency, decimals))),
        settlementCurrency: currency,
        tokenSymbol: target.token.symbol,
        network: target.network.id,
        walletId: target.wallet.id,
        metadata: { platformInvoiceId: id, organizationId },
        // A replacement is issued when the debt is old; it stays payable for as long as the first one did.
        expiresAt: Math.max(dueAt, at) + patience,
      });
      return (number) => issue(`Invoice ${number}`);
    },

    async remember(tx, at, { id }, collectionInvoice) {
      await tx.insert(platformInvoiceTwins, {
        twinId: collectionInvoice.id,
        platformInvoiceId: id,
        createdAt: at,
      });
    },

    async withdraw(tx, at, collectionInvoices) {
      for (const collectionInvoice of collectionInvoices)
        await managed.withdraw(tx, at, collectionInvoice);
    },
  };
}

export function collectionColumns(collectionInvoice: InvoiceView | null): CollectionColumns {
  return {
    twinId: collectionInvoice?.id ?? null,
    twinPublicId: collectionInvoice?.publicId ?? null,
    twinCheckoutId: collectionInvoice?.checkoutId ?? null,
  };
}

/** Returns whether payers can still pay a collection invoice, or its payment is being confirmed. */
export function isPayable(collectionInvoice: InvoiceRow, at: Instant): boolean {
  if (collectionInvoice.status === "confirming") return true;
  const isOpen =
    collectionInvoice.status === "open" || collectionInvoice.status === "partially_paid";
  return isOpen && collectionInvoice.expiresAt !== null && collectionInvoice.expiresAt > at;
}
