import { z } from "zod";
import { datetime, id, listRecord, moneyAnswer, responseRecord } from "../../api/declare/record.ts";
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
import type { FoundAddress } from "../../platform/chain/kinds.ts";
import { paymentSorts } from "./filters.ts";
import { paymentSources, paymentStatuses } from "./payment-status.ts";

export const PaymentRecord = responseRecord("Payment", {
  id: id("payment"),
  invoiceId: id("invoice"),
  network: z.string(),
  tokenSymbol: z.string(),
  /** In the notation of the network's explorers. */
  transactionHash: z.string(),
  logIndex: z.int().min(0),
  fromAddress: z.string(),
  toAddress: z.string(),
  /** The part of the transfer that is assigned to this invoice, in tokens. */
  amount: moneyAnswer(),
  /** The contribution to the invoice's paid amount. */
  settlementAmount: moneyAnswer(),
  settlementCurrency: z.string(),
  blockNumber: z.int().min(0),
  blockTime: datetime(),
  /** The number of blocks from its own to the scanned tip; 0 while it is off the chain. */
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
  network: exactly("The id of a network, such as tron.").optional(),
  tokenSymbol: exactly("The symbol of a token, such as USDT.").optional(),
  transactionHash: transactionHash().optional(),
  fromAddress: anyAddress().optional(),
  ...createdTimes,
  ...paidTimes,
  sort: z.enum(paymentSorts).optional().meta({
    description:
      "`-` is descending. Default: `-createdAt`, or `-blockTime` with `paidFrom` or `paidTo`. `amount` requires `network` and `tokenSymbol`.",
  }),
};
/** The filters of every organization's payments. */
export const platformPaymentQuery = {
  organizationId: id("organization").optional().meta({
    description: "Required with `paidFrom`, `paidTo`, and a sort by `blockTime` or `amount`.",
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

/** Converts the query to the form that the service takes. */
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
