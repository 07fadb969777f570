import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { settlementAsset, tokenAsset } from "../../kernel/money/asset.ts";
import { formatMoney, money } from "../../kernel/money/money.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { networkState } from "../../platform/chain/state/network-state.ts";
import type { Reader } from "../../platform/database/database.ts";
import { InvoiceRecord, type InvoiceListRecord } from "./records.ts";
import { isSameOption } from "../organizations/checkout-policy/payment-options.ts";
import { excessOf, optionsOf, quotesOf } from "./options/quotes.ts";
import { confirmationsShown } from "./rules.ts";
import { inReviewOf, owedOf } from "./settlement/owed.ts";
import { paidAmountOf } from "./settlement/terms-to-pay.ts";
import type { InvoiceRow } from "./store.ts";

/** An invoice with the additional data that its record shows. */
export interface InvoiceView extends InvoiceRow {
  readonly checkoutUrl: string | null;
  /** The newest scanned block of its network; null if none was scanned. */
  readonly tipHeight: number | null;
}

/** Adds the data that the record shows. `baseUrl` has no trailing slash. */
export function viewOf(row: InvoiceRow, baseUrl: string, tipHeight: number | null): InvoiceView {
  const checkoutUrl = row.checkoutId === null ? null : `${baseUrl}/pay/${row.checkoutId}`;
  return { ...row, checkoutUrl, tipHeight };
}

/** Reads what the record shows in addition to the row. `baseUrl` has no trailing slash. */
export async function shownInvoice(
  reader: Reader,
  row: InvoiceRow,
  baseUrl: string,
): Promise<InvoiceView> {
  const state = row.latestBlock === null ? null : await networkState(reader, row.network);
  return viewOf(row, baseUrl, state?.tipHeight ?? null);
}

const presented = new WeakMap<InvoiceView, z.input<typeof InvoiceRecord>>();

/** Presents a view; once, although the audit entry, the event and the response of a change all contain the record. */
export function presentInvoice(invoice: InvoiceView): z.input<typeof InvoiceRecord> {
  let record = presented.get(invoice);
  if (record === undefined) {
    record = recordOf(invoice);
    presented.set(invoice, record);
  }
  return record;
}

function recordOf(invoice: InvoiceView): z.input<typeof InvoiceRecord> {
  const settlement = settlementAsset(invoice.settlementCurrency, invoice.settlementDecimals);
  const token = tokenAsset(invoice.tokenSymbol, invoice.tokenDecimals);
  const tokens = (units: bigint | null) =>
    units === null ? null : formatMoney(money(units, token));
  const { payableAmount, seenAmount } = invoice;
  return presentRow(InvoiceRecord, invoice, {
    amount: formatMoney(money(invoice.amount, settlement)),
    payableAmount: tokens(payableAmount),
    remainingAmount: tokens(invoice.remainingAmount),
    paidAmount: formatMoney(money(paidAmountOf(invoice), settlement)),
    paidTokenAmount: formatMoney(money(seenAmount, token)),
    excessAmount: formatMoney(money(excessOf(invoice), token)),
    owedAmount: formatMoney(money(owedOf(invoice), token)),
    reviewAmount: formatMoney(money(inReviewOf(invoice), token)),
    confirmationProgress: {
      current: confirmationsShown(invoice, invoice.tipHeight),
      required: invoice.requiredConfirmations,
    },
    paymentOptions: presentOptions(invoice),
    objectVersion: invoice.version,
  });
}

function presentOptions(invoice: InvoiceView): z.input<typeof InvoiceRecord>["paymentOptions"] {
  const quotes = quotesOf(invoice);
  return optionsOf(invoice).map((option) => {
    const quote = quotes.find((each) => isSameOption(each, option));
    return {
      network: option.network,
      tokenSymbol: option.tokenSymbol,
      walletId: quote === undefined ? option.walletId : quote.walletId,
      isInForce: isSameOption(option, invoice),
      payableAmount:
        quote === undefined
          ? null
          : formatMoney(
              money(quote.payableAmount, tokenAsset(quote.tokenSymbol, quote.tokenDecimals)),
            ),
      exchangeRate: quote?.exchangeRate ?? null,
      walletAddress: quote?.walletAddress ?? null,
    };
  });
}

export function presentInvoices(page: Page<InvoiceView>): z.input<typeof InvoiceListRecord> {
  return mapPage(page, presentInvoice);
}
