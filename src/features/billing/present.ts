import type { z } from "zod";
import { settlementAsset } from "../../kernel/asset.ts";
import { toIso, toIsoOrNull } from "../../kernel/clock.ts";
import { formatMoney, money } from "../../kernel/money.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import type { Plan } from "../../platform/config/index.ts";
import { presentPayment, type PaymentView } from "../payments/index.ts";
import { presentWallet } from "../wallets/index.ts";
import type {
  AdminPlatformInvoiceDetailRecord,
  AdminPlatformInvoiceListRecord,
  PlatformReceiveWalletRecord,
} from "./admin-records.ts";
import type { ReceiveWallet } from "./receive-wallet.ts";
import type { PlanCatalogRecord, PlatformInvoiceRecord } from "./records.ts";
import type { PlatformInvoiceLineRow, PlatformInvoiceRow } from "./table.ts";

/** A platform invoice with what it takes to show it. */
export interface PlatformInvoiceView {
  readonly invoice: PlatformInvoiceRow;
  /** In their order. */
  readonly lines: readonly PlatformInvoiceLineRow[];
  /** Where it is paid; null where nothing is to be paid. */
  readonly checkoutUrl: string | null;
}

/** The same for the platform's admins. */
export interface AdminInvoiceView extends PlatformInvoiceView {
  readonly organizationName: string;
}

export interface AdminInvoiceDetail extends AdminInvoiceView {
  /** What came for it, at whichever of the invoices that it was payable by; oldest first. */
  readonly payments: readonly PaymentView[];
}

/** The catalog has one page. */
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
  return {
    id: invoice.id,
    number: invoice.number,
    organizationId: invoice.organizationId,
    status: invoice.status,
    periodStart: toIso(invoice.periodStart),
    periodEnd: toIso(invoice.periodEnd),
    subtotal: shown(invoice.subtotal),
    discountTotal: shown(invoice.discountTotal),
    creditTotal: shown(invoice.creditTotal),
    total: shown(invoice.total),
    currency: invoice.currency,
    lines: lines.map(({ id, kind, description, quantity, unitAmount, amount }) => ({
      ...{ id, kind, description, quantity },
      unitAmount: shown(unitAmount),
      amount: shown(amount),
    })),
    checkoutUrl,
    merchantInvoicePublicId: invoice.twinPublicId,
    issuedAt: toIso(invoice.issuedAt),
    dueAt: toIso(invoice.dueAt),
    paidAt: toIsoOrNull(invoice.paidAt),
    createdAt: toIso(invoice.createdAt),
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
