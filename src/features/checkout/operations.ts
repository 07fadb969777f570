import { publicAccess } from "../../api/declare/access.ts";
import { operationsOf } from "../../api/declare/operation.ts";
import type { CheckoutSession } from "./present.ts";
import { TooManyClaims } from "../payments/index.ts";
import { CheckoutSessionRecord, SubmitTransactionRequest } from "./records.ts";
import type { CheckoutService } from "./service.ts";

const operation = operationsOf<CheckoutService>();

export const checkoutOperations = [
  operation({
    id: "getCheckoutSession",
    group: "Checkout",
    method: "GET",
    path: "/checkout/{checkoutId}",
    summary: "Get the payer's view of an invoice",
    description:
      "The checkout id cannot be guessed and serves as the credential. The response is current. Poll with `If-None-Match` to save traffic.",
    access: publicAccess,
    response: { status: 200, record: CheckoutSessionRecord },
    errors: [],
    limit: "checkout",
    handle: (service, call) => service.session(call.params.checkoutId),
    present: (session: CheckoutSession) => session,
  }),
  operation({
    id: "submitCheckoutTransaction",
    group: "Checkout",
    method: "POST",
    path: "/checkout/{checkoutId}/transactions",
    summary: "Submit the transaction that paid an invoice",
    description:
      "For a payment that was not detected automatically. The transaction is read from its network later; what matches by the usual rules is counted, anything else waits for the merchant's decision.",
    access: publicAccess,
    request: { body: SubmitTransactionRequest },
    response: { status: 202, record: CheckoutSessionRecord },
    errors: [TooManyClaims],
    limit: "submit",
    handle: (service, call) =>
      service.submitTransaction(call.context, call.params.checkoutId, call.body.transactionHash),
    present: (session: CheckoutSession) => session,
  }),
];
