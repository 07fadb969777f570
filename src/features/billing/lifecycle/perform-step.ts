import type { Instant } from "../../../kernel/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { pendingTermsOf } from "../plans.ts";
import {
  noPlanChange,
  savePlatformInvoice,
  saveSubscription,
  type LockedSubscription,
} from "../store.ts";
import type { PlatformInvoiceRow, SubscriptionRow } from "../table.ts";
import type { Cancellations } from "./cancel.ts";
import { endTrial, renew, resume, type PeriodStepDependencies } from "./period-steps.ts";
import type { Transition } from "./rules.ts";

export interface StepDependencies extends PeriodStepDependencies {
  readonly cancellations: Pick<Cancellations, "end">;
}

/** Performs a due step and returns the updated subscription. Its `nextActionAt` is not updated yet. */
export async function performStep(
  deps: StepDependencies,
  tx: Tx,
  at: Instant,
  locked: LockedSubscription,
  next: Transition,
): Promise<LockedSubscription> {
  const { announcer } = deps;
  const { subscription } = locked;
  const save = async (set: Partial<SubscriptionRow>) => ({
    ...locked,
    subscription: await saveSubscription(tx, at, subscription, set),
  });
  const announced = async (
    type: Parameters<typeof announcer.subscription>[2],
    after: LockedSubscription,
  ) => {
    await announcer.subscription(tx, at, type, after.subscription);
    return after;
  };
  switch (next.kind) {
    case "trial_ending":
      return announced("subscription.trial_ending", await save({ trialNoticeAt: at }));
    case "first_invoice_replaced": {
      const terms = pendingTermsOf(deps.catalog, subscription) ?? subscription.terms;
      const aligned = await deps.firstInvoices.align(tx, at, locked, terms);
      return { ...aligned, subscription: (await save({})).subscription };
    }
    case "activated": {
      const after = await endTrial(deps, tx, at, locked, next, { status: "active" });
      return announced("subscription.activated", after);
    }
    case "trial_unpaid": {
      const invoices = await markPastDue(deps, tx, at, locked, next.invoiceIds);
      const after = await endTrial(deps, tx, at, { ...locked, invoices }, next, pastDue);
      return announced("subscription.past_due", after);
    }
    case "past_due": {
      const invoices = await markPastDue(deps, tx, at, locked, next.invoiceIds);
      if (subscription.status !== "active") return { ...(await save({})), invoices };
      return announced("subscription.past_due", { ...(await save(pastDue)), invoices });
    }
    case "suspended": {
      const set = { status: "suspended", statusReason: "unpaid", suspendedAt: at } as const;
      return announced("subscription.suspended", await save(set));
    }
    case "canceled": {
      const set = { status: "canceled", statusReason: "unpaid", canceledAt: at } as const;
      return announced("subscription.canceled", await save({ ...set, ...noPlanChange }));
    }
    case "ended":
      return deps.cancellations.end(tx, at, locked, next.at);
    case "reactivated": {
      const set = { status: "active", statusReason: null } as const;
      return announced("subscription.reactivated", await save(set));
    }
    case "resumed":
      return resume(deps, tx, at, locked, next);
    case "renewed":
      return renew(deps, tx, at, locked, next);
    case "reminded": {
      const invoices = await remind(deps, tx, at, locked, next);
      return { ...(await save({})), invoices };
    }
  }
}

const pastDue = { status: "past_due", statusReason: "unpaid" } as const;

/** Marks open invoices as past due and returns all of the subscription's invoices. */
async function markPastDue(
  { announcer }: StepDependencies,
  tx: Tx,
  at: Instant,
  { invoices }: LockedSubscription,
  ids: readonly string[],
): Promise<readonly PlatformInvoiceRow[]> {
  const rows: PlatformInvoiceRow[] = [];
  for (const invoice of invoices) {
    if (invoice.status !== "open" || !ids.includes(invoice.id)) {
      rows.push(invoice);
      continue;
    }
    const set = { status: "past_due", pastDueAt: at, dunningFrom: null } as const;
    const row = await savePlatformInvoice(tx, at, invoice, set);
    await announcer.invoice(tx, at, "platform_invoice.past_due", row);
    rows.push(row);
  }
  return rows;
}

/** Emits the reminder of one invoice and returns all of the subscription's invoices. */
async function remind(
  { announcer }: StepDependencies,
  tx: Tx,
  at: Instant,
  { invoices }: LockedSubscription,
  { invoiceId, remindersSent }: Extract<Transition, { kind: "reminded" }>,
): Promise<readonly PlatformInvoiceRow[]> {
  const rows: PlatformInvoiceRow[] = [];
  for (const invoice of invoices) {
    if (invoice.id !== invoiceId) {
      rows.push(invoice);
      continue;
    }
    const row = await savePlatformInvoice(tx, at, invoice, { remindersSent });
    await announcer.invoice(tx, at, "platform_invoice.reminder", row, { remindersSent });
    rows.push(row);
  }
  return rows;
}
