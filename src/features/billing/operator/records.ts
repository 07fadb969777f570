import * as z from "zod";
import { pageParameters } from "../../../api/declare/list.ts";
import { id, line } from "../../../api/declare/record.ts";
import { settlementAsset } from "../../../kernel/money/asset.ts";
import { toIso, toIsoOrNull } from "../../../kernel/clock.ts";
import { formatMoney, money } from "../../../kernel/money/money.ts";
import { mapPage, type Page } from "../../../kernel/page.ts";
import type { CheckedBilling, OperatedSubscription, Rehearsal } from "./service.ts";
import { reasonLengthMax } from "./admin-records.ts";
import { cancelTimes } from "../lifecycle/cancel.ts";
import { subscriptionStatuses } from "../status.ts";
import type { SubscriptionRow } from "../table.ts";

/** Filters of the operators' list of subscriptions; only the command line uses them. */
export const SubscriptionQuery = z.strictObject({
  ...pageParameters,
  organizationId: id("organization").optional(),
  status: z.enum(subscriptionStatuses).optional(),
});

export function presentOperated(page: Page<OperatedSubscription>) {
  return mapPage(page, ({ subscription, organizationName, owedInvoices }) => ({
    id: subscription.id,
    organizationId: subscription.organizationId,
    organizationName,
    plan: subscription.terms.id,
    status: subscription.status,
    currentPeriodStart: toIso(subscription.currentPeriodStart),
    currentPeriodEnd: toIso(subscription.currentPeriodEnd),
    pendingPlan: subscription.pendingPlan,
    planChangeEffectiveAt: toIsoOrNull(subscription.planChangeEffectiveAt),
    cancelAt: toIsoOrNull(subscription.cancelAt),
    owedInvoices,
    nextActionAt: toIsoOrNull(subscription.nextActionAt),
    parkedAt: toIsoOrNull(subscription.parkedAt),
    parkReason: subscription.parkReason,
  }));
}

/** The input of `till billing cancel`. */
export const CancelRequest = z.strictObject({
  when: z.enum(cancelTimes),
  reason: line(reasonLengthMax),
});

export function presentCanceled({
  id: subscriptionId,
  organizationId,
  status,
  canceledAt,
  cancelAt,
}: SubscriptionRow) {
  return {
    id: subscriptionId,
    organizationId,
    status,
    canceledAt: toIsoOrNull(canceledAt),
    cancelAt: toIsoOrNull(cancelAt),
  };
}

export function presentRehearsals(page: Page<Rehearsal>) {
  return mapPage(page, (one) => {
    const asset = settlementAsset(one.currency, one.decimals);
    const shown = (units: bigint) => formatMoney(money(units, asset));
    const { charges } = one;
    return {
      id: one.subscription.id,
      organizationId: one.subscription.organizationId,
      organizationName: one.organizationName,
      plan: one.planId,
      periodStart: toIso(one.period.start),
      periodEnd: toIso(one.period.end),
      invoicesSoFar: one.usageCount,
      subtotal: shown(charges.subtotal),
      discountTotal: shown(charges.discountTotal),
      creditTotal: shown(charges.creditTotal),
      total: shown(charges.total),
      currency: one.currency,
      lines: charges.lines.map(({ kind, description, quantity, unitAmount, amount }) => ({
        kind,
        description,
        quantity,
        unitAmount: shown(unitAmount),
        amount: shown(amount),
      })),
    };
  });
}

export function presentChecked({ checks }: CheckedBilling) {
  return {
    data: checks.map(({ name, describe, violations }) => ({
      name,
      describe,
      violations: violations.map(({ row, fault }) => ({ row, fault })),
    })),
    nextCursor: null,
  };
}
