import { organization } from "../../api/declare/access.ts";
import { operation, operationsOf } from "../../api/declare/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { InvoiceNotCancelable, ManagedByBilling } from "../invoices/errors.ts";
import { NetworkNotEnabled } from "../wallets/errors.ts";
import type { PaymentDecisions } from "./decisions/decide-payment.ts";
import {
  AllocationTooLarge,
  InvoiceNotPayable,
  PaymentNotCounted,
  PaymentNotInReview,
  PaymentRefunded,
  TokenMismatch,
  TransferAllocated,
  TransferNotCreditable,
  TransferReverted,
} from "./errors.ts";
import { presentPayment, type PaymentView } from "./present-payment.ts";
import {
  PaymentListRecord,
  paymentQuery,
  PaymentRecord,
  readPaymentQuery,
  ReversePaymentRequest,
} from "./records.ts";
import { getPayment, listPayments } from "./payments.ts";

export const paymentOperations = [
  operation({
    id: "listPayments",
    group: "Payments",
    method: "GET",
    path: "/organizations/{organizationId}/payments",
    summary: "List payments",
    description:
      "Payments are transfers, or parts of transfers, that are assigned to invoices. Only payments with status `confirming` or `confirmed` count. Newest first, or by `sort`. `createdFrom` and `paidFrom` are inclusive, `createdTo` and `paidTo` exclusive; `paidFrom` and `paidTo` compare `blockTime`. A page may hold fewer than `limit` payments if the filters exclude very many; the list ends when `nextCursor` is null.",
    access: organization("payments:read"),
    request: {
      query: paymentQuery,
    },
    response: { status: 200, record: PaymentListRecord },
    errors: [],
    handle: (app, call) => listPayments(app, call.organizationId, readPaymentQuery(call.query)),
    present: (page: Page<PaymentView>) => mapPage(page, presentPayment),
  }),
  operation({
    id: "getPayment",
    group: "Payments",
    method: "GET",
    path: "/organizations/{organizationId}/payments/{paymentId}",
    summary: "Get a payment",
    access: organization("payments:read"),
    response: { status: 200, record: PaymentRecord },
    errors: [],
    handle: (app, call) => getPayment(app, call.organizationId, call.params.paymentId),
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
      "The payment counts from now on, whatever the status of its invoice. Other payments in review of the same transfer are rejected.",
    access: organization("payments:decide"),
    response: { status: 200, record: PaymentRecord },
    errors: [PaymentNotInReview, TransferAllocated, NetworkNotEnabled],
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
    description: "The payment never counts, and its transfer can be allocated to another invoice.",
    access: organization("payments:decide"),
    response: { status: 200, record: PaymentRecord },
    errors: [PaymentNotInReview, NetworkNotEnabled],
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
      "For a payment that was assigned to the wrong invoice, that is to count for another order, or that pays for an order you do not deliver. It no longer counts, and its amount can be allocated again or refunded; with `toInvoiceId`, it is allocated to another invoice in the same step, as a new payment. The payment stays on record as `rejected`, its requested refund is rejected if the money is needed, and the transfer's decisions show who reversed it. Its invoice can be paid again until its deadline, and its page asks for the money; with `cancel`, the invoice is canceled in the same step. The body may be left out.",
    access: organization("payments:decide"),
    request: { body: ReversePaymentRequest },
    response: { status: 200, record: PaymentRecord },
    errors: [
      PaymentNotCounted,
      PaymentRefunded,
      InvoiceNotCancelable,
      InvoiceNotPayable,
      TokenMismatch,
      AllocationTooLarge,
      TransferAllocated,
      TransferReverted,
      TransferNotCreditable,
      ManagedByBilling,
      NetworkNotEnabled,
    ],
    handle: (service, call) =>
      service.reverse(call.context, call.organizationId, call.params.paymentId, call.body),
    present: presentPayment,
  }),
];
