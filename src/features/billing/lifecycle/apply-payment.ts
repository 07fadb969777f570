import type { InTx } from "../../../app.ts";
import { hour, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import type { InvoiceRow } from "../../invoices/store.ts";
import { creditSurplus } from "../balances/balances.ts";
import { linesOf } from "../invoices/platform-invoices.ts";
import { billingWorkerName } from "../status.ts";
import {
  lockPlatformInvoices,
  readCollectionInvoices,
  receivedAt,
  savePlatformInvoice,
  subscriptionsAfterPayment,
} from "../store.ts";
import {
  platformInvoiceTwins,
  type PlatformInvoiceLineRow,
  type PlatformInvoiceRow,
} from "../table.ts";
import { announcePlatformInvoice } from "../announce.ts";
import { followPayment } from "./steps.ts";
import { withdrawCollectionInvoices } from "../invoices/issue.ts";

/** After a reorganization removed a payment, dunning pauses for this long, to leave time to pay again. */
const timeToPayAgain = 24 * hour;

/**
 * Applies payments of collection invoices to their platform invoices, in the transaction of the payments. Sums the
 * payments of all collection invoices of a platform invoice, so repeated or reordered calls have the same result.
 */
export async function applyPlatformPayments(
  tx: Tx,
  app: InTx,
  at: Instant,
  rows: readonly InvoiceRow[],
): Promise<void> {
  const owners = await ownersOf(tx, rows);
  if (owners.length === 0) return;
  const touched = new Set<Id<"subscription">>();
  const locked = await lockPlatformInvoices(tx, owners);
  const allCollected = await readCollectionInvoices(tx, owners);
  const allLines = await linesOf(tx, owners);
  for (const invoice of locked) {
    const came = allCollected.get(invoice.id) ?? [];
    const { confirmed } = receivedAt(came);
    const lines = allLines.get(invoice.id) ?? [];
    const stands = await updateStatus(tx, app, at, invoice, lines, confirmed);
    await creditSurplus(tx, app, at, stands, rows, confirmed);
    // A reorganization may have reopened the checkout of a void invoice that was paid. Its other collection invoices are
    // paid or were withdrawn, which stays so: only those of `rows` are locked.
    if (stands.status === "void") await withdrawCollectionInvoices(tx, app, at, came);
    touched.add(invoice.subscriptionId);
  }
  for (const subscription of await subscriptionsAfterPayment(tx, [...touched])) {
    await followPayment(tx, app, at, subscription);
  }
  tx.afterCommit(() => app.running?.wake(billingWorkerName));
}

/** Marks an invoice as paid, or as open again, by the confirmed payments. */
async function updateStatus(
  tx: Tx,
  app: InTx,
  at: Instant,
  invoice: PlatformInvoiceRow,
  lines: readonly PlatformInvoiceLineRow[],
  confirmed: bigint,
): Promise<PlatformInvoiceRow> {
  const { status, total } = invoice;
  const isOwed = status === "open" || status === "past_due";
  if (isOwed && confirmed >= total) {
    const row = await savePlatformInvoice(tx, at, invoice, {
      status: "paid",
      paidAt: at,
      dunningFrom: null,
    });
    await announcePlatformInvoice(tx, app, at, "platform_invoice.paid", { ...row, lines });
    return row;
  }
  // An invoice that was paid without a collection invoice has no payment that could be removed.
  if (status !== "paid" || confirmed >= total || invoice.twinId === null) return invoice;
  const row = await savePlatformInvoice(tx, at, invoice, {
    status: "open",
    paidAt: null,
    pastDueAt: null,
    dunningFrom: at + timeToPayAgain,
  });
  await announcePlatformInvoice(tx, app, at, "platform_invoice.reverted", { ...row, lines });
  return row;
}

/** Returns the ids of the platform invoices whose current or former collection invoices these are. */
async function ownersOf(tx: Tx, rows: readonly InvoiceRow[]): Promise<Id<"platformInvoice">[]> {
  const pairs = await tx.find(
    platformInvoiceTwins,
    `WHERE twin_id IN ${listed(tx.dialect, 1)} ORDER BY platform_invoice_id`,
    [JSON.stringify(rows.map(({ id }) => id))],
  );
  return [...new Set(pairs.map(({ platformInvoiceId }) => platformInvoiceId))];
}
