import { publicAccess } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import type { CheckoutSession } from "./present.ts";
import { CheckoutSessionRecord } from "./records.ts";
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
];
