import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { type PaymentLinkListRecord, PaymentLinkRecord } from "./records.ts";
import type { PaymentLinkRow } from "./table.ts";

/** A link with the address of its page. */
export interface PaymentLinkView extends PaymentLinkRow {
  readonly url: string;
}

export function presentPaymentLink(link: PaymentLinkView): z.input<typeof PaymentLinkRecord> {
  const { terms, url } = link;
  return presentRow(PaymentLinkRecord, link, {
    posterUrl: `${url}/poster`,
    settlementCurrency: terms.settlementCurrency,
    tokenSymbol: terms.tokenSymbol ?? null,
    network: terms.network ?? null,
    paymentOptions:
      terms.paymentOptions?.map(({ walletId = null, ...option }) => ({ ...option, walletId })) ??
      null,
    walletId: terms.walletId ?? null,
    description: terms.description ?? null,
    redirectUrl: terms.redirectUrl ?? null,
    objectVersion: link.version,
  });
}

export function presentPaymentLinks(
  page: Page<PaymentLinkView>,
): z.input<typeof PaymentLinkListRecord> {
  return mapPage(page, presentPaymentLink);
}
