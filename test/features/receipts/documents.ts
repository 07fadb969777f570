import type { ClaimsOf } from "../../../src/features/receipts/signed-text.ts";

/** The claims of a receipt, as the service makes them. */
export const receiptClaims: ClaimsOf<"receipt"> = {
  iss: "https://pay.example/till",
  iat: 1_763_718_600,
  checkoutId: "chk_0123456789abcdefghjkmnpqrstvwxyz",
  invoiceId: "ipub_p7k29qxd4mtr",
  reference: "P7K2-9QXD",
  merchantDisplayName: "Café Zürich",
  network: "tron",
  tokenSymbol: "USDT",
  walletAddress: "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE",
  isTest: false,
  description: "Two bags of coffee",
  externalId: "order-1001",
  merchantWebsite: null,
  merchantContactEmail: "hello@cafe.example",
  amount: "25.00",
  paidAmount: "25.00",
  settlementCurrency: "USD",
  receivedAmount: "25.0001",
  paidAt: "2026-11-21T09:45:00.000Z",
  transactionHashes: ["ab".repeat(32)],
};
