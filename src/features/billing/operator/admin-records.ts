import * as z from "zod";
import { pageParameters } from "../../../http/declare/list.ts";
import {
  datetime,
  describeFields,
  id,
  line,
  listRecord,
  money,
  moneyText,
  presentRow,
  record,
  requestRecord,
  responseRecord,
  signedMoneyText,
} from "../../../http/declare/record.ts";
import { toIso, toIsoOrNull, type Instant } from "../../../kernel/clock.ts";
import {
  formatMoney,
  money as moneyOf,
  settlementAsset,
  signedMoneyPattern,
} from "../../../kernel/money/money.ts";
import { mapPage, type Page } from "../../../kernel/page.ts";
import type { Violation } from "../../../platform/database/schema/checks.ts";
import { PaymentRecord, presentPayment, type PaymentView } from "../../payments/records.ts";
import { presentWallet } from "../../wallets/records.ts";
import { WalletRecord } from "../../wallets/records.ts";
import type { WalletView } from "../../wallets/store.ts";
import type { Charges } from "../charges.ts";
import type { Period } from "../periods.ts";
import {
  platformInvoiceStatuses,
  PlatformInvoiceRecord,
  presentPlatformInvoice,
  type PlatformInvoiceView,
} from "../records.ts";
import { cancelTimes, subscriptionStatuses } from "../status.ts";
import type { AdjustmentRow, CreditRow, DiscountRow, SubscriptionRow } from "../table.ts";

const reasonLengthMax = 500;
const periodsMax = 1_200;
const tokenLengthMax = 20;

/** The function refuses unknown currencies. */
const currency = () => z.string().min(1).max(tokenLengthMax);
const signedMoney = () =>
  z.string().regex(signedMoneyPattern, { error: 'must be decimal text such as "-4.10"' });

export const ApplyAdminCreditRequest = requestRecord("ApplyAdminCreditRequest", {
  amount: money(),
  currency: currency(),
  reason: line(reasonLengthMax),
  expiresAt: datetime().nullish(),
});
describeFields(ApplyAdminCreditRequest, {
  amount: "The amount to grant: a decimal string in `currency`.",
  reason: "Why the credit is granted.",
  expiresAt:
    "Time from which the remainder is no longer used: ISO 8601, UTC; null or absent if it does not expire.",
});

export type GiveCreditInput = z.output<typeof ApplyAdminCreditRequest>;

export const AdminCreditRecord = responseRecord("AdminCredit", {
  id: id("credit"),
  organizationId: id("organization"),
  amount: moneyText(),
  remaining: moneyText(),
  currency: z.string(),
  reason: z.string(),
  status: z.enum(["available", "consumed", "expired"]),
  expiresAt: datetime().nullable(),
  createdBy: z
    .string()
    .meta({ description: "The id of a user or API key, the operator's name, or `system`." }),
  createdAt: datetime(),
});
describeFields(AdminCreditRecord, {
  amount: "The granted amount: a decimal string in `currency`.",
  remaining: "The part that no platform invoice has used yet: a decimal string in `currency`.",
  reason: "Why the credit was granted, as the operator or Till wrote it.",
  status: "`available`, `consumed` once nothing remains, or `expired` with a remainder.",
  expiresAt:
    "Time from which the remainder is no longer used: ISO 8601, UTC; null if it does not expire.",
});

/** A credit and the time for which its status is determined: it may have expired by then. */
export interface CreditView {
  readonly credit: CreditRow;
  readonly at: Instant;
}

export function presentCredit({ credit, at }: CreditView): z.input<typeof AdminCreditRecord> {
  const asset = settlementAsset(credit.currency, credit.decimals);
  return presentRow(AdminCreditRecord, credit, {
    amount: formatMoney(moneyOf(credit.amount, asset)),
    remaining: formatMoney(moneyOf(credit.remaining, asset)),
    status: creditStatus(credit, at),
  });
}

function creditStatus(credit: CreditRow, at: Instant): "available" | "consumed" | "expired" {
  if (credit.remaining === 0n) return "consumed";
  return credit.expiresAt !== null && credit.expiresAt <= at ? "expired" : "available";
}

export const AdminCreditListRecord = listRecord("AdminCreditList", AdminCreditRecord);

export const ApplyAdminDiscountRequest = requestRecord("ApplyAdminDiscountRequest", {
  kind: z.enum(["percent", "fixed"]),
  value: z.string().min(1).max(40).meta({
    description: 'A percentage such as "15", or an amount of `currency`.',
  }),
  currency: currency().nullish().meta({ description: "For fixed discounts only." }),
  periods: z.int().min(1).max(periodsMax).nullish().meta({
    description: "How many invoices the discount applies to; all if absent.",
  }),
  reason: line(reasonLengthMax),
});
describeFields(ApplyAdminDiscountRequest, {
  kind: "Whether `value` is a percentage (`percent`) or an amount (`fixed`).",
  reason: "Why the discount is granted.",
});

export type GiveDiscountInput = z.output<typeof ApplyAdminDiscountRequest>;

export const AdminDiscountRecord = responseRecord("AdminDiscount", {
  id: id("discount"),
  organizationId: id("organization"),
  kind: z.enum(["percent", "fixed"]),
  value: z.string(),
  currency: z.string().nullable(),
  periods: z.int().nullable(),
  periodsUsed: z.int(),
  reason: z.string(),
  status: z.enum(["active", "exhausted"]),
  createdBy: z.string(),
  createdAt: datetime(),
});
describeFields(AdminDiscountRecord, {
  kind: "Whether `value` is a percentage (`percent`) or an amount (`fixed`).",
  value: "A percentage such as `15`, or a decimal string in `currency`.",
  currency: "The currency of a fixed discount; null for a percentage.",
  periods: "The number of platform invoices that it applies to; null for all.",
  periodsUsed: "The number of platform invoices that it was applied to.",
  reason: "Why the discount was granted, as the operator wrote it.",
  status: "`active`, or `exhausted` once it was applied to `periods` invoices.",
  createdBy: "The id of a user or API key, the operator's name, or `system`.",
});

export function presentDiscount(row: DiscountRow): z.input<typeof AdminDiscountRecord> {
  return presentRow(AdminDiscountRecord, row, {
    status: row.periods !== null && row.periodsUsed >= row.periods ? "exhausted" : "active",
  });
}

export const AdminDiscountListRecord = listRecord("AdminDiscountList", AdminDiscountRecord);

export const CreateAdminManualAdjustmentRequest = requestRecord(
  "CreateAdminManualAdjustmentRequest",
  {
    amount: signedMoney().meta({
      description:
        "A decimal string in `currency`: a positive amount is charged, a negative one is deducted.",
    }),
    currency: currency(),
    description: line(reasonLengthMax),
  },
);
describeFields(CreateAdminManualAdjustmentRequest, {
  description: "The text of its line on the platform invoice.",
});

export type GiveAdjustmentInput = z.output<typeof CreateAdminManualAdjustmentRequest>;

export const AdminManualAdjustmentRecord = responseRecord("AdminManualAdjustment", {
  id: id("adjustment"),
  organizationId: id("organization"),
  amount: signedMoneyText(),
  currency: z.string(),
  description: z.string(),
  status: z.enum(["pending", "invoiced"]),
  platformInvoiceId: id("platformInvoice").nullable(),
  createdBy: z.string(),
  createdAt: datetime(),
});
describeFields(AdminManualAdjustmentRecord, {
  amount:
    "A decimal string in `currency`: a positive amount is charged, a negative one is deducted.",
  description: "The text of its line on the platform invoice.",
  status: "`pending` until the next platform invoice in its currency takes it, then `invoiced`.",
  platformInvoiceId: "The id of the platform invoice that took it; null while pending.",
  createdBy: "The id of a user or API key, the operator's name, or `system`.",
});

export function presentAdjustment(row: AdjustmentRow): z.input<typeof AdminManualAdjustmentRecord> {
  return presentRow(AdminManualAdjustmentRecord, row, {
    amount: formatMoney(moneyOf(row.amount, settlementAsset(row.currency, row.decimals))),
  });
}

export const AdminManualAdjustmentListRecord = listRecord(
  "AdminManualAdjustmentList",
  AdminManualAdjustmentRecord,
);

export const PlatformReceiveWalletRecord = responseRecord("PlatformReceiveWallet", {
  wallet: WalletRecord.nullable(),
  tokenSymbol: z.string().nullable(),
  network: z.string().nullable(),
  updatedAt: datetime().nullable(),
});
describeFields(PlatformReceiveWalletRecord, {
  wallet: "The wallet that receives the payments of platform invoices; null until one is set.",
  tokenSymbol: "The symbol of the token in which platform invoices are paid; null until it is set.",
  network: "The wallet's network; null until a wallet is set.",
  updatedAt: "Time of the last change: ISO 8601, UTC; null if it was never set.",
});

/** The wallet and token in which the platform is paid for its invoices; all fields are null until they are set. */
export interface ReceiveWallet {
  readonly wallet: WalletView | null;
  readonly tokenSymbol: string | null;
  readonly updatedAt: Instant | null;
}

export function presentReceiveWallet(
  set: ReceiveWallet,
): z.input<typeof PlatformReceiveWalletRecord> {
  return {
    wallet: set.wallet === null ? null : presentWallet(set.wallet),
    tokenSymbol: set.tokenSymbol,
    network: set.wallet?.network ?? null,
    updatedAt: toIsoOrNull(set.updatedAt),
  };
}

export const SetPlatformReceiveWalletRequest = requestRecord("SetPlatformReceiveWalletRequest", {
  walletId: id("wallet"),
  tokenSymbol: z.string().min(1).max(tokenLengthMax),
});
describeFields(SetPlatformReceiveWalletRequest, {
  walletId: "The id of a wallet of the platform organization.",
});

export type SetReceiveWalletInput = z.output<typeof SetPlatformReceiveWalletRequest>;

const AdminPlatformInvoiceRecord = record(
  "AdminPlatformInvoice",
  PlatformInvoiceRecord.extend({ organizationName: z.string() }),
);

export const AdminPlatformInvoiceListRecord = listRecord(
  "AdminPlatformInvoiceList",
  AdminPlatformInvoiceRecord,
);

export const AdminPlatformInvoiceDetailRecord = record(
  "AdminPlatformInvoiceDetail",
  AdminPlatformInvoiceRecord.extend({ payments: z.array(PaymentRecord) }),
);
describeFields(AdminPlatformInvoiceDetailRecord, {
  payments: "The payments of the platform invoice, oldest first.",
});

/** A platform invoice as platform admins see it. */
export interface AdminInvoiceView extends PlatformInvoiceView {
  readonly organizationName: string;
}

export interface AdminInvoiceDetail extends AdminInvoiceView {
  /** The payments of all its collection invoices, current and former, oldest first. */
  readonly payments: readonly PaymentView[];
}

function presentAdminInvoice(view: AdminInvoiceView) {
  return { ...presentPlatformInvoice(view), organizationName: view.organizationName };
}

export function presentAdminInvoices(
  page: Page<AdminInvoiceView>,
): z.input<typeof AdminPlatformInvoiceListRecord> {
  return mapPage(page, presentAdminInvoice);
}

export function presentAdminInvoiceDetail(
  detail: AdminInvoiceDetail,
): z.input<typeof AdminPlatformInvoiceDetailRecord> {
  return { ...presentAdminInvoice(detail), payments: detail.payments.map(presentPayment) };
}

/** Filters of the list of all platform invoices. */
export const adminInvoiceQuery = {
  ...pageParameters,
  organizationId: id("organization").optional(),
  status: z.enum(platformInvoiceStatuses).optional(),
};
const AdminInvoiceQuery = z.strictObject(adminInvoiceQuery);
export type AdminInvoiceFilters = z.output<typeof AdminInvoiceQuery>;

/** Filters of the operators' list of subscriptions; only the command line uses them. */
export const SubscriptionQuery = z.strictObject({
  ...pageParameters,
  organizationId: id("organization").optional(),
  status: z.enum(subscriptionStatuses).optional(),
});

export type SubscriptionFilters = z.output<typeof SubscriptionQuery>;

/** A subscription as operators see it. */
export interface OperatedSubscription {
  readonly subscription: SubscriptionRow;
  readonly organizationName: string;
  readonly owedInvoices: number;
}

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

/** The input of `till billing cancel`. The reason is recorded in the audit log. */
export const CancelRequest = z.strictObject({
  when: z.enum(cancelTimes),
  reason: line(reasonLengthMax),
});

export type Cancellation = z.output<typeof CancelRequest>;

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

/** A preview of a subscription's next invoice, as if its period ended now. `planId` is the plan that it bills. */
export interface InvoicePreview {
  readonly subscription: SubscriptionRow;
  readonly organizationName: string;
  readonly period: Period;
  readonly planId: string;
  readonly currency: string;
  readonly decimals: number;
  readonly usageCount: number | null;
  readonly charges: Charges;
}

export function presentPreviews(page: Page<InvoicePreview>) {
  return mapPage(page, (one) => {
    const asset = settlementAsset(one.currency, one.decimals);
    const shown = (units: bigint) => formatMoney(moneyOf(units, asset));
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

export interface CheckedBilling {
  readonly checks: readonly {
    readonly name: string;
    readonly describe: string;
    readonly violations: readonly Violation[];
  }[];
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
