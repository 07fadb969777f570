import { z } from "zod";
import { datetime, id, listRecord, moneyAnswer, responseRecord } from "../../api/record.ts";
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
