import { z } from "zod";
import {
  anyAddress,
  createdTimes,
  exactly,
  momentOf,
  oneOrMore,
  pageParameters,
  paidTimes,
  transactionHash,
} from "../../api/declare/list.ts";
import { invalidField } from "../../kernel/errors.ts";
import { invoiceSorts, type InvoiceFilters } from "./search/filters.ts";
import {
  datetime,
  id,
  line,
  listRecord,
  metadata,
  money,
  moneyAnswer,
  paragraph,
  record,
  requestRecord,
  responseRecord,
  webAddress,
} from "../../api/declare/record.ts";
import type { PageQuery } from "../../kernel/page.ts";
import { percentPattern } from "../../kernel/money/percent.ts";
import { invoiceExceptions, invoiceStatuses } from "./rules.ts";

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
    .meta({ description: "The underpayment that is accepted as full payment, in percent." });
const expiresIn = () =>
  z.int().min(expiresInSecondsRange.least).max(expiresInSecondsRange.most).meta({
    description: "Time from the issue until the invoice expires, in seconds.",
  });

export const ConfirmationProgress = responseRecord("ConfirmationProgress", {
  current: z.int(),
  required: z.int(),
});

export const InvoiceStatusRecord = record("InvoiceStatus", z.enum(invoiceStatuses));

export const InvoiceRecord = responseRecord("Invoice", {
  id: id("invoice"),
  publicId: z.string(),
  checkoutId: z.string().nullable(),
  checkoutUrl: z.string().nullable(),
  status: InvoiceStatusRecord,
  exception: z.enum(invoiceExceptions).meta({
    description:
      "The reason why the invoice was not paid exactly: the first of these that applies. `reverted`: a reorganization removed a payment that had counted. `late`: a payment arrived after the deadline. `overpaid`: the payer sent more than requested. `underpaid`: the payer sent less than `payableAmount`, and no more is expected; with the status `paid`, the shortfall is within `underpaymentTolerance`, with `expired` it is not. `none`: none of these.",
  }),
  amount: moneyAnswer(),
  settlementCurrency: z.string(),
  payableAmount: moneyAnswer().nullable(),
  remainingAmount: moneyAnswer().nullable().meta({
    description: "The amount that the payer still has to send, in tokens; null while draft.",
  }),
  paidAmount: moneyAnswer(),
  paidTokenAmount: moneyAnswer(),
  exchangeRate: z.string().nullable(),
  tokenSymbol: z.string(),
  network: z.string(),
  walletId: id("wallet").nullable(),
  walletAddress: z.string().nullable(),
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
  createdAt: datetime(),
  updatedAt: datetime(),
  issuedAt: datetime().nullable(),
  paidAt: datetime().nullable(),
  canceledAt: datetime().nullable(),
});

export const InvoiceListRecord = listRecord("InvoiceList", InvoiceRecord);

/** The filters and the sort order of the list of invoices. */
export const invoiceQuery = {
  ...pageParameters,
  status: oneOrMore(invoiceStatuses).optional(),
  network: exactly("The network's id, such as tron.").optional(),
  tokenSymbol: exactly("Such as USDT.").optional(),
  settlementCurrency: exactly("Such as USD.").optional(),
  walletId: id("wallet").optional(),
  customerId: id("customer").optional(),
  externalId: z.string().max(externalIdLengthMax).optional(),
  walletAddress: anyAddress().optional(),
  transactionHash: transactionHash().optional(),
  metadataKey: z.string().min(1).max(metadataKeyLengthMax).optional().meta({
    description: "Together with `metadataValue`: invoices whose metadata has this entry.",
  }),
  metadataValue: z.string().max(metadataValueLengthMax).optional(),
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
export const InvoiceQuery = z.strictObject(invoiceQuery);

/** Converts the query for the service. Throws a 400 for a metadata key without a value, or a value without a key. */
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
  tokenSymbol: code(),
  network: code(),
  ...optional,
  draft: z
    .boolean()
    .optional()
    .meta({ description: "Keeps the invoice as an editable draft instead of issuing it." }),
});

export const UpdateInvoiceRequest = requestRecord("UpdateInvoiceRequest", {
  amount: money().optional(),
  settlementCurrency: code().optional(),
  tokenSymbol: code().optional(),
  network: code().optional(),
  ...optional,
  status: z.enum(["open"]).optional().meta({
    description: "`open` issues the draft after applying the other changes of the request.",
  }),
});
