import type { InTx } from "../../../app.ts";
import { settlementAsset } from "../../../kernel/money/asset.ts";
import { day, type Instant } from "../../../kernel/clock.ts";
import { formatMoney, money } from "../../../kernel/money/money.ts";
import type { BillingPolicy } from "../../../platform/config/plans.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { InvoiceRow } from "../../invoices/store.ts";
import type { InvoiceView } from "../../invoices/records.ts";
import { prepareManagedInvoice, withdrawInvoice } from "../../invoices/managed.ts";
import { noReceiveWallet, receiveTarget } from "./receive-wallet.ts";
import { platformInvoiceTwins, type PlatformInvoiceRow } from "../table.ts";

/** The fields of a platform invoice from which its collection invoice is made. */
type Collected = Pick<
  PlatformInvoiceRow,
  "id" | "organizationId" | "currency" | "decimals" | "dueAt"
>;

/** The columns of a platform invoice that identify its collection invoice. */
type CollectionColumns = Pick<PlatformInvoiceRow, "twinId" | "twinPublicId" | "twinCheckoutId">;

// Collection invoices are the ordinary invoices of the platform organization by which platform invoices are paid.

/**
 * Prepares a collection invoice over an amount at the receive wallet. Returns the function that issues it, given the
 * number of the platform invoice. Throws `no_receive_wallet`; both throw the errors of issuing an ordinary invoice.
 */
export async function prepareCollectionInvoice(
  tx: Tx,
  app: InTx,
  at: Instant,
  invoice: Collected,
  amount: bigint,
  policy: BillingPolicy,
): Promise<(number: string) => Promise<InvoiceView>> {
  const target = await receiveTarget(tx, app);
  if (target === null) throw noReceiveWallet();
  const { id, organizationId, currency, decimals, dueAt } = invoice;
  const patience = (policy.graceDays + policy.cancelAfterSuspendedDays) * day;
  const issue = await prepareManagedInvoice(tx, app, at, target.organizationId, {
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
}

/** Stores which platform invoice a collection invoice belongs to. Call it after inserting the platform invoice. */
export async function rememberCollectionInvoice(
  tx: Tx,
  at: Instant,
  { id }: Pick<Collected, "id">,
  collectionInvoice: InvoiceView,
): Promise<void> {
  await tx.insert(platformInvoiceTwins, {
    twinId: collectionInvoice.id,
    platformInvoiceId: id,
    createdAt: at,
  });
}

/** Makes checkouts tell payers not to send anything anymore; payments that still arrive are counted. */
export async function withdrawCollectionInvoices(
  tx: Tx,
  app: InTx,
  at: Instant,
  collectionInvoices: readonly InvoiceRow[],
): Promise<void> {
  for (const collectionInvoice of collectionInvoices)
    await withdrawInvoice(tx, app, at, collectionInvoice);
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
