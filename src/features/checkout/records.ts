import { z } from "zod";
import { datetime, moneyAnswer, requestRecord, responseRecord } from "../../api/record.ts";
import { ConfirmationProgress, InvoiceStatusRecord } from "../invoices/index.ts";

export const CheckoutInvoiceRecord = responseRecord("CheckoutInvoice", {
  /** The invoice's publicId. */
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
  /** In tokens: what was asked for. */
  payableAmount: moneyAnswer(),
  /** In tokens: what is still to pay. */
  remainingAmount: moneyAnswer(),
});

export const CheckoutReceiptRecord = responseRecord("CheckoutReceipt", {
  /** The invoice's publicId. */
  invoiceId: z.string(),
  amount: moneyAnswer(),
  paidAmount: moneyAnswer(),
  settlementCurrency: z.string(),
  tokenSymbol: z.string(),
  network: z.string(),
  paidAt: datetime(),
  /** As the network's explorers write them. */
  transactionHashes: z.array(z.string()),
});

export const CheckoutSessionRecord = responseRecord("CheckoutSession", {
  id: z.string(),
  invoice: CheckoutInvoiceRecord,
  /** The text that the QR code encodes. */
  qrCode: z.string(),
  /** What to do, as a sentence for the payer. */
  paymentInstructions: z.string(),
  merchantDisplayName: z.string(),
  confirmationProgress: ConfirmationProgress,
  receipt: CheckoutReceiptRecord.nullable(),
});

export const SubmitTransactionRequest = requestRecord("SubmitTransactionRequest", {
  /** Bare or with 0x, in any case, or an explorer's link that holds it. */
  transactionHash: z.string().min(1).max(2_048),
});
