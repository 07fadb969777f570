import type { InTx } from "../../app.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { networkState } from "../../platform/chain/state/network-state.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import { endHolds } from "./holds/matching.ts";
import { announceInvoice, changedFields } from "./issuing/announce.ts";
import { viewOf } from "./records.ts";
import { lockInvoices, type InvoiceRow } from "./store.ts";
import { invoices } from "./table.ts";

/** Returns an issued invoice of any organization, for the operator of a test network. */
export function issuedInvoice(
  reader: Reader,
  invoiceId: Id<"invoice">,
): Promise<InvoiceRow | null> {
  return reader.findOne(invoices, "WHERE id = $1 AND wallet_address IS NOT NULL", [invoiceId]);
}

/** Ends an invoice's time to pay now, as if it had been issued earlier, and emits the events of the change. */
export async function endTime(
  tx: Tx,
  app: InTx,
  at: Instant,
  invoiceId: Id<"invoice">,
): Promise<void> {
  const [row] = await lockInvoices(tx, [invoiceId]);
  if (row?.expiresAt == null || row.expiresAt <= at) return;
  const tipHeight = (await networkState(tx, row.network))?.tipHeight ?? null;
  const lateUntil = await endHolds(tx, row, at);
  const set = { expiresAt: at, lateUntil, version: row.version + 1, updatedAt: at };
  await tx.update(invoices, set, "WHERE id = $1", [invoiceId]);
  const before = viewOf(row, app.baseUrl(), tipHeight);
  const after = viewOf({ ...row, ...set }, app.baseUrl(), tipHeight);
  const changes = changedFields(before, after);
  const { status: previousStatus } = row;
  announceInvoice(tx, app, at, { types: ["invoice.updated"], previousStatus, changes }, after);
}
