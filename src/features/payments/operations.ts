import { organization } from "../../api/access.ts";
import { operationsOf } from "../../api/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { ManagedByBilling } from "../invoices/index.ts";
import type { PaymentDecisions } from "./decisions.ts";
import { PaymentNotCounted, PaymentNotInReview, TransferAllocated } from "./errors.ts";
import { presentPayment, type PaymentView } from "./present.ts";
import { PaymentListRecord, paymentQuery, PaymentRecord, readPaymentQuery } from "./records.ts";
import type { PaymentService } from "./service.ts";

const operation = operationsOf<PaymentService>();

export const paymentOperations = [
  operation({
    id: "listPayments",
    group: "Payments",
    method: "GET",
    path: "/organizations/{organizationId}/payments",
    summary: "List payments",
    description:
      "Transfers on the chains as they were allocated to invoices. Only those that are confirming and confirmed count as paid. Newest first, or by `sort`. `createdFrom` and `paidFrom` are included, `createdTo` and `paidTo` are not; `paidFrom` and `paidTo` compare `blockTime`. A page may have fewer than `limit` where filters leave very many; the list ends where `nextCursor` is null.",
    access: organization("organization:read"),
    request: {
      query: paymentQuery,
    },
    response: { status: 200, record: PaymentListRecord },
    errors: [],
    handle: (service, call) => service.list(call.organizationId, readPaymentQuery(call.query)),
    present: (page: Page<PaymentView>) => mapPage(page, presentPayment),
  }),
  operation({
    id: "getPayment",
    group: "Payments",
    method: "GET",
    path: "/organizations/{organizationId}/payments/{paymentId}",
    summary: "Get a payment",
    access: organization("organization:read"),
    response: { status: 200, record: PaymentRecord },
    errors: [],
    handle: (service, call) => service.get(call.organizationId, call.params.paymentId),
    present: presentPayment,
  }),
];

const decision = operationsOf<PaymentDecisions>();

export const decisionOperations = [
  decision({
    id: "acceptPayment",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/payments/{paymentId}/accept",
    summary: "Accept a payment in review",
    description:
      "It counts from now on, whatever became of its invoice meanwhile. Other claims on the same transfer are rejected.",
    access: organization("payments:decide"),
    response: { status: 200, record: PaymentRecord },
    errors: [PaymentNotInReview, TransferAllocated],
    handle: (service, call) =>
      service.accept(call.context, call.organizationId, call.params.paymentId),
    present: presentPayment,
  }),
  decision({
    id: "rejectPayment",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/payments/{paymentId}/reject",
    summary: "Reject a payment in review",
    description: "It counts nothing, and its transfer is free for another invoice.",
    access: organization("payments:decide"),
    response: { status: 200, record: PaymentRecord },
    errors: [PaymentNotInReview],
    handle: (service, call) =>
      service.reject(call.context, call.organizationId, call.params.paymentId),
    present: presentPayment,
  }),
  decision({
    id: "reversePayment",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/payments/{paymentId}/reverse",
    summary: "Reverse a payment that counts",
    description:
      "Money that was given to the wrong invoice counts for it no more, and is to be allocated anew. The payment stays on record as `rejected`, and who reversed it is kept with its transfer.",
    access: organization("payments:decide"),
    response: { status: 200, record: PaymentRecord },
    errors: [PaymentNotCounted, ManagedByBilling],
    handle: (service, call) =>
      service.reverse(call.context, call.organizationId, call.params.paymentId),
    present: presentPayment,
  }),
];
