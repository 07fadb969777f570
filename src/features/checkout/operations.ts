import { publicAccess } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
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
    summary: "Get what a payer may know of an invoice",
    description:
      "Needs no credential: the checkout id cannot be guessed. The answer is at most a second old; ask with `If-None-Match` to poll at little cost.",
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
    summary: "Tell of a transaction that paid an invoice",
    description:
      "For a payment that does not show by itself. It makes us look: the transaction is read from its network later, and what pays by the usual rules is counted; anything else of it waits for the merchant. Needs no credential.",
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
