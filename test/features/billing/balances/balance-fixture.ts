import { day } from "../../../../src/kernel/clock.ts";
import { createIds, type Id } from "../../../../src/kernel/id.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import {
  platformInvoiceLines,
  platformInvoices,
  subscriptions,
  type PlatformInvoiceLineRow,
  type PlatformInvoiceRow,
  type SubscriptionRow,
} from "../../../../src/features/billing/table.ts";
import { testContext } from "../../../support/store/stores.ts";

const ids = createIds(systemRandom);
const at = 1_800_000_000_000;

export function subscription(
  organizationId: Id<"organization">,
  changes: Partial<SubscriptionRow> = {},
): SubscriptionRow {
  return {
    id: ids.next("subscription", at),
    organizationId,
    status: "active",
    statusReason: null,
    terms: {
      id: "growth",
      name: "Growth",
      price: "49.00",
      currency: "USD",
      interval: "month",
      trialDays: 14,
      includedInvoices: 200,
      overagePrice: "0.35",
      features: [],
    },
    pendingPlan: null,
    pendingTerms: null,
    planChangeEffectiveAt: null,
    anchorAt: at,
    periodIndex: 0,
    currentPeriodStart: at,
    currentPeriodEnd: at + 31 * day,
    trialEndsAt: null,
    trialNoticeAt: null,
    hadTrial: false,
    usageNotice: 0,
    issuedFrom: null,
    issuedCount: 0,
    suspendedAt: null,
    canceledAt: null,
    cancelAt: null,
    nextActionAt: at + 31 * day,
    parkedAt: null,
    parkReason: null,
    parkedUntil: null,
    parkCount: 0,
    version: 1,
    createdAt: at,
    updatedAt: at,
    ...changes,
  };
}

let numbers = 0;

export function platformInvoice(
  of: SubscriptionRow,
  changes: Partial<PlatformInvoiceRow> = {},
): PlatformInvoiceRow {
  numbers += 1;
  return {
    id: ids.next("platformInvoice", at),
    number: `TEST-${String(numbers)}`,
    organizationId: of.organizationId,
    subscriptionId: of.id,
    status: "open",
    periodStart: of.currentPeriodStart,
    periodEnd: of.currentPeriodEnd,
    currency: "USD",
    decimals: 2,
    subtotal: 4_900n,
    discountTotal: 0n,
    creditTotal: 0n,
    total: 4_900n,
    inputs: {
      currency: "USD",
      decimals: 2,
      at,
      plan: { name: "Growth", price: { units: "4900" } },
      usage: null,
      adjustments: [],
      discounts: [],
      credits: [],
      minCollectable: { units: "100" },
    },
    usageFrom: null,
    usageTo: null,
    usageCount: null,
    paidSurplus: 0n,
    issuedAt: at,
    dueAt: at + 7 * day,
    pastDueAt: null,
    dunningFrom: null,
    paidAt: null,
    voidedAt: null,
    remindersSent: 0,
    twinId: null,
    twinPublicId: null,
    twinCheckoutId: null,
    version: 1,
    createdAt: at,
    updatedAt: at,
    ...changes,
  };
}

export function planLine(
  of: PlatformInvoiceRow,
  changes: Partial<PlatformInvoiceLineRow> = {},
): PlatformInvoiceLineRow {
  return {
    id: `${of.id}_0`,
    platformInvoiceId: of.id,
    position: 0,
    kind: "plan",
    description: "Growth plan",
    quantity: 1,
    unitAmount: 4_900n,
    amount: 4_900n,
    sourceId: null,
    ...changes,
  };
}

/** Inserts a canceled subscription with one platform invoice and its line. */
export async function addInvoice(
  db: Database,
  organizationId: Id<"organization">,
  changes: Partial<PlatformInvoiceRow> = {},
): Promise<PlatformInvoiceRow> {
  const of = subscription(organizationId, { status: "canceled", canceledAt: at });
  const invoice = platformInvoice(of, changes);
  await db.write(testContext, async (tx) => {
    await tx.insert(subscriptions, of);
    await tx.insert(platformInvoices, invoice);
    await tx.insert(platformInvoiceLines, planLine(invoice));
  });
  return invoice;
}
