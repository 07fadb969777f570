import type { InTx } from "../../app.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { Tx } from "../../platform/database/database.ts";
import type { EventType } from "../../platform/events/catalogue.ts";
import { viewPlatformInvoice, viewPlatformInvoices } from "./invoices/platform-invoices.ts";
import { presentPlatformInvoice, presentSubscription } from "./records.ts";
import { viewSubscription } from "./subscriptions/views.ts";
import type { PlatformInvoiceLineRow, PlatformInvoiceRow, SubscriptionRow } from "./table.ts";

type SubscriptionEvent = Extract<EventType, `subscription.${string}`>;
type InvoiceEvent = Extract<EventType, `platform_invoice.${string}`>;

/** A platform invoice, with its lines if the caller has them; otherwise they are read. */
type AnnouncedInvoice = PlatformInvoiceRow & { readonly lines?: readonly PlatformInvoiceLineRow[] };

/** Records an audit entry and emits an event for a change of a subscription. */
export async function announceSubscription(
  tx: Tx,
  app: InTx,
  at: Instant,
  type: SubscriptionEvent,
  row: SubscriptionRow,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const view = await viewSubscription(tx, app, row);
  const { id, organizationId, version } = row;
  app.journal.record(tx, at, {
    action: type,
    organizationId,
    subjectType: "subscription",
    subjectId: id,
    changes: { status: row.status, plan: row.terms.id, ...changes },
    events: { types: [type], version, data: presentSubscription(view) },
  });
}

/** Records an audit entry and emits an event for a change of a platform invoice. */
export async function announcePlatformInvoice(
  tx: Tx,
  app: InTx,
  at: Instant,
  type: InvoiceEvent,
  row: AnnouncedInvoice,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { lines } = row;
  const written = lines === undefined ? null : viewPlatformInvoice(app, row, lines);
  const view = written ?? (await viewPlatformInvoices(tx, app, [row]))[0];
  if (view === undefined) return;
  const shown = presentPlatformInvoice(view);
  const { id, organizationId, version } = row;
  const { number, status, total, currency } = shown;
  app.journal.record(tx, at, {
    action: type,
    organizationId,
    subjectType: "platform_invoice",
    subjectId: id,
    changes: { number, status, total, currency, ...changes },
    events: { types: [type], version, data: shown },
  });
}

/** Records an audit entry about a subscription, without an event. */
export function noteSubscription(
  tx: Tx,
  { journal }: InTx,
  at: Instant,
  action: string,
  { id, organizationId }: SubscriptionRow,
  changes: Readonly<Record<string, unknown>>,
): void {
  journal.record(tx, at, {
    action,
    organizationId,
    changes,
    subjectType: "subscription",
    subjectId: id,
  });
}
