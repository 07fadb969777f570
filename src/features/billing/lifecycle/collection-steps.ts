import type { InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { noteSubscription } from "../announce.ts";
import {
  collectionColumns,
  isPayable,
  prepareCollectionInvoice,
  rememberCollectionInvoice,
} from "../invoices/collection-invoice.ts";
import { policyOf } from "../plans.ts";
import {
  receivedAt,
  savePlatformInvoice,
  saveSubscription,
  type LockedSubscription,
} from "../store.ts";
import type { PlatformInvoiceRow } from "../table.ts";

/**
 * Issues a new collection invoice for the first debt whose current one can no longer be paid; the old one stays
 * watched. Returns null if there was no such debt.
 */
export async function replaceCollectionInvoices(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
): Promise<LockedSubscription | null> {
  const policy = policyOf(app.config.plans, locked.subscription.terms.id);
  for (const invoice of locked.invoices) {
    const amount = missing(invoice, locked, at);
    if (amount === 0n) continue;
    const issue = await prepareCollectionInvoice(tx, app, at, invoice, amount, policy);
    const collectionInvoice = await issue(invoice.number);
    const row = await savePlatformInvoice(tx, at, invoice, collectionColumns(collectionInvoice));
    await rememberCollectionInvoice(tx, at, row, collectionInvoice);
    const { subscription } = locked;
    const saved = await saveSubscription(tx, at, subscription, {});
    const changes = {
      number: row.number,
      twinId: { from: invoice.twinId, to: collectionInvoice.id },
    };
    noteSubscription(tx, app, at, "platform_invoice.twin_replaced", saved, changes);
    const rest = locked.invoices.map((one) => (one.id === row.id ? row : one));
    return { ...locked, subscription: saved, invoices: rest };
  }
  return null;
}

/**
 * Returns the unpaid amount of a debt whose collection invoice can no longer be paid; zero if it can be paid, or if
 * nothing is missing.
 */
function missing(
  invoice: PlatformInvoiceRow,
  { collectionInvoices }: LockedSubscription,
  at: Instant,
): bigint {
  const all = collectionInvoices.get(invoice.id) ?? [];
  const current = all.find(({ id }) => id === invoice.twinId);
  // A collection invoice that was just issued is not among the locked ones, and can be paid.
  if (current === undefined || isPayable(current, at)) return 0n;
  const { seen } = receivedAt(all);
  return seen >= invoice.total ? 0n : invoice.total - seen;
}

/** Returns true if a debt needs another collection invoice. */
export function needsCollectionInvoice(locked: LockedSubscription, at: Instant): boolean {
  return locked.invoices.some((invoice) => missing(invoice, locked, at) > 0n);
}

/** Returns when the current collection invoice expires, and another may be needed; null if it has already expired. */
export function collectionEndsAt(
  { id, twinId }: PlatformInvoiceRow,
  { collectionInvoices }: LockedSubscription,
  at: Instant,
): Instant | null {
  const endsAt =
    collectionInvoices.get(id)?.find((collectionInvoice) => collectionInvoice.id === twinId)
      ?.expiresAt ?? null;
  return endsAt !== null && endsAt > at ? endsAt : null;
}
