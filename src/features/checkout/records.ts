import { z } from "zod";
import { datetime, moneyAnswer, requestRecord, responseRecord } from "../../api/declare/record.ts";
import { ConfirmationProgress, InvoiceStatusRecord } from "../invoices/index.ts";

export const CheckoutInvoiceRecord = responseRecord("CheckoutInvoice", {
  /** The invoice's `publicId`. */
  id: z.string(),
  status: InvoiceStatusRecord,
  amount: moneyAnswer(),
  paidAmount: moneyAnswer(),
  settlementCurrency: z.string(),
  tokenSymbol: z.string(),
  network: z.string(),
  walletAddress: z.string(),
  checkoutUrl: z.string(),
  expiresAt: datetime(),
  /** Amount due, in tokens. */
  payableAmount: moneyAnswer(),
  /** Amount still to be paid, in tokens. */
  remainingAmount: moneyAnswer(),
});

export const CheckoutReceiptRecord = responseRecord("CheckoutReceipt", {
  /** The invoice's `publicId`. */
  invoiceId: z.string(),
  amount: moneyAnswer(),
  paidAmount: moneyAnswer(),
  settlementCurrency: z.string(),
  tokenSymbol: z.string(),
  network: z.string(),
  paidAt: datetime(),
  /** In the notation of the network's explorers. */
  transactionHashes: z.array(z.string()),
});

export const CheckoutSessionRecord = responseRecord("CheckoutSession", {
  id: z.string(),
  invoice: CheckoutInvoiceRecord,
  /** Content of the QR code. */
  qrCode: z.string(),
  /** Instructions for the payer, as a sentence. */
  paymentInstructions: z.string(),
  merchantDisplayName: z.string(),
  confirmationProgress: ConfirmationProgress,
  receipt: CheckoutReceiptRecord.nullable(),
});

export const SubmitTransactionRequest = requestRecord("SubmitTransactionRequest", {
  /** With or without 0x, in any case, or an explorer link that contains it. */
  transactionHash: z.string().min(1).max(2_048),
});
