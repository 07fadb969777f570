import { bind, type Bound } from "../../kernel/bind.ts";
import type { z } from "zod";
import { toIso, type Instant } from "../../kernel/clock.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { Tx } from "../../platform/database/database.ts";
import type { EventType } from "../../platform/events/catalogue.ts";
import type { BillingReader } from "./invoices/service.ts";
import { presentPlatformInvoice, presentSubscription } from "./present.ts";
import { unpaidOf } from "./store.ts";
import type { UsageThresholdRecord } from "./records.ts";
import type { PlatformInvoiceLineRow, PlatformInvoiceRow, SubscriptionRow } from "./table.ts";

type SubscriptionEvent = Extract<EventType, `subscription.${string}`>;
type InvoiceEvent = Extract<EventType, `platform_invoice.${string}`>;

/** A platform invoice, with its lines if the caller has them; otherwise they are read. */
type AnnouncedInvoice = PlatformInvoiceRow & { readonly lines?: readonly PlatformInvoiceLineRow[] };

/** Records audit entries and emits events for changes of subscriptions and platform invoices. */
export type BillingAnnouncer = Bound<typeof methods>;

/** Usage thresholds in percent of the included invoices, highest first. */
const thresholds = [100, 80] as const;

/** Returns the highest threshold that `used` issued invoices reach, in percent; 0: none. */
export function usageReached(
  { terms }: Pick<SubscriptionRow, "terms">,
  used: number,
): 0 | (typeof thresholds)[number] {
  const { includedInvoices: included } = terms;
  if (included === null || included === 0) return 0;
  return thresholds.find((percent) => used * 100 >= included * percent) ?? 0;
}

interface Deps {
  readonly journal: Journal;
  readonly views: BillingReader["views"];
  readonly checkoutUrl: (checkoutId: string) => string;
}

const methods = { subscription, invoice, usage, note };

export function makeBillingAnnouncer(deps: Deps): BillingAnnouncer {
  return bind(deps, methods);
}

async function subscription(
  { journal, checkoutUrl }: Deps,
  tx: Tx,
  at: Instant,
  type: SubscriptionEvent,
  row: SubscriptionRow,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const [openInvoice = null] = await unpaidOf(tx, [row.id]);
  const { id, organizationId, version } = row;
  journal.record(tx, at, {
    action: type,
    organizationId,
    subjectType: "subscription",
    subjectId: id,
    changes: { status: row.status, plan: row.terms.id, ...changes },
    events: {
      types: [type],
      version,
      data: presentSubscription({ subscription: row, openInvoice, checkoutUrl }),
    },
  });
}

async function invoice(
  { journal, views, checkoutUrl }: Deps,
  tx: Tx,
  at: Instant,
  type: InvoiceEvent,
  row: AnnouncedInvoice,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const { lines, twinCheckoutId } = row;
  const pageOf = twinCheckoutId === null ? null : checkoutUrl(twinCheckoutId);
  const written = lines === undefined ? null : { invoice: row, lines, checkoutUrl: pageOf };
  const view = written ?? (await views(tx, [row]))[0];
  if (view === undefined) return;
  const shown = presentPlatformInvoice(view);
  const { id, organizationId, version } = row;
  const { number, status, total, currency } = shown;
  journal.record(tx, at, {
    action: type,
    organizationId,
    subjectType: "platform_invoice",
    subjectId: id,
    changes: { number, status, total, currency, ...changes },
    events: { types: [type], version, data: shown },
  });
}

/**
 * Emits `usage.threshold_reached` if `used` issued invoices reach a threshold that was not reported in this period
 * yet.
 */
function usage({ journal }: Deps, tx: Tx, at: Instant, row: SubscriptionRow, used: number): void {
  const { id, organizationId, terms, usageNotice, version } = row;
  const percent = usageReached(row, used);
  if (percent <= usageNotice || terms.includedInvoices === null) return;
  const data: z.input<typeof UsageThresholdRecord> = {
    organizationId,
    subscriptionId: id,
    plan: terms.id,
    percent,
    invoicesCreated: used,
    invoicesIncluded: terms.includedInvoices,
    periodStart: toIso(row.currentPeriodStart),
    periodEnd: toIso(row.currentPeriodEnd),
  };
  journal.record(tx, at, {
    organizationId,
    subjectType: "subscription",
    subjectId: id,
    events: { types: ["usage.threshold_reached"], version, data },
  });
}

/** Records an audit entry without an event. */
function note(
  { journal }: Deps,
  tx: Tx,
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
