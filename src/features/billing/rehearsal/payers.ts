import type { App } from "../../../app.ts";
import { day, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { networkState } from "../../../platform/chain/state/network-state.ts";
import { batchesOf } from "../../../platform/database/query/batches.ts";
import { systemContext } from "../../../platform/database/system-context.ts";
import { invoicesById, type InvoiceRow } from "../../invoices/store.ts";
import { noPayments } from "../../invoices/rules.ts";
import { lockTerms, settleInvoices } from "../../invoices/settlement/settlement.ts";
import type { PaymentHabit } from "./habits.ts";
import { platformInvoices } from "../table.ts";

/**
 * How long before its due date an invoice is paid, in milliseconds: in the last daily round before it, or three days
 * after it; null: never.
 */
const paidBefore: Readonly<Record<PaymentHabit, number | null>> = {
  "on-time": 1 * day,
  late: -3 * day,
  never: null,
};

/** Platform invoices that are paid in one transaction. */
const batchMax = 100;
const context = systemContext("rehearsal");

/** The organization whose invoices are paid; null: all. */
type Scope = Id<"organization"> | null;

/**
 * Pays the unpaid platform invoices for which it is time, in full and with all confirmations: settles their collection
 * invoices as the watcher does when it finds payments on the chain.
 */
export async function payInvoices(
  app: App,
  habit: PaymentHabit,
  organizationId: Scope,
): Promise<void> {
  const before = paidBefore[habit];
  if (before === null) return;
  const { db, clock } = app;
  const read = (after: string) =>
    db.find(
      platformInvoices,
      `WHERE status IN ('open', 'past_due') AND due_at <= $1 AND twin_id IS NOT NULL AND id > $2
         ${organizationId === null ? "" : "AND organization_id = $3"}
       ORDER BY id LIMIT ${String(batchMax)}`,
      [clock.now() + before, after, ...(organizationId === null ? [] : [organizationId])],
    );
  for await (const owed of batchesOf(batchMax, read, ({ id }) => id)) {
    const twinIds = owed.flatMap(({ twinId }) => twinId ?? []);
    await settle(app, twinIds, ({ payableAmount, seenAmount }) => {
      const whole = payableAmount ?? 0n;
      return seenAmount > whole ? seenAmount : whole;
    });
  }
}

/** Confirms the payments of platform invoices that were on the chain already when the rehearsal began. */
export async function confirmCollected(app: App, organizationId: Scope): Promise<void> {
  const read = (after: string) =>
    app.db.all<{ id: Id<"invoice"> }>(
      `SELECT i.id AS "id" FROM invoices i
         JOIN platform_invoice_twins t ON t.twin_id = i.id
         JOIN platform_invoices p ON p.id = t.platform_invoice_id
       WHERE i.seen_amount <> i.confirmed_amount AND i.id > $1
         ${organizationId === null ? "" : "AND p.organization_id = $2"}
       ORDER BY i.id LIMIT ${String(batchMax)}`,
      [after, ...(organizationId === null ? [] : [organizationId])],
    );
  for await (const seen of batchesOf(batchMax, read, ({ id }) => id)) {
    await settle(
      app,
      seen.map(({ id }) => id),
      ({ seenAmount }) => seenAmount,
    );
  }
}

/** Settles collection invoices of which `receivedOf` has been received and confirmed, in the token's smallest unit. */
async function settle(
  app: App,
  ids: readonly Id<"invoice">[],
  receivedOf: (invoice: InvoiceRow) => bigint,
): Promise<void> {
  const { db, clock } = app;
  const rows = await invoicesById(db, ids);
  for (const network of new Set(rows.map((row) => row.network))) {
    await db.write(context, async (tx) => {
      const state = await networkState(tx, network);
      if (state === null) return;
      const own = rows.filter((row) => row.network === network).map(({ id }) => id);
      const locked = await lockTerms(tx, own);
      const at: Instant = clock.now();
      const totals = new Map(
        [...locked].map(([id, { invoice }]) => {
          const received = receivedOf(invoice);
          const { isLate, isReverted } = invoice;
          const money = { seen: received, confirmed: received, completedAt: at };
          return [
            id,
            { ...noPayments, ...money, isLate, isReverted, latestBlock: state.tipHeight },
          ];
        }),
      );
      await settleInvoices(tx, app, at, network, locked, totals, state);
    });
  }
}
