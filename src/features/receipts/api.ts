import { publicAccess } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import { receiptPages } from "./pages.ts";
import {
  NothingToPay,
  NotPaid,
  signPaymentRequest,
  signReceipt,
  type SignedDocument,
} from "./receipts.ts";
import { SignedPaymentRequestRecord, SignedReceiptRecord } from "./records.ts";

export const receiptOperations = [
  operation({
    id: "getCheckoutReceipt",
    group: "Checkout",
    method: "GET",
    path: "/checkout/{checkoutId}/receipt",
    summary: "Get the signed receipt of a paid invoice",
    description:
      "Anyone can verify the signature with the public keys at `/.well-known/jwks.json`, without asking this instance again. It states what was paid at the time of `iat`; a reorganization or a refund afterwards does not change it.",
    access: publicAccess,
    response: { status: 200, record: SignedReceiptRecord },
    errors: [NotPaid],
    limit: "checkout",
    handle: (app, call) => signReceipt(app, call.params.checkoutId),
    present: (document: SignedDocument<"receipt">) => document,
  }),
  operation({
    id: "getCheckoutPaymentRequest",
    group: "Checkout",
    method: "GET",
    path: "/checkout/{checkoutId}/payment-request",
    summary: "Get the address and the amount to pay, signed",
    description:
      "For clients that show a payment, and check it with a key that they got from the merchant before: a proxy that replaces the address cannot sign it.",
    access: publicAccess,
    response: { status: 200, record: SignedPaymentRequestRecord },
    errors: [NothingToPay],
    limit: "checkout",
    handle: (app, call) => signPaymentRequest(app, call.params.checkoutId),
    present: (document: SignedDocument<"payment_request">) => document,
  }),
];

export const receiptsModule: FeatureModule = {
  operations: receiptOperations,
  pages: receiptPages,
};
