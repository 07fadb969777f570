import type { Id } from "../../kernel/id.ts";
import {
  amount,
  flag,
  integer,
  json,
  signedAmount,
  table,
  text,
  time,
  type RowOf,
} from "../../platform/database/schema/table.ts";
import type { FrozenInputs, LineKind } from "./charges.ts";
import type { Terms } from "./plans.ts";
import type { SubscriptionStatus } from "./status.ts";

export const subscriptions = table(
  "subscriptions",
  {
    id: text<Id<"subscription">>(),
    organizationId: text<Id<"organization">>(),
    status: text<SubscriptionStatus>(),
    /** The reason for the status, such as `unpaid`. */
    statusReason: text().nullable(),
    /** The plan as it was when it was selected: later changes of the catalog do not affect it. */
    terms: json<Terms>(),
    /** The id of the plan in the scheduled change; null: no change is scheduled. */
    pendingPlan: text().nullable(),
    /**
     * The terms of that plan when the change was requested; null for a change that an older version of Till scheduled.
     */
    pendingTerms: json<Terms>().nullable(),
    /** The end of the current period; null without a scheduled change. */
    planChangeEffectiveAt: time().nullable(),
    /** The time from which all periods are counted. */
    anchorAt: time(),
    /** The index of the current period; −1 is the trial. */
    periodIndex: integer(),
    currentPeriodStart: time(),
    currentPeriodEnd: time(),
    trialEndsAt: time().nullable(),
    /** When `subscription.trial_ending` was emitted. */
    trialNoticeAt: time().nullable(),
    hadTrial: flag(),
    /** The usage threshold last reported in the current period, in percent of the included invoices: 0, 80 or 100. */
    usageNotice: integer(),
    /** The start of the period that `issuedCount` covers; null: nothing has been counted yet. */
    issuedFrom: time().nullable(),
    /**
     * The number of invoices that have counted against the plan since `issuedFrom`; kept only for plans that allow none
     * beyond the included ones.
     */
    issuedCount: integer(),
    suspendedAt: time().nullable(),
    canceledAt: time().nullable(),
    /** The period boundary at which an operator's cancellation takes effect; null: no cancellation is scheduled. */
    cancelAt: time().nullable(),
    /** When the billing run must process the subscription next; null: nothing will ever be due. */
    nextActionAt: time().nullable(),
    /** When billing first failed, of the failures since the last success; null: it is not parked. */
    parkedAt: time().nullable(),
    parkReason: text().nullable(),
    parkedUntil: time().nullable(),
    parkCount: integer(),
    version: integer(),
    createdAt: time(),
    updatedAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "subscriptions_organization", columns: ["organizationId", "id"] },
      {
        name: "subscriptions_live",
        columns: ["organizationId"],
        unique: true,
        where: "status <> 'canceled'",
      },
      { name: "subscriptions_status", columns: ["status", "id"] },
      {
        name: "subscriptions_due",
        columns: ["nextActionAt"],
        where: "next_action_at IS NOT NULL",
      },
    ],
  },
);

type PlatformInvoiceStatus = "open" | "paid" | "past_due" | "void";

/** The platform's invoices to organizations. After the issue, their period, amounts and inputs never change. */
export const platformInvoices = table(
  "platform_invoices",
  {
    id: text<Id<"platformInvoice">>(),
    /** Such as `TILL-000001`; the numbers have no gaps. */
    number: text(),
    organizationId: text<Id<"organization">>(),
    subscriptionId: text<Id<"subscription">>(),
    status: text<PlatformInvoiceStatus>(),
    periodStart: time(),
    periodEnd: time(),
    currency: text(),
    decimals: integer(),
    subtotal: signedAmount(),
    discountTotal: amount(),
    /** Negative if a negative sum became a new credit. */
    creditTotal: signedAmount(),
    total: amount(),
    /** All inputs of the computation, so that the lines can be recomputed. */
    inputs: json<FrozenInputs>(),
    /** The time range in which usage was counted, end exclusive; null if none was counted. */
    usageFrom: time().nullable(),
    usageTo: time().nullable(),
    usageCount: integer().nullable(),
    /** The amount confirmed above the total (all of it if void), which was granted as a credit. */
    paidSurplus: amount(),
    issuedAt: time(),
    dueAt: time(),
    pastDueAt: time().nullable(),
    /** The end of the pause in dunning after a reorganization removed the payment; null: no pause. */
    dunningFrom: time().nullable(),
    paidAt: time().nullable(),
    voidedAt: time().nullable(),
    remindersSent: integer(),
    /** The collection invoice by which it is paid; null if nothing is to be paid. */
    twinId: text<Id<"invoice">>().nullable(),
    twinPublicId: text().nullable(),
    twinCheckoutId: text().nullable(),
    version: integer(),
    createdAt: time(),
    updatedAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "platform_invoices_number", columns: ["number"], unique: true },
      {
        name: "platform_invoices_period",
        columns: ["subscriptionId", "periodStart"],
        unique: true,
        where: "status <> 'void'",
      },
      { name: "platform_invoices_organization", columns: ["organizationId", "id"] },
      {
        name: "platform_invoices_organization_status",
        columns: ["organizationId", "status", "id"],
      },
      { name: "platform_invoices_status", columns: ["status", "id"] },
      {
        name: "platform_invoices_unpaid",
        columns: ["subscriptionId", "id"],
        where: "status IN ('open', 'past_due')",
      },
      { name: "platform_invoices_twin", columns: ["twinId"], where: "twin_id IS NOT NULL" },
    ],
  },
);

/** All collection invoices that a platform invoice has ever had, so that late payments reach it too. */
export const platformInvoiceTwins = table(
  "platform_invoice_twins",
  {
    twinId: text<Id<"invoice">>(),
    platformInvoiceId: text<Id<"platformInvoice">>(),
    createdAt: time(),
  },
  {
    primaryKey: ["twinId"],
    indexes: [{ name: "platform_invoice_twins_invoice", columns: ["platformInvoiceId"] }],
  },
);

/** The lines of platform invoices. Database triggers refuse to change or delete them. */
export const platformInvoiceLines = table(
  "platform_invoice_lines",
  {
    id: text(),
    platformInvoiceId: text<Id<"platformInvoice">>(),
    /** From 0, in the order of the computation. */
    position: integer(),
    kind: text<LineKind>(),
    description: text(),
    quantity: integer(),
    unitAmount: signedAmount(),
    amount: signedAmount(),
    /** The id of the adjustment, discount or credit that the line applies; null for other lines. */
    sourceId: text().nullable(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      {
        name: "platform_invoice_lines_position",
        columns: ["platformInvoiceId", "position"],
        unique: true,
      },
    ],
  },
);

/** Prepaid amounts of organizations, which pay their next platform invoices. */
export const credits = table(
  "credits",
  {
    id: text<Id<"credit">>(),
    organizationId: text<Id<"organization">>(),
    amount: amount(),
    remaining: amount(),
    currency: text(),
    decimals: integer(),
    reason: text(),
    expiresAt: time().nullable(),
    /** The id of a user or API key, the operator's name, or `system`. */
    createdBy: text(),
    /** The platform invoice whose surplus or negative sum became this credit. */
    sourceInvoiceId: text<Id<"platformInvoice">>().nullable(),
    createdAt: time(),
    version: integer(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "credits_organization", columns: ["organizationId", "id"] },
      { name: "credits_remaining", columns: ["organizationId", "currency", "remaining"] },
      {
        name: "credits_source",
        columns: ["sourceInvoiceId", "id"],
        where: "source_invoice_id IS NOT NULL",
      },
    ],
  },
);

/** The amounts that platform invoices took from credits; reversed when the invoice is voided. */
export const creditApplications = table(
  "credit_applications",
  {
    creditId: text<Id<"credit">>(),
    platformInvoiceId: text<Id<"platformInvoice">>(),
    amount: amount(),
    reversedAt: time().nullable(),
  },
  {
    primaryKey: ["creditId", "platformInvoiceId"],
    indexes: [{ name: "credit_applications_invoice", columns: ["platformInvoiceId"] }],
  },
);

export const discounts = table(
  "discounts",
  {
    id: text<Id<"discount">>(),
    organizationId: text<Id<"organization">>(),
    kind: text<"percent" | "fixed">(),
    /** A percentage, or an amount of `currency`, as text in its shortest form. */
    value: text(),
    /** Set for fixed discounts only, like `decimals`. */
    currency: text().nullable(),
    decimals: integer().nullable(),
    /** How many invoices it applies to; null: all. */
    periods: integer().nullable(),
    periodsUsed: integer(),
    reason: text(),
    createdBy: text(),
    createdAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [{ name: "discounts_organization", columns: ["organizationId", "id"] }],
  },
);

export const discountUses = table(
  "discount_uses",
  {
    discountId: text<Id<"discount">>(),
    platformInvoiceId: text<Id<"platformInvoice">>(),
    amount: amount(),
    reversedAt: time().nullable(),
  },
  {
    primaryKey: ["discountId", "platformInvoiceId"],
    indexes: [{ name: "discount_uses_invoice", columns: ["platformInvoiceId"] }],
  },
);

/** Amounts that are added to the next platform invoice unchanged. */
export const adjustments = table(
  "adjustments",
  {
    id: text<Id<"adjustment">>(),
    organizationId: text<Id<"organization">>(),
    /** A positive amount is charged, a negative one is deducted. */
    amount: signedAmount(),
    currency: text(),
    decimals: integer(),
    description: text(),
    status: text<"pending" | "invoiced">(),
    platformInvoiceId: text<Id<"platformInvoice">>().nullable(),
    createdBy: text(),
    createdAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "adjustments_organization", columns: ["organizationId", "id"] },
      {
        name: "adjustments_pending",
        columns: ["organizationId", "currency", "id"],
        where: "status = 'pending'",
      },
      {
        name: "adjustments_invoice",
        columns: ["platformInvoiceId"],
        where: "platform_invoice_id IS NOT NULL",
      },
    ],
  },
);

/** The state of billing: a single row, which a migration inserts. */
export const billingState = table(
  "billing_state",
  {
    id: text<"billing">(),
    /** The number of the next platform invoice. */
    nextNumber: integer(),
    receiveWalletId: text<Id<"wallet">>().nullable(),
    receiveToken: text().nullable(),
    receiveSetAt: time().nullable(),
    /** The last heartbeat of the billing run; a long gap extends due dates. */
    heartbeatAt: time().nullable(),
    version: integer(),
  },
  { primaryKey: ["id"] },
);

export type SubscriptionRow = RowOf<typeof subscriptions>;
export type PlatformInvoiceRow = RowOf<typeof platformInvoices>;
export type PlatformInvoiceLineRow = RowOf<typeof platformInvoiceLines>;
export type CreditRow = RowOf<typeof credits>;
export type DiscountRow = RowOf<typeof discounts>;
export type BillingStateRow = RowOf<typeof billingState>;
