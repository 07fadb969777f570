import { organization } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { InvoiceNotCancelable, ManagedByBilling } from "../invoices/errors.ts";
import { NetworkNotEnabled } from "../wallets/rules.ts";
import { acceptPayment, rejectPayment, reversePayment } from "./decisions/decide-payment.ts";
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
import { pruneClaims } from "./hash-claims/retention.ts";
import { allocateTransfer, ignoreTransfer, unignoreTransfer } from "./inbox/allocation.ts";
import {
  AllocateTransferRequest,
  presentTransfer,
  TransferListRecord,
  transferQuery,
  TransferRecord,
  type TransferView,
} from "./inbox/records.ts";
import { getTransfer, listTransfers } from "./inbox/transfers.ts";
import { paymentChecks } from "./ledger/checks.ts";
import { inboxMetrics, networkMetrics, providerMetrics } from "./networks/metrics.ts";
import { getPayment, listPayments } from "./payments.ts";
import {
  PaymentListRecord,
  paymentQuery,
  PaymentRecord,
  presentPayment,
  readPaymentQuery,
  ReversePaymentRequest,
  type PaymentView,
} from "./records.ts";
import { makeWatchWorkers } from "./worker.ts";

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
  operation({
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
    handle: (app, call) =>
      acceptPayment(app, call.context, call.organizationId, call.params.paymentId),
    present: presentPayment,
  }),
  operation({
    id: "rejectPayment",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/payments/{paymentId}/reject",
    summary: "Reject a payment in review",
    description: "The payment never counts, and its transfer can be allocated to another invoice.",
    access: organization("payments:decide"),
    response: { status: 200, record: PaymentRecord },
    errors: [PaymentNotInReview, NetworkNotEnabled],
    handle: (app, call) =>
      rejectPayment(app, call.context, call.organizationId, call.params.paymentId),
    present: presentPayment,
  }),
  operation({
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
    handle: (app, call) =>
      reversePayment(app, call.context, call.organizationId, call.params.paymentId, call.body),
    present: presentPayment,
  }),
  operation({
    id: "listTransfers",
    group: "Payments",
    method: "GET",
    path: "/organizations/{organizationId}/transfers",
    summary: "List transfers",
    description:
      "The transfers to the organization's addresses, newest first. `status=unmatched` lists the inbox: transfers that are not completely allocated, with the invoices that they are probably for.",
    access: organization("transfers:read"),
    request: { query: transferQuery },
    response: { status: 200, record: TransferListRecord },
    errors: [],
    handle: (app, call) => listTransfers(app, call.organizationId, call.query),
    present: ({ data, nextCursor }: Page<TransferView>) => ({
      data: data.map(presentTransfer),
      nextCursor,
    }),
  }),
  operation({
    id: "getTransfer",
    group: "Payments",
    method: "GET",
    path: "/organizations/{organizationId}/transfers/{transferId}",
    summary: "Get a transfer with its decisions",
    access: organization("transfers:read"),
    response: { status: 200, record: TransferRecord },
    errors: [],
    handle: (app, call) => getTransfer(app, call.organizationId, call.params.transferId),
    present: presentTransfer,
  }),
  operation({
    id: "allocateTransfer",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/transfers/{transferId}/allocate",
    summary: "Allocate a transfer to invoices",
    description:
      "Allocates a transfer to one invoice, or in parts to several; expired and canceled invoices are allowed. The allocated amounts count immediately, and payments of the transfer that were in review are rejected. To undo an allocation, reverse the payment.",
    access: organization("payments:decide"),
    request: { body: AllocateTransferRequest },
    response: { status: 200, record: TransferRecord },
    errors: [
      AllocationTooLarge,
      TransferAllocated,
      TransferReverted,
      TransferNotCreditable,
      InvoiceNotPayable,
      ManagedByBilling,
      TokenMismatch,
      NetworkNotEnabled,
    ],
    handle: (app, call) =>
      allocateTransfer(
        app,
        call.context,
        call.organizationId,
        call.params.transferId,
        call.body.allocations,
      ),
    present: presentTransfer,
  }),
  operation({
    id: "ignoreTransfer",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/transfers/{transferId}/ignore",
    summary: "Ignore the unallocated part of a transfer",
    description:
      "The transfer leaves the inbox. It can still be allocated, and `unignore` returns it to the inbox.",
    access: organization("payments:decide"),
    response: { status: 200, record: TransferRecord },
    errors: [TransferAllocated, NetworkNotEnabled],
    handle: (app, call) =>
      ignoreTransfer(app, call.context, call.organizationId, call.params.transferId),
    present: presentTransfer,
  }),
  operation({
    id: "unignoreTransfer",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/transfers/{transferId}/unignore",
    summary: "Return an ignored transfer to the inbox",
    access: organization("payments:decide"),
    response: { status: 200, record: TransferRecord },
    errors: [TransferNotCreditable, NetworkNotEnabled],
    handle: (app, call) =>
      unignoreTransfer(app, call.context, call.organizationId, call.params.transferId),
    present: presentTransfer,
  }),
];

export const paymentsModule: FeatureModule = {
  operations: paymentOperations,
  checks: paymentChecks,
  workers: makeWatchWorkers,
  prunings: { "prune claims": pruneClaims },
  metrics: (app) => [networkMetrics(app), providerMetrics(app), inboxMetrics(app)],
};
