import { settlementAsset, tokenAsset } from "../../kernel/asset.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { money, type Money } from "../../kernel/money.ts";
import type { InvoiceView } from "./present.ts";
import {
  confirmationsShown,
  settlementOf,
  type InvoiceException,
  type InvoiceStatus,
} from "./rules.ts";

/** An issued invoice, as far as its payer is concerned. */
export interface PayerInvoice {
  readonly id: Id<"invoice">;
  readonly organizationId: Id<"organization">;
  /** What payer and merchant call the invoice by. */
  readonly publicId: string;
  readonly checkoutId: string;
  readonly status: Exclude<InvoiceStatus, "draft">;
  readonly exception: InvoiceException;
  readonly network: string;
  /** In the network's form. */
  readonly walletAddress: string;
  /** In the settlement currency. */
  readonly amount: Money;
  readonly paidAmount: Money;
  /** In tokens: the price, the most that was asked for in total, what was seen, and what is still to pay. */
  readonly payable: Money;
  readonly asked: Money;
  readonly received: Money;
  readonly remaining: Money;
  readonly confirmations: { readonly current: number; readonly required: number };
  readonly checkoutUrl: string;
  readonly redirectUrl: string | null;
  readonly expiresAt: Instant;
  readonly paidAt: Instant | null;
}

/** Null for a draft, which no payer sees, and for one that was canceled as a draft. */
export function payerInvoice(invoice: InvoiceView): PayerInvoice | null {
  const { status, checkoutId, checkoutUrl, walletAddress, payableAmount, expiresAt } = invoice;
  if (status === "draft" || checkoutId === null || checkoutUrl === null) return null;
  if (walletAddress === null || payableAmount === null || expiresAt === null) return null;
  const settlement = settlementAsset(invoice.settlementCurrency, invoice.settlementDecimals);
  const token = tokenAsset(invoice.tokenSymbol, invoice.tokenDecimals);
  const paid = settlementOf(invoice.seenAmount, invoice.amount, payableAmount);
  return {
    id: invoice.id,
    organizationId: invoice.organizationId,
    publicId: invoice.publicId,
    checkoutId,
    status,
    exception: invoice.exception,
    network: invoice.network,
    walletAddress,
    amount: money(invoice.amount, settlement),
    paidAmount: money(paid, settlement),
    payable: money(payableAmount, token),
    asked: money(invoice.askedAmount ?? payableAmount, token),
    received: money(invoice.seenAmount, token),
    remaining: money(invoice.remainingAmount ?? 0n, token),
    confirmations: {
      current: confirmationsShown(invoice, invoice.tipHeight),
      required: invoice.requiredConfirmations,
    },
    checkoutUrl,
    redirectUrl: invoice.redirectUrl,
    expiresAt,
    paidAt: invoice.paidAt,
  };
}
