import type { Instant } from "../../../kernel/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { computeCharges, thawInputs } from "../charges.ts";
import type { Balances } from "../balances/balances.ts";
import { receivedAt, savePlatformInvoice, type LockedSubscription } from "../store.ts";
import type { CreditSurplus } from "../balances/surplus.ts";
import type { PlatformInvoiceRow } from "../table.ts";
import type { BillingAnnouncer } from "../announce.ts";
import type { CollectionInvoices } from "./collection-invoice.ts";

/**
 * Voids a platform invoice of a locked subscription: its credits, discounts and adjustments become available again, and its
 * checkouts tell payers not to send anything. Confirmed payments become a credit in the same transaction; payments that
 * are confirmed later become one at that time.
 */
export type VoidInvoice = (
  tx: Tx,
  at: Instant,
  invoice: PlatformInvoiceRow,
  locked: LockedSubscription,
) => Promise<void>;

export function makeVoiding(deps: {
  readonly balances: Balances;
  readonly collectionInvoices: CollectionInvoices;
  readonly announcer: BillingAnnouncer;
  readonly creditSurplus: CreditSurplus;
}): VoidInvoice {
  const { balances, collectionInvoices, announcer, creditSurplus } = deps;
  return async (tx, at, invoice, locked) => {
    const came = locked.collectionInvoices.get(invoice.id) ?? [];
    await collectionInvoices.withdraw(tx, at, came);
    const set = { status: "void", voidedAt: at, paidAt: null } as const;
    const saved = await savePlatformInvoice(tx, at, invoice, set);
    const row = await creditSurplus(tx, at, saved, came, receivedAt(came).confirmed);
    await balances.restore(tx, at, row, computeCharges(thawInputs(row.inputs)));
    await announcer.invoice(tx, at, "platform_invoice.void", row);
  };
}
