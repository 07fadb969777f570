import { adjustments, credits, platformInvoices } from "../../../src/features/billing/table.ts";
import { minute, type Instant } from "../../../src/kernel/clock.ts";
import type { Invoice } from "../deeds.ts";
import { includedInvoices, startAt, type Stage } from "../stage.ts";
import type { World } from "../world.ts";
import { total } from "./shares.ts";

/** Confirmed money is paid for an invoice, waits on one, or is a credit; and nobody issues more than the plan includes. */
export async function billingFaults(
  { db }: Pick<World, "db">,
  { cast }: Stage,
  rows: readonly Invoice[],
): Promise<string[]> {
  const faults: string[] = [];
  const [asked, granted, charged, twins] = await Promise.all([
    db.find(platformInvoices, "ORDER BY id"),
    db.find(credits, "WHERE source_invoice_id IS NOT NULL"),
    db.find(adjustments, "WHERE created_by = 'system'"),
    db.all<{ twinId: string; platformInvoiceId: string }>(
      'SELECT twin_id AS "twinId", platform_invoice_id AS "platformInvoiceId" FROM platform_invoice_twins',
    ),
  ]);
  for (const { id, number, status, total: due, twinId } of asked) {
    const own = new Set(
      twins.filter(({ platformInvoiceId }) => platformInvoiceId === id).map((one) => one.twinId),
    );
    const units = rows.filter((row) => own.has(row.id)).map((row) => row.confirmedAmount);
    // The platform is paid in a token of six decimals that counts as dollars, of two.
    const received = units.reduce((sum, one) => sum + one / 10_000n, 0n);
    const paid = status === "paid" && twinId !== null ? due : 0n;
    const waiting = status === "open" || status === "past_due" ? received : 0n;
    const credited = total(granted.filter(({ sourceInvoiceId }) => sourceInvoiceId === id));
    const takenBack = total(
      charged.filter(({ description }) => description.startsWith(`Credit from ${number}, `)),
    );
    if (paid + waiting + credited - takenBack !== received) {
      faults.push(
        `${number} (${status}) received ${String(received)}: ${String(paid)} paid, ` +
          `${String(waiting)} waiting, ${String(credited)} credited, ${String(takenBack)} taken back`,
      );
    }
  }
  const limited = cast.organizations[1];
  const anchor = startAt + minute;
  for (let month = 0; month < 12; month += 1) {
    const from = addMonths(anchor, month);
    const to = addMonths(anchor, month + 1);
    const issued = rows.filter(
      ({ organizationId, issuedAt }) =>
        organizationId === limited && issuedAt !== null && issuedAt >= from && issuedAt < to,
    );
    if (issued.length > includedInvoices) {
      faults.push(
        `${String(issued.length)} invoices were issued of ${String(includedInvoices)} in month ${String(month)}`,
      );
    }
  }
  return faults;
}

function addMonths(at: Instant, months: number): Instant {
  const date = new Date(at);
  return date.setUTCMonth(date.getUTCMonth() + months);
}
