import { money, settlementAsset, tokenAsset, type Money } from "../../kernel/money/money.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { columns, decodeRows } from "../../platform/database/schema/statements.ts";
import type { RawRow } from "../../platform/database/database.ts";
import { type InvoiceView, viewOf } from "./records.ts";
import {
  confirmationsShown,
  referenceOf,
  type InvoiceException,
  type InvoiceStatus,
} from "./rules.ts";
import { isSameOption, type PaymentOption } from "../organizations/checkout-policy.ts";
import {
  excessOf,
  excessSlackOf,
  optionsOf,
  quotesMax,
  quotesOf,
  type Quote,
} from "./options/quotes.ts";
import { owedOf } from "./settlement/owed.ts";
import { paidAmountOf } from "./settlement/terms-to-pay.ts";
import { invoices } from "./table.ts";

interface PayerOption extends Pick<PaymentOption, "network" | "tokenSymbol"> {
  /** Whether it was chosen before, so that its rate is locked. */
  readonly isHeld: boolean;
}

/** The fields of an issued invoice that its payer may see. */
export interface PayerInvoice {
  readonly id: Id<"invoice">;
  readonly organizationId: Id<"organization">;
  /** The payment link at which the payer started it; null if a merchant made it. */
  readonly startedAtLink: Id<"paymentLink"> | null;
  readonly publicId: string;
  readonly checkoutId: string;
  /** The reference that payer and merchant use in communication, such as `P7K2-9QXD`. */
  readonly reference: string;
  readonly description: string | null;
  readonly externalId: string | null;
  readonly status: Exclude<InvoiceStatus, "draft">;
  readonly exception: InvoiceException;
  readonly network: string;
  /** In the network's notation. */
  readonly walletAddress: string;
  /** True if other invoices have the same address, so that the amount tells their payments apart. */
  readonly isAddressShared: boolean;
  /** In the settlement currency. */
  readonly amount: Money;
  readonly paidAmount: Money;
  /**
   * In tokens: the payable amount, the most that was requested in total, the amount seen, and the amount that remains.
   */
  readonly payable: Money;
  readonly asked: Money;
  readonly received: Money;
  readonly remaining: Money;
  /** The largest excess that is not an overpayment, in the smallest unit of the token in force. */
  readonly excessSlack: bigint;
  /** The money that the merchant owes to the payer, in tokens. */
  readonly owed: Money;
  readonly confirmations: { readonly current: number; readonly required: number };
  /** The block of its newest payment, from which the confirmations are counted; null without payments. */
  readonly latestBlock: number | null;
  /** The options that the merchant offers, in his order. */
  readonly options: readonly PayerOption[];
  /** Whether options without a hold may be chosen. */
  readonly hasRoom: boolean;
  /** The rates and amounts of the options that were chosen. */
  readonly quotes: readonly Quote[];
  readonly checkoutUrl: string;
  readonly redirectUrl: string | null;
  readonly expiresAt: Instant;
  readonly paidAt: Instant | null;
  /** The feature that manages the invoice; null for a merchant's own. */
  readonly managedBy: "billing" | null;
}

/** Returns null for a draft, which payers cannot see, and for an invoice that was canceled as a draft. */
function payerInvoice(invoice: InvoiceView): PayerInvoice | null {
  const { status, checkoutId, checkoutUrl, walletAddress, payableAmount, expiresAt } = invoice;
  if (status === "draft" || checkoutId === null || checkoutUrl === null) return null;
  if (walletAddress === null || payableAmount === null || expiresAt === null) return null;
  const settlement = settlementAsset(invoice.settlementCurrency, invoice.settlementDecimals);
  const token = tokenAsset(invoice.tokenSymbol, invoice.tokenDecimals);
  const quotes = quotesOf(invoice);
  const asked = invoice.askedAmount ?? payableAmount;
  // An excess that is not an overpayment counts as requested.
  const isSlack = invoice.seenAmount > asked && excessOf(invoice) === 0n;
  return {
    id: invoice.id,
    organizationId: invoice.organizationId,
    startedAtLink: invoice.startedAtLink,
    publicId: invoice.publicId,
    checkoutId,
    reference: referenceOf(invoice.publicId),
    description: invoice.description,
    externalId: invoice.externalId,
    status,
    exception: invoice.exception,
    network: invoice.network,
    walletAddress,
    isAddressShared: invoice.addressIndex === null,
    amount: money(invoice.amount, settlement),
    paidAmount: money(paidAmountOf(invoice), settlement),
    payable: money(payableAmount, token),
    asked: money(isSlack ? invoice.seenAmount : asked, token),
    received: money(invoice.seenAmount, token),
    remaining: money(invoice.remainingAmount ?? 0n, token),
    excessSlack: excessSlackOf(invoice),
    owed: money(owedOf(invoice), token),
    confirmations: {
      current: confirmationsShown(invoice, invoice.tipHeight),
      required: invoice.requiredConfirmations,
    },
    latestBlock: invoice.latestBlock,
    options: optionsOf(invoice).map(({ network, tokenSymbol }) => ({
      network,
      tokenSymbol,
      isHeld: quotes.some((quote) => isSameOption(quote, { network, tokenSymbol })),
    })),
    hasRoom: quotes.length < quotesMax,
    quotes,
    checkoutUrl,
    redirectUrl: invoice.redirectUrl,
    expiresAt,
    paidAt: invoice.paidAt,
    managedBy: invoice.managedBy,
  };
}

/** Returns the invoice with its confirmations at a network's newest block; the same object if they are unchanged. */
export function atTip(invoice: PayerInvoice, tipHeight: number | null): PayerInvoice {
  const { required } = invoice.confirmations;
  const current = confirmationsShown({ ...invoice, requiredConfirmations: required }, tipHeight);
  if (current === invoice.confirmations.current) return invoice;
  return { ...invoice, confirmations: { current, required } };
}

/** The select list of invoices `i`, for statements whose rows `readPayerInvoices` reads. */
export const payerInvoiceColumns = columns(invoices, "i");

/** Reads rows selected with `payerInvoiceColumns`; null for those that payers cannot see. The tip is not known yet. */
export function readPayerInvoices(
  rows: readonly RawRow[],
  baseUrl: string,
): (PayerInvoice | null)[] {
  return decodeRows(invoices, rows).map((row) => payerInvoice(viewOf(row, baseUrl, null)));
}
