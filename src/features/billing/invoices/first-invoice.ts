import type { InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { computeCharges, thawInputs } from "../charges.ts";
import { issuePlatformInvoice, voidPlatformInvoice } from "./issue.ts";
import { addAdjustment, grantCredit } from "../balances/balances.ts";
import { periodAt, type Period } from "../periods.ts";
import { priceOf, type Terms } from "../plans.ts";
import { receivedAt, type LockedSubscription } from "../store.ts";
import { platformInvoices, type PlatformInvoiceRow, type SubscriptionRow } from "../table.ts";

// The first invoice of a subscription with a trial is kept in line with its plan. It is issued when the trial begins, for
// the period that follows the trial, so a plan change during the trial comes after the invoice (decision 16).

/**
 * The plan difference of a first invoice: between the plan that it charged and the plan that applies to its period.
 */
export interface PlanDifference {
  /**
   * In the smallest unit of the invoice's currency. A positive amount is charged as a line of the next invoice, a
   * negative one is credited.
   */
  readonly amount: bigint;
  /** The text of the line, or the reason of the credit. */
  readonly description: string;
  /**
   * The dates of the invoice for a longer period, to be issued immediately; null: none. It charges the plan's full price,
   * and the credit in `amount` offsets what the first invoice charged.
   */
  readonly rest: Period | null;
}

/** Finds the invoice of the period that follows a trial; null if none exists, or only void ones. */
export function findFirstInvoice(
  reader: Reader,
  { id, anchorAt }: Pick<SubscriptionRow, "id" | "anchorAt">,
): Promise<PlatformInvoiceRow | null> {
  return reader.findOne(
    platformInvoices,
    "WHERE subscription_id = $1 AND period_start = $2 AND status <> 'void'",
    [id, anchorAt],
  );
}

/**
 * Returns the unpaid first invoice of a trial if it is for other terms than these; null if no such invoice exists, if
 * it is for these terms, or if a payment waits for its confirmations.
 */
export function staleFirstInvoice(
  { subscription, invoices, collectionInvoices }: LockedSubscription,
  terms: Terms,
): PlatformInvoiceRow | null {
  const { status, cancelAt, anchorAt } = subscription;
  // A subscription that ends with its trial has no period to invoice: its invoice will be voided.
  if (status !== "trialing" || cancelAt !== null) return null;
  const first = invoices.find((one) => one.status === "open" && one.periodStart === anchorAt);
  if (first === undefined || isFor(first, terms)) return null;
  const { seen, confirmed } = receivedAt(collectionInvoices.get(first.id) ?? []);
  return seen > confirmed ? null : first;
}

/**
 * Returns what is to be charged or credited because a first invoice was issued for another plan than `terms`; null if it
 * was issued for that plan. Both prices are computed with the invoice's own discounts. Its credits are ignored, because
 * they are a means of payment.
 */
export function planDifferenceOf(first: PlatformInvoiceRow, terms: Terms): PlanDifference | null {
  if (isFor(first, terms)) return null;
  const inputs = thawInputs(first.inputs);
  const chargedFor = (price: bigint): bigint => {
    const { subtotal, discountTotal } = computeCharges({ ...inputs, plan: { name: "", price } });
    return subtotal - discountTotal;
  };
  const { name } = inputs.plan;
  const { end } = periodAt(first.periodStart, terms.interval, 0);
  if (end > first.periodEnd) {
    return {
      amount: chargedFor(0n) - chargedFor(inputs.plan.price),
      description: `${name} plan in ${first.number}`,
      rest: { start: first.periodEnd, end },
    };
  }
  return {
    amount: chargedFor(priceOf(terms)) - chargedFor(inputs.plan.price),
    description: `${terms.name} plan instead of ${name} plan in ${first.number}`,
    rest: null,
  };
}

/** Returns whether an invoice charges for the first period of a plan with these terms. */
function isFor({ inputs, periodStart, periodEnd }: PlatformInvoiceRow, terms: Terms): boolean {
  const { name, price } = thawInputs(inputs).plan;
  return (
    name === terms.name &&
    price === priceOf(terms) &&
    periodEnd === periodAt(periodStart, terms.interval, 0).end
  );
}

/**
 * Replaces the unpaid first invoice of a trial with one for the plan that will apply to its period, due at the same
 * time; issues it if none exists yet. Payments confirmed for the old one become a credit, which the new one uses. An
 * invoice that is paid, or has a payment in flight, stays. Returns the updated subscription. Throws the errors of issuing.
 */
export async function alignFirstInvoice(
  tx: Tx,
  app: InTx,
  at: Instant,
  locked: LockedSubscription,
  terms: Terms,
): Promise<LockedSubscription> {
  const { subscription } = locked;
  const { status, anchorAt } = subscription;
  if (status !== "trialing") return locked;
  const stale = staleFirstInvoice(locked, terms);
  if (stale === null && (await findFirstInvoice(tx, subscription)) !== null) return locked;
  if (stale !== null) await voidPlatformInvoice(tx, app, at, stale, locked);
  const issued = await issuePlatformInvoice(tx, app, at, {
    subscription,
    terms,
    elapsed: null,
    period: periodAt(anchorAt, terms.interval, 0),
    // Dunning may be paused after a reorganization, to leave time to pay again.
    dueAt: Math.max(stale?.dueAt ?? anchorAt, stale?.dunningFrom ?? anchorAt),
  });
  const others = locked.invoices.filter(({ id }) => id !== stale?.id);
  return { ...locked, invoices: issued?.status === "open" ? [...others, issued] : others };
}

/**
 * Charges or credits the plan difference of a first invoice. Call it once, when the trial has ended, with the
 * subscription in the first period after it, paid or not. Returns the invoice that it issued for the rest of a longer
 * period; null: none.
 */
export async function chargePlanDifference(
  tx: Tx,
  app: InTx,
  at: Instant,
  subscription: SubscriptionRow,
): Promise<PlatformInvoiceRow | null> {
  const first = await findFirstInvoice(tx, subscription);
  const difference = first === null ? null : planDifferenceOf(first, subscription.terms);
  if (first === null || difference === null) return null;
  const { organizationId, currency, decimals } = first;
  const { amount, description, rest } = difference;
  const made = { organizationId, currency, decimals, createdBy: "system" };
  if (amount > 0n) await addAdjustment(tx, app, at, { ...made, amount, description });
  if (amount < 0n) {
    await grantCredit(tx, app, at, {
      ...made,
      amount: -amount,
      reason: description,
      expiresAt: null,
      sourceInvoiceId: null,
    });
  }
  if (rest === null) return null;
  const { terms } = subscription;
  return issuePlatformInvoice(tx, app, at, {
    subscription,
    terms,
    period: rest,
    elapsed: null,
    dueAt: null,
  });
}
