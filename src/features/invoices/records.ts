import * as z from "zod";
import {
  datetime,
  describeFields,
  id,
  line,
  listRecord,
  metadata,
  money,
  moneyText,
  objectVersion,
  paragraph,
  presentRow,
  record,
  requestRecord,
  responseRecord,
  webAddress,
} from "../../http/declare/record.ts";
import {
  anyAddress,
  createdTimes,
  exactly,
  momentOf,
  oneOrMore,
  pageParameters,
  paidTimes,
  transactionHash,
} from "../../http/declare/list.ts";
import { invalidField } from "../../kernel/errors.ts";
import {
  formatMoney,
  money as moneyOf,
  settlementAsset,
  tokenAsset,
} from "../../kernel/money/money.ts";
import { percentPattern } from "../../kernel/money/ratio.ts";
import { mapPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { networkState } from "../../platform/chain/state/network-state.ts";
import type { Reader } from "../../platform/database/database.ts";
import { isSameOption, paymentOptionsInput } from "../organizations/checkout-policy.ts";
import { excessOf, optionsOf, quotesOf } from "./options/quotes.ts";
import { confirmationsShown, invoiceExceptions, invoiceStatuses } from "./rules.ts";
import { invoiceSorts, type InvoiceFilters } from "./search/filters.ts";
import { inReviewOf, owedOf } from "./settlement/owed.ts";
import { paidAmountOf } from "./settlement/terms-to-pay.ts";
import type { InvoiceRow } from "./store.ts";

const codeLengthMax = 40;
const externalIdLengthMax = 200;
const descriptionLengthMax = 2_000;
const searchLengthMax = 100;
const metadataKeyLengthMax = 40;
const metadataValueLengthMax = 500;
const expiresInSecondsRange = { least: 300, most: 2_592_000 };

const code = () => z.string().min(1).max(codeLengthMax);
const tolerance = () =>
  z
    .string()
    .regex(percentPattern, { error: 'must be a percentage as text such as "0.5", from 0 to 5' })
    .meta({
      description: "The underpayment that is accepted as full payment, in percent; 0 by default.",
    });
const expiresIn = () =>
  z.int().min(expiresInSecondsRange.least).max(expiresInSecondsRange.most).meta({
    description: "Time from the issue until the invoice expires, in seconds; 3600 by default.",
  });

export const ConfirmationProgress = responseRecord("ConfirmationProgress", {
  current: z.int(),
  required: z.int(),
});
describeFields(ConfirmationProgress, {
  current: "Confirmations of the payment with the fewest, at most `required`; 0 without a payment.",
  required: "Confirmations at which a payment is confirmed.",
});

export const InvoiceStatusRecord = record("InvoiceStatus", z.enum(invoiceStatuses));

const PaymentOptionRecord = responseRecord("PaymentOption", {
  network: z.string(),
  tokenSymbol: z.string(),
  walletId: id("wallet").nullable().meta({
    description:
      "The wallet that receives the payments; before the option is chosen, the one that the request names, if any.",
  }),
  isInForce: z.boolean().meta({
    description: "True for the option that the invoice's own fields describe.",
  }),
  payableAmount: moneyText().nullable().meta({
    description:
      "The whole amount in the option's token, at the rate that was locked when it was chosen; null before that.",
  }),
  exchangeRate: z.string().nullable(),
  walletAddress: z.string().nullable(),
});
describeFields(PaymentOptionRecord, {
  exchangeRate:
    "Tokens for one unit of `settlementCurrency`, locked when the option was chosen; rounded for display. Null before that.",
  walletAddress: "The address to pay, in the network's notation; null before the option is chosen.",
});

export const InvoiceRecord = responseRecord("Invoice", {
  id: id("invoice"),
  publicId: z.string(),
  checkoutId: z.string().nullable(),
  checkoutUrl: z.string().nullable(),
  status: InvoiceStatusRecord,
  exception: z.enum(invoiceExceptions).meta({
    description:
      "The reason why the invoice was not paid exactly: the first of these that applies. `reverted`: a reorganization removed a payment that had counted. `late`: a payment arrived after the deadline. `overpaid`: the payer sent more than requested, by at least the token's `minimumAmount`. `underpaid`: the payer sent less than `payableAmount`, and no more is expected; with the status `paid`, the shortfall is within `underpaymentTolerance`, with `expired` it is not. `none`: none of these.",
  }),
  amount: moneyText(),
  settlementCurrency: z.string(),
  payableAmount: moneyText().nullable(),
  remainingAmount: moneyText().nullable().meta({
    description: "The amount that the payer still has to send, in tokens; null while draft.",
  }),
  paidAmount: moneyText(),
  paidTokenAmount: moneyText(),
  excessAmount: moneyText().meta({
    description:
      "The part of `paidTokenAmount` above the most that the payer was asked for, in tokens; 0 unless more was sent.",
  }),
  owedAmount: moneyText().meta({
    description:
      "The money that the merchant owes to the payer now, in tokens: the confirmed `excessAmount` of a paid invoice, or all confirmed payments of an expired or canceled one; and in every status its rejected payments, as far as their transfers are on the chain and not allocated or owed elsewhere (until its block is final, a reorganization can still remove a transfer, and its refund is refused with `refund_too_early`); less the refunds that are sent or confirmed. A rejected payment that only its payer's transaction hash had assigned to the invoice (its `source` is `submitted`), and that was never accepted, is not in it: it is probably somebody else's. Payments in other tokens are converted at the invoice's rates, rounded down. Always 0 for an invoice that Till's own billing collects.",
  }),
  reviewAmount: moneyText().meta({
    description:
      "The sum of the payments that wait for the merchant's decision (`review`), in tokens. It is in neither `paidTokenAmount` nor `owedAmount`.",
  }),
  exchangeRate: z.string().nullable(),
  tokenSymbol: z.string(),
  network: z.string(),
  walletId: id("wallet").nullable(),
  walletAddress: z.string().nullable(),
  paymentOptions: z.array(PaymentOptionRecord).meta({
    description:
      "The tokens and networks among which the payer may choose. `tokenSymbol`, `network`, `walletId`, `walletAddress`, `exchangeRate` and all amounts in tokens are those of the option in force: the first one at the issue, then the one that the payer chose last or in which money came last.",
  }),
  customerId: id("customer").nullable(),
  externalId: z.string().nullable().meta({
    description: "The merchant's own number, such as an order number. Its payer sees it.",
  }),
  description: z.string().nullable().meta({
    description: "The purchase, in words for the payer, who sees it.",
  }),
  redirectUrl: z.string().nullable(),
  expiresInSeconds: z.int(),
  underpaymentTolerance: z.string(),
  metadata: z.record(z.string(), z.string()),
  transactionHashes: z.array(z.string()).meta({
    description:
      "Hashes of the transactions that make up `paidAmount`, as the network's explorers write them, without duplicates, in the order in which Till detected their payments.",
  }),
  confirmationProgress: ConfirmationProgress,
  expiresAt: datetime().nullable(),
  lateUntil: datetime().nullable(),
  createdAt: datetime(),
  updatedAt: datetime(),
  issuedAt: datetime().nullable(),
  paidAt: datetime().nullable(),
  canceledAt: datetime().nullable(),
  objectVersion: objectVersion(),
});
describeFields(InvoiceRecord, {
  publicId: "The short id that the payer sees.",
  checkoutId:
    "The unguessable id of the checkout, which is part of its URL; null while draft, and to a key that only reads.",
  checkoutUrl:
    "The URL of the page on which the payer pays; null while draft, and to a key that only reads.",
  status:
    "The status. `partially_paid`: a part was detected. `confirming`: the whole amount was detected. `paid`: it is confirmed. `expired`: the deadline passed without the whole amount.",
  amount: "The price: a decimal string in `settlementCurrency`.",
  payableAmount:
    "The amount that the payer must send in total: a decimal string in tokens; null while draft. It may exceed the converted price by a surcharge that tells payments at one address apart.",
  paidAmount:
    "The worth of the detected payments, confirmed or not, at the invoice's rate: a decimal string in `settlementCurrency`, rounded down.",
  paidTokenAmount:
    "The sum of the detected payments, confirmed or not: a decimal string in tokens.",
  exchangeRate:
    "Tokens for one unit of `settlementCurrency`, locked at the issue, or when the payer chose the option; rounded for display. Null while draft.",
  walletId: "The id of the receiving wallet; null for a draft without a requested one.",
  walletAddress:
    "The address that the payer must pay, in the network's notation; null while draft.",
  customerId: "The id of the customer who pays; null without one.",
  redirectUrl: "The shop's page to which the payer returns; null without one.",
  expiresInSeconds: "Time from the issue until the invoice expires, in seconds.",
  underpaymentTolerance:
    "The underpayment that is accepted as full payment, in percent of the amount, as text such as `0.5`.",
  confirmationProgress: "The confirmations of the payment with the fewest.",
  expiresAt: "The deadline of the payment: ISO 8601, UTC; null while draft.",
  lateUntil:
    "The end of the late window: payments in later blocks are not assigned to the invoice and go to the inbox. `expiresAt` plus the `lateWindowDays` that the payment policy had at the issue; after a cancellation at most that many days after it. ISO 8601, UTC; null while draft.",
  issuedAt: "Time of the issue: ISO 8601, UTC; null while draft.",
  paidAt: "Time of the block that completed the amount: ISO 8601, UTC; null unless paid.",
  canceledAt: "Time of the cancellation: ISO 8601, UTC; null unless canceled.",
});

export const InvoiceListRecord = listRecord("InvoiceList", InvoiceRecord);

/** The filters and the sort order of the list of invoices. */
export const invoiceQuery = {
  ...pageParameters,
  status: oneOrMore(invoiceStatuses).optional(),
  network: exactly("Only invoices on this network, such as `tron`.").optional(),
  tokenSymbol: exactly("Only invoices payable in this token, such as `USDT`.").optional(),
  settlementCurrency: exactly(
    "Only invoices in this settlement currency, such as `USD`.",
  ).optional(),
  walletId: id("wallet").optional(),
  customerId: id("customer").optional(),
  externalId: z.string().max(externalIdLengthMax).optional(),
  walletAddress: anyAddress().optional(),
  transactionHash: transactionHash().optional(),
  metadataKey: z.string().min(1).max(metadataKeyLengthMax).optional().meta({
    description: "Together with `metadataValue`: invoices whose metadata has this entry.",
  }),
  metadataValue: z
    .string()
    .max(metadataValueLengthMax)
    .optional()
    .meta({ description: "Together with `metadataKey`: the entry's value." }),
  search: z
    .string()
    .trim()
    .min(1, { error: "must not be empty" })
    .max(searchLengthMax)
    .optional()
    .meta({
      description:
        "Beginnings of words of the description or of the customer's name, the beginning of the externalId or of the customer's e-mail address, a whole publicId, or the reference that its payer sees, such as `P7K2-9QXD`. Case is ignored.",
    }),
  ...createdTimes,
  ...paidTimes,
  sort: z.enum(invoiceSorts).optional().meta({
    description:
      "`-` means descending. The default is `-createdAt`, or `-paidAt` with `paidFrom` or `paidTo`. `amount` requires `settlementCurrency`.",
  }),
};
const InvoiceQuery = z.strictObject(invoiceQuery);

/** Converts the query for the function. Throws a 400 for a metadata key without a value, or a value without a key. */
export function readInvoiceQuery({
  createdFrom,
  createdTo,
  paidFrom,
  paidTo,
  metadataKey,
  metadataValue,
  walletAddress,
  ...query
}: z.output<typeof InvoiceQuery>): InvoiceFilters & PageQuery {
  if ((metadataKey === undefined) !== (metadataValue === undefined)) {
    const parameter = metadataKey === undefined ? "metadataKey" : "metadataValue";
    const message = "is required: send metadataKey and metadataValue together";
    throw invalidField({ parameter }, "required", message);
  }
  return {
    ...query,
    walletAddress: walletAddress?.shown,
    metadata:
      metadataKey === undefined || metadataValue === undefined
        ? undefined
        : { key: metadataKey, value: metadataValue },
    createdFrom: momentOf(createdFrom),
    createdTo: momentOf(createdTo),
    paidFrom: momentOf(paidFrom),
    paidTo: momentOf(paidTo),
  };
}

export const externalIdText = () => line(externalIdLengthMax);

const paymentOptions = () =>
  paymentOptionsInput().optional().meta({
    description:
      "Tokens and networks among which the payer may choose, each combination once; the first is in force at the issue. Instead of `network`, `tokenSymbol` and `walletId`.",
  });
const singleOption = "Together with the other one. Instead of `paymentOptions`.";

const optional = {
  walletId: id("wallet").nullish(),
  customerId: id("customer").nullish(),
  externalId: externalIdText().nullish(),
  description: paragraph(descriptionLengthMax).nullish(),
  redirectUrl: webAddress().nullish(),
  expiresInSeconds: expiresIn().optional(),
  underpaymentTolerance: tolerance().optional(),
  metadata: metadata().optional(),
};

export const CreateInvoiceRequest = requestRecord("CreateInvoiceRequest", {
  amount: money(),
  settlementCurrency: code(),
  tokenSymbol: code()
    .optional()
    .meta({
      description: `The token, such as USDT. ${singleOption} Without both, the options of the organization's payment policy apply.`,
    }),
  network: code()
    .optional()
    .meta({ description: `The network's id. ${singleOption}` }),
  paymentOptions: paymentOptions(),
  ...optional,
  draft: z
    .boolean()
    .optional()
    .meta({ description: "Keeps the invoice as an editable draft instead of issuing it." }),
  payerEnteredAmount: z.boolean().optional().meta({
    description:
      "True if a payer entered the amount in a form of yours, such as one for donations. On a shared address such an amount gets digits that nobody can foresee, and its payment may wait for the merchant, because a stranger could ask for what another payer's exchange delivers.",
  }),
});
export type CreateInvoiceInput = z.output<typeof CreateInvoiceRequest>;
describeFields(CreateInvoiceRequest, {
  amount:
    "The price: a decimal string in `settlementCurrency`, with at most its number of decimals.",
  settlementCurrency:
    "The currency of the price: an ISO 4217 code such as `USD`, or a token's symbol.",
  walletId:
    "The wallet that receives the payment. Without it, the default wallet of the network does, or a reserve that an owner has listed: see `listDefaultWallets`.",
  customerId: "The id of the customer who pays.",
  externalId:
    "The merchant's own number, such as an order number, unique in the organization. A repeated request with it returns the first invoice. Its payer sees it.",
  description: "The purchase, in words for the payer, who sees it.",
  redirectUrl: "The shop's page to which the payer returns: an http or https URL.",
});

export const UpdateInvoiceRequest = requestRecord("UpdateInvoiceRequest", {
  amount: money().optional(),
  settlementCurrency: code().optional(),
  tokenSymbol: code().optional(),
  network: code().optional(),
  paymentOptions: paymentOptions(),
  ...optional,
  status: z.enum(["open"]).optional().meta({
    description: "`open` issues the draft after applying the other changes of the request.",
  }),
});
export type UpdateInvoiceInput = z.output<typeof UpdateInvoiceRequest>;
describeFields(UpdateInvoiceRequest, {
  amount:
    "The price: a decimal string in `settlementCurrency`, with at most its number of decimals.",
  walletId: "The wallet that receives the payment; null: the default wallet of the network.",
  customerId: "The id of the customer who pays; null removes it.",
  externalId:
    "The merchant's own number, unique in the organization; null removes it. The payer sees it.",
  metadata: "Replaces all metadata.",
});

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
    units === null ? null : formatMoney(moneyOf(units, token));
  const { payableAmount, seenAmount } = invoice;
  return presentRow(InvoiceRecord, invoice, {
    amount: formatMoney(moneyOf(invoice.amount, settlement)),
    payableAmount: tokens(payableAmount),
    remainingAmount: tokens(invoice.remainingAmount),
    paidAmount: formatMoney(moneyOf(paidAmountOf(invoice), settlement)),
    paidTokenAmount: formatMoney(moneyOf(seenAmount, token)),
    excessAmount: formatMoney(moneyOf(excessOf(invoice), token)),
    owedAmount: formatMoney(moneyOf(owedOf(invoice), token)),
    reviewAmount: formatMoney(moneyOf(inReviewOf(invoice), token)),
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
              moneyOf(quote.payableAmount, tokenAsset(quote.tokenSymbol, quote.tokenDecimals)),
            ),
      exchangeRate: quote?.exchangeRate ?? null,
      walletAddress: quote?.walletAddress ?? null,
    };
  });
}

export function presentInvoices(page: Page<InvoiceView>): z.input<typeof InvoiceListRecord> {
  return mapPage(page, presentInvoice);
}
