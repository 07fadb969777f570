import { publicAccess } from "../../api/declare/access.ts";
import { operationsOf } from "../../api/declare/operation.ts";
import { NothingToPay, NotPaid } from "./errors.ts";
import { SignedPaymentRequestRecord, SignedReceiptRecord } from "./records.ts";
import type { ReceiptService, SignedDocument } from "./service.ts";

const operation = operationsOf<ReceiptService>();

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
    handle: (service, call) => service.receipt(call.params.checkoutId),
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
    handle: (service, call) => service.paymentRequest(call.params.checkoutId),
    present: (document: SignedDocument<"payment_request">) => document,
  }),
];
