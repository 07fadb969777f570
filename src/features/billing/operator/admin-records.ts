import * as z from "zod";
import { pageParameters } from "../../../http/declare/list.ts";
import {
  datetime,
  describeFields,
  id,
  line,
  listRecord,
  record,
  requestRecord,
  responseRecord,
} from "../../../http/declare/record.ts";
import { toIso, toIsoOrNull, type Instant } from "../../../kernel/clock.ts";
import { mapPage, type Page } from "../../../kernel/page.ts";
import { PaymentRecord, presentPayment, type PaymentView } from "../../payments/records.ts";
import { presentWallet, WalletRecord } from "../../wallets/records.ts";
import type { WalletView } from "../../wallets/store.ts";
import type { ChargeInputs, Charges } from "../charges.ts";
import type { InvoiceOrder } from "../invoices/issue.ts";
import {
  platformInvoiceStatuses,
  PlatformInvoiceRecord,
  presentLine,
  presentPlatformInvoice,
  presentTotals,
  type PlatformInvoiceView,
} from "../records.ts";
import { cancelTimes, subscriptionStatuses } from "../status.ts";
import type { SubscriptionRow } from "../table.ts";

const reasonLengthMax = 500;
const tokenLengthMax = 20;

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

/** A preview of a subscription's next invoice, as if its period ended now. */
export interface InvoicePreview {
  readonly order: InvoiceOrder;
  readonly organizationName: string;
  readonly inputs: ChargeInputs;
  readonly usageCount: number | null;
  readonly charges: Charges;
}

export function presentPreviews(page: Page<InvoicePreview>) {
  return mapPage(page, ({ order, organizationName, inputs, usageCount, charges }) => ({
    id: order.subscription.id,
    organizationId: order.subscription.organizationId,
    organizationName,
    plan: order.terms.id,
    periodStart: toIso(order.period.start),
    periodEnd: toIso(order.period.end),
    invoicesSoFar: usageCount,
    ...presentTotals(charges, inputs),
    currency: inputs.currency,
    lines: charges.lines.map((one) => presentLine(one, inputs)),
  }));
}
