import { base64url } from "jose";
import { signClaims } from "../../../src/features/receipts/signed-text.ts";
import { deriveSigningKey } from "../../../src/platform/secrets/signing-keys.ts";
import { serverSecret } from "../../support/secret.ts";
import { receiptClaims } from "./documents.ts";

export const hostile = `</textarea><script>alert("1")</script>"'&\u202e`;
const key = await deriveSigningKey(serverSecret, 1);
export const receipt = await signClaims(key, "receipt", receiptClaims);
export const hostileReceipt = await signClaims(key, "receipt", {
  ...receiptClaims,
  merchantDisplayName: hostile,
});
/** A receipt of a test network, with two transactions. */
export const testReceipt = await signClaims(key, "receipt", {
  ...receiptClaims,
  isTest: true,
  transactionHashes: ["ab".repeat(32), "cd".repeat(32)],
});
const requestClaims = {
  iss: receiptClaims.iss,
  iat: receiptClaims.iat,
  checkoutId: receiptClaims.checkoutId,
  invoiceId: receiptClaims.invoiceId,
  reference: receiptClaims.reference,
  merchantDisplayName: receiptClaims.merchantDisplayName,
  network: "tron",
  tokenSymbol: "USDT",
  walletAddress: receiptClaims.walletAddress,
  isTest: false,
  chainId: 728126428,
  tokenContract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
  remainingAmount: "25.0001",
  expiresAt: "2036-11-21T10:30:00.000Z",
};
export const request = await signClaims(key, "payment_request", requestClaims);
const expiredRequest = await signClaims(key, "payment_request", {
  ...requestClaims,
  expiresAt: "2026-11-21T10:30:00.000Z",
});

/** Each text with its outcome and a sentence of its result. */
export const cases = [
  [receipt, "receipt", "This receipt is genuine"],
  [request, "payment_request", "It may have been paid or canceled since"],
  [expiredRequest, "expired_request", "Its deadline has passed"],
  [receipt.slice(0, -4), "changed", "The text was changed"],
  // Other bits in the last letter, which are not part of the signature's bytes.
  [
    receipt.replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1)),
    "changed",
    "The text was changed",
  ],
  [receipt.replace(/\.(.)/, (_, letter) => (letter === "A" ? ".B" : ".A")), "changed", "changed"],
  [
    `${base64url.encode('{"alg":"EdDSA","kid":"other"}')}.${receipt.split(".").slice(1).join(".")}`,
    "unknown_key",
    "not signed by this site",
  ],
  [hostile, "not_signed", "This is not a signed text"],
] as const;
