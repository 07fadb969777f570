import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { settlementAsset } from "../../kernel/money/asset.ts";
import { toIsoOrNull } from "../../kernel/clock.ts";
import { formatMoney, money } from "../../kernel/money/money.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import type { Plan } from "../../platform/config/plans.ts";
import { presentPayment, type PaymentView } from "../payments/present-payment.ts";
import { presentWallet } from "../wallets/records.ts";
import type {
  AdminPlatformInvoiceDetailRecord,
  AdminPlatformInvoiceListRecord,
  PlatformReceiveWalletRecord,
} from "./operator/admin-records.ts";
import type { ReceiveWallet } from "./invoices/receive-wallet.ts";
import {
  PlatformInvoiceLineRecord,
  PlatformInvoiceRecord,
  SubscriptionRecord,
  type PlanCatalogRecord,
} from "./records.ts";
import type { PlatformInvoiceLineRow, PlatformInvoiceRow, SubscriptionRow } from "./table.ts";

/** A platform invoice with its lines and checkout URL. */
export interface PlatformInvoiceView {
  readonly invoice: PlatformInvoiceRow;
  /** Ordered by position. */
  readonly lines: readonly PlatformInvoiceLineRow[];
  /** Null if nothing is to be paid. */
  readonly checkoutUrl: string | null;
}

/** A platform invoice as platform admins see it. */
export interface AdminInvoiceView extends PlatformInvoiceView {
  readonly organizationName: string;
}

export interface AdminInvoiceDetail extends AdminInvoiceView {
  /** The payments of all its collection invoices, current and former, oldest first. */
  readonly payments: readonly PaymentView[];
}

/** Presents the catalog as a single page. */
export function presentPlans(plans: readonly Plan[]): z.input<typeof PlanCatalogRecord> {
  return {
    data: plans.map(({ policy: _policy, features, ...plan }) => ({
      ...plan,
      features: [...features],
    })),
    nextCursor: null,
  };
}

export function presentPlatformInvoice(
  view: PlatformInvoiceView,
): z.input<typeof PlatformInvoiceRecord> {
  const { invoice, lines, checkoutUrl } = view;
  const asset = settlementAsset(invoice.currency, invoice.decimals);
  const shown = (units: bigint) => formatMoney(money(units, asset));
  return presentRow(PlatformInvoiceRecord, invoice, {
    subtotal: shown(invoice.subtotal),
    discountTotal: shown(invoice.discountTotal),
    creditTotal: shown(invoice.creditTotal),
    total: shown(invoice.total),
    lines: lines.map((line) =>
      presentRow(PlatformInvoiceLineRecord, line, {
        unitAmount: shown(line.unitAmount),
        amount: shown(line.amount),
      }),
    ),
    checkoutUrl,
    merchantInvoicePublicId: invoice.twinPublicId,
  });
}

/** A subscription with its oldest unpaid platform invoice. */
export interface SubscriptionView {
  readonly subscription: SubscriptionRow;
  readonly openInvoice: PlatformInvoiceRow | null;
  /** Returns the URL of a checkout. */
  readonly checkoutUrl: (checkoutId: string) => string;
}

export function presentSubscription({
  subscription,
  openInvoice,
  checkoutUrl,
}: SubscriptionView): z.input<typeof SubscriptionRecord> {
  const { terms } = subscription;
  return presentRow(SubscriptionRecord, subscription, {
    plan: terms.id,
    planName: terms.name,
    openInvoice: openInvoice === null ? null : presentOpenInvoice(openInvoice, checkoutUrl),
  });
}

function presentOpenInvoice(
  invoice: PlatformInvoiceRow,
  checkoutUrl: SubscriptionView["checkoutUrl"],
) {
  const asset = settlementAsset(invoice.currency, invoice.decimals);
  return {
    id: invoice.id,
    status: invoice.status,
    total: formatMoney(money(invoice.total, asset)),
    currency: invoice.currency,
    checkoutUrl: checkoutUrl(invoice.twinCheckoutId ?? ""),
    merchantInvoicePublicId: invoice.twinPublicId ?? "",
  };
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
