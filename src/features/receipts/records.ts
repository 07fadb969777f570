import { z } from "zod";
import { datetime, moneyAnswer, responseRecord } from "../../api/declare/record.ts";

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
  amount: moneyAnswer().meta({ description: "The price, in the settlement currency." }),
  paidAmount: moneyAnswer().meta({
    description: "The worth of the payment at the invoice's rate, in the settlement currency.",
  }),
  settlementCurrency: z.string(),
  receivedAmount: moneyAnswer().meta({ description: "The amount received, in tokens." }),
  paidAt: datetime(),
  transactionHashes: z.array(z.string()).meta({
    description: "The transactions that count, in the notation of the network's explorers.",
  }),
});

export const PaymentRequestClaimsRecord = responseRecord("PaymentRequestClaims", {
  ...issued,
  chainId: z.int(),
  tokenContract: z.string().nullable().meta({
    description:
      "The token's contract, in the network's notation; null if the token is no longer configured.",
  }),
  remainingAmount: moneyAnswer().meta({ description: "The amount to send, in tokens." }),
  expiresAt: datetime(),
});

const jws = z.string().meta({
  description:
    "The claims, signed with Ed25519: a compact JWS (RFC 7515), whose key `/.well-known/jwks.json` has under the `kid` of its header.",
});

export const SignedReceiptRecord = responseRecord("SignedReceipt", {
  jws,
  claims: ReceiptClaimsRecord,
});

export const SignedPaymentRequestRecord = responseRecord("SignedPaymentRequest", {
  jws,
  claims: PaymentRequestClaimsRecord,
});
