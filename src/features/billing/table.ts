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
} from "../../platform/database/index.ts";
import type { FrozenInputs, LineKind } from "./charges.ts";
import type { Terms } from "./plans.ts";
import type { SubscriptionStatus } from "./status.ts";

export const subscriptions = table(
  "subscriptions",
  {
    id: text<Id<"subscription">>(),
    organizationId: text<Id<"organization">>(),
    status: text<SubscriptionStatus>(),
    /** Why it is in this state, in a word such as `unpaid`. */
    statusReason: text().nullable(),
    /** The plan as it was when it began: the catalog may change, a running plan does not. */
    terms: json<Terms>(),
    /** The id of the plan that a scheduled change brings; null: none is scheduled. */
    pendingPlan: text().nullable(),
    /** Its terms when the change was requested; null for a change that an older version of Till scheduled. */
    pendingTerms: json<Terms>().nullable(),
    /** The end of the current period; null without a scheduled change. */
    planChangeEffectiveAt: time().nullable(),
    /** What every boundary of periods is counted from. */
    anchorAt: time(),
    /** The period that runs: −1 is the trial. */
    periodIndex: integer(),
    currentPeriodStart: time(),
    currentPeriodEnd: time(),
    trialEndsAt: time().nullable(),
    /** When it was told that the trial ends soon. */
    trialNoticeAt: time().nullable(),
    hadTrial: flag(),
    /** Of how much of what its plan includes it was told in this period, in percent: 0, 80 or 100. */
    usageNotice: integer(),
    /** The start of the period that `issuedCount` counts; null: nothing was counted yet. */
    issuedFrom: time().nullable(),
    /** Invoices issued since `issuedFrom`, under a plan that sells none beyond those included; others are not counted. */
    issuedCount: integer(),
    suspendedAt: time().nullable(),
    canceledAt: time().nullable(),
    /** The boundary at which it ends, as an operator asked; null: it goes on. */
    cancelAt: time().nullable(),
    /** When the run has to look again; null where nothing will ever be due. */
    nextActionAt: time().nullable(),
    /** Since when billing it failed. */
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

export type PlatformInvoiceStatus = "open" | "paid" | "past_due" | "void";

/** What the platform asked an organization for. Only its state and what was paid ever change. */
export const platformInvoices = table(
  "platform_invoices",
  {
    id: text<Id<"platformInvoice">>(),
    /** `TILL-000001`, without gaps. */
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
    /** Below zero where what remained of a negative sum became a credit. */
    creditTotal: signedAmount(),
    total: amount(),
    /** All that the lines were computed from, so that they can be computed again. */
    inputs: json<FrozenInputs>(),
    /** The window in which usage was counted, its end excluded; null where none was. */
    usageFrom: time().nullable(),
    usageTo: time().nullable(),
    usageCount: integer().nullable(),
    /** What came above the total and is a credit by now. */
    paidSurplus: amount(),
    issuedAt: time(),
    dueAt: time(),
    pastDueAt: time().nullable(),
    /** Where a reorganisation took its payment: nothing is done about its debt before this. */
    dunningFrom: time().nullable(),
    paidAt: time().nullable(),
    voidedAt: time().nullable(),
    remindersSent: integer(),
    /** The ordinary invoice by which it is paid; null where nothing is to be paid. */
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

/** Every invoice by which a platform invoice could ever be paid: late money finds its way by this. */
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

/** Its lines. The database itself refuses to change or delete one. */
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
    /** The adjustment, discount or credit that it is about. */
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

/** Money that the platform owes an organization: it lowers what its next invoices ask for. */
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
    /** A user's or key's id, the operator's label, or `system`. */
    createdBy: text(),
    /** The platform invoice that it came from: an overpayment, or a sum below zero. */
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

/** What a platform invoice took from a credit; given back when the invoice is voided. */
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
    /** Of a fixed discount. */
    currency: text().nullable(),
    decimals: integer().nullable(),
    /** How many invoices it lowers; null: all. */
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

/** Amounts agreed by hand: the next invoice takes them up as they are. */
export const adjustments = table(
  "adjustments",
  {
    id: text<Id<"adjustment">>(),
    organizationId: text<Id<"organization">>(),
    /** Above zero it charges, below zero it gives back. */
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

/** What billing keeps once: its one row is there from the start. */
export const billingState = table(
  "billing_state",
  {
    id: text<"billing">(),
    /** The number of the next platform invoice. */
    nextNumber: integer(),
    receiveWalletId: text<Id<"wallet">>().nullable(),
    receiveToken: text().nullable(),
    receiveSetAt: time().nullable(),
    /** When the run last looked: a gap moves deadlines. */
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
export type AdjustmentRow = RowOf<typeof adjustments>;
export type BillingStateRow = RowOf<typeof billingState>;
