import * as z from "zod";
import { datetime, describeFields, moneyText, responseRecord } from "../../http/declare/record.ts";

const issued = {
  iss: z.string().meta({ description: "The base URL of the instance that signed." }),
  iat: z.int().meta({ description: "When it was signed, in seconds since 1970." }),
  checkoutId: z.string(),
  invoiceId: z.string().meta({ description: "The invoice's `publicId`." }),
  reference: z.string(),
  merchantDisplayName: z.string(),
  network: z.string(),
  tokenSymbol: z.string(),
  walletAddress: z.string(),
  isTest: z.boolean().meta({ description: "True if the network's tokens have no value." }),
};

export const ReceiptClaimsRecord = responseRecord("ReceiptClaims", {
  ...issued,
  description: z.string().nullable(),
  externalId: z.string().nullable(),
  merchantWebsite: z.string().nullable(),
  merchantContactEmail: z.string().nullable(),
  amount: moneyText().meta({ description: "The price, in the settlement currency." }),
  paidAmount: moneyText().meta({
    description: "The worth of the payment at the invoice's rate, in the settlement currency.",
  }),
  settlementCurrency: z.string(),
  receivedAmount: moneyText().meta({ description: "The amount received, in tokens." }),
  paidAt: datetime(),
  transactionHashes: z.array(z.string()).meta({
    description: "The transactions that count, in the notation of the network's explorers.",
  }),
});
describeFields(ReceiptClaimsRecord, {
  reference: "The short reference for payer and merchant, such as `P7K2-9QXD`.",
  merchantDisplayName: "The merchant's name for payers.",
  walletAddress: "The address that was to be paid, in the network's notation.",
  description: "The purchase, in the merchant's words; null without one.",
  externalId: "The merchant's own number, such as an order number; null without one.",
  merchantWebsite: "The merchant's website; null without one.",
  merchantContactEmail:
    "The merchant's e-mail address for questions about payments; null without one.",
  paidAt: "Time of the block that completed the amount: ISO 8601, UTC.",
});

export const PaymentRequestClaimsRecord = responseRecord("PaymentRequestClaims", {
  ...issued,
  chainId: z.int(),
  tokenContract: z.string().nullable().meta({
    description:
      "The token's contract, in the network's notation; null if the token is no longer configured.",
  }),
  remainingAmount: moneyText().meta({ description: "The amount to send, in tokens." }),
  expiresAt: datetime(),
});
describeFields(PaymentRequestClaimsRecord, {
  chainId: "The network's numeric chain id (EIP-155).",
  expiresAt: "The deadline of the payment: ISO 8601, UTC.",
});

const jws = z.string().meta({
  description:
    "The claims, signed with Ed25519: a compact JWS (RFC 7515), whose key `/.well-known/jwks.json` has under the `kid` of its header.",
});

export const SignedReceiptRecord = responseRecord("SignedReceipt", {
  jws,
  claims: ReceiptClaimsRecord,
});
describeFields(SignedReceiptRecord, {
  claims: "The signed claims, readable without checking the signature.",
});

export const SignedPaymentRequestRecord = responseRecord("SignedPaymentRequest", {
  jws,
  claims: PaymentRequestClaimsRecord,
});
describeFields(SignedPaymentRequestRecord, {
  claims: "The signed claims, readable without checking the signature.",
});
