import { z } from "zod";
import { datetime, id, listRecord, moneyAnswer, responseRecord } from "../../api/record.ts";
import {
  anyAddress,
  createdTimes,
  exactly,
  momentOf,
  oneOrMore,
  pageParameters,
  paidTimes,
  transactionHash,
  type FoundAddress,
} from "../../api/list.ts";
import { paymentSorts } from "./filters.ts";
import { paymentSources, paymentStatuses } from "./status.ts";

export const PaymentRecord = responseRecord("Payment", {
  id: id("payment"),
  invoiceId: id("invoice"),
  network: z.string(),
  tokenSymbol: z.string(),
  /** As the network's explorers write it. */
  transactionHash: z.string(),
  logIndex: z.int().min(0),
  fromAddress: z.string(),
  toAddress: z.string(),
  /** What of the transfer is this invoice's, in tokens. */
  amount: moneyAnswer(),
  /** What it adds to the invoice's paid amount. */
  settlementAmount: moneyAnswer(),
  settlementCurrency: z.string(),
  blockNumber: z.int().min(0),
  blockTime: datetime(),
  /** Its block and those after it, as last seen; 0 while a reorganisation keeps it off the chain. */
  confirmations: z.int().min(0),
  requiredConfirmations: z.int().min(1),
  status: z.enum(paymentStatuses),
  source: z.enum(paymentSources),
  createdAt: datetime(),
  confirmedAt: datetime().nullable(),
});

export const PaymentListRecord = listRecord("PaymentList", PaymentRecord);

/** The filters of an organization's payments. */
export const paymentQuery = {
  ...pageParameters,
  status: oneOrMore(paymentStatuses).optional(),
  invoiceId: id("invoice").optional(),
  network: exactly("The network's id, such as tron.").optional(),
  tokenSymbol: exactly("Such as USDT.").optional(),
  transactionHash: transactionHash().optional(),
  fromAddress: anyAddress().optional(),
  ...createdTimes,
  ...paidTimes,
  sort: z.enum(paymentSorts).optional().meta({
    description:
      "`-` is descending. By default `-createdAt`, and `-blockTime` beside `paidFrom` or `paidTo`. `amount` needs `network` and `tokenSymbol`.",
  }),
};
/** The filters of every organization's payments. */
export const platformPaymentQuery = {
  organizationId: id("organization").optional().meta({
    description: "Needed beside `paidFrom`, `paidTo` and a sort by `blockTime` or `amount`.",
  }),
  ...paymentQuery,
};

interface PaymentQuery {
  readonly createdFrom?: string | undefined;
  readonly createdTo?: string | undefined;
  readonly paidFrom?: string | undefined;
  readonly paidTo?: string | undefined;
  readonly fromAddress?: FoundAddress | undefined;
}

/** The query as the service takes it. */
export function readPaymentQuery<Q extends PaymentQuery>({
  createdFrom,
  createdTo,
  paidFrom,
  paidTo,
  fromAddress,
  ...query
}: Q) {
  return {
    ...query,
    fromAddress: fromAddress?.address,
    createdFrom: momentOf(createdFrom),
    createdTo: momentOf(createdTo),
    paidFrom: momentOf(paidFrom),
    paidTo: momentOf(paidTo),
  };
}
