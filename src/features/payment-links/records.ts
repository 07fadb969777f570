import * as z from "zod";
import { pageParameters } from "../../http/declare/list.ts";
import {
  datetime,
  describeFields,
  id,
  listRecord,
  objectVersion,
  presentRow,
  requestRecord,
  responseRecord,
} from "../../http/declare/record.ts";
import { CreateInvoiceRequest } from "../invoices/records.ts";
import { linkLimitNames } from "../invoices/errors.ts";
import { UsualPaymentOptionRecord } from "../organizations/records.ts";
import type { PaymentLinkRow } from "./terms.ts";

const { amount, settlementCurrency, tokenSymbol, network, walletId, paymentOptions } =
  CreateInvoiceRequest.shape;
const { description, redirectUrl, expiresInSeconds, underpaymentTolerance } =
  CreateInvoiceRequest.shape;

const linkStatuses = ["active", "disabled"] as const;

export const PaymentLinkRecord = responseRecord("PaymentLink", {
  id: id("paymentLink"),
  status: z.enum(linkStatuses),
  url: z.string().meta({ description: "The page on which payers start a payment." }),
  posterUrl: z.string().meta({ description: "A page with the link's QR code, to be printed." }),
  amount: z.string().nullable().meta({ description: "Null: the payer enters the amount." }),
  minAmount: z.string().nullable(),
  maxAmount: z.string().nullable(),
  settlementCurrency: z.string(),
  tokenSymbol: z.string().nullable(),
  network: z.string().nullable(),
  paymentOptions: z.array(UsualPaymentOptionRecord).nullable().meta({
    description: "Null: one option, or those of the organization's payment policy.",
  }),
  walletId: id("wallet").nullable(),
  description: z.string().nullable(),
  redirectUrl: z.string().nullable(),
  createdAt: datetime(),
  updatedAt: datetime(),
  objectVersion: objectVersion(),
});
describeFields(PaymentLinkRecord, {
  status: "A `disabled` link starts no further payments.",
  amount:
    "The amount of each payment: a decimal string in `settlementCurrency`; null if the payer enters it.",
  minAmount:
    "The smallest amount that a payer may enter: a decimal string in `settlementCurrency`; null without one.",
  maxAmount:
    "The largest amount that a payer may enter: a decimal string in `settlementCurrency`; null without one.",
  description: "The purchase, in words for the payers, who see it; null without one.",
  redirectUrl: "The shop's page to which payers return; null without one.",
});

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

/** The `data` of `payment_link.limited`. */
export const LimitedPaymentLinkRecord = responseRecord("LimitedPaymentLink", {
  ...PaymentLinkRecord.shape,
  limit: z.enum(linkLimitNames),
});
describeFields(LimitedPaymentLinkRecord, {
  limit:
    "The limit of unpaid invoices that was reached: of the link (`link`) or of all links of the organization (`organization`), so that everybody is refused; or of one range of client addresses at the link (`range_at_link`) or at all links (`range_in_organization`), so that only payers from that range are refused.",
});

export const PaymentLinkListRecord = listRecord("PaymentLinkList", PaymentLinkRecord);

export const linkQuery = { ...pageParameters, status: z.enum(linkStatuses).optional() };

export const CreatePaymentLinkRequest = requestRecord("CreatePaymentLinkRequest", {
  amount: amount.nullish().meta({
    description:
      "The amount of each invoice: a decimal string in `settlementCurrency`. Without one, the payer enters it.",
  }),
  minAmount: amount
    .nullish()
    .meta({ description: "The smallest amount that a payer may enter, in `settlementCurrency`." }),
  maxAmount: amount
    .nullish()
    .meta({ description: "The largest amount that a payer may enter, in `settlementCurrency`." }),
  settlementCurrency,
  tokenSymbol,
  network,
  paymentOptions,
  walletId,
  description,
  redirectUrl,
  expiresInSeconds,
  underpaymentTolerance,
});

export type CreatePaymentLinkInput = z.output<typeof CreatePaymentLinkRequest>;
