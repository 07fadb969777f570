import { organization } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import { mapPage, type Page } from "../../kernel/page.ts";
import { ManagedByBilling } from "../invoices/errors.ts";
import { NetworkNotEnabled } from "../wallets/rules.ts";
import { refundChecks } from "./checks.ts";
import {
  NotRefundable,
  RefundAddressRefused,
  RefundNotRequested,
  RefundOpen,
  RefundTooEarly,
  RefundTooLarge,
  TransactionUsed,
} from "./errors.ts";
import {
  CreateRefundRequest,
  presentRefund,
  RefundListRecord,
  refundQuery,
  RefundRecord,
  RejectRefundRequest,
  SendRefundRequest,
  type RefundView,
} from "./records.ts";
import { createRefund, getRefund, listRefunds, rejectRefund, sendRefund } from "./refunds.ts";

export const refundOperations = [
  operation({
    id: "listRefunds",
    group: "Payments",
    method: "GET",
    path: "/organizations/{organizationId}/refunds",
    summary: "List refunds",
    description: "Newest first. `status=requested` lists those that wait for the merchant.",
    access: organization("refunds:read"),
    request: { query: refundQuery },
    response: { status: 200, record: RefundListRecord },
    errors: [],
    handle: (app, call) => listRefunds(app, call.organizationId, call.query),
    present: (page: Page<RefundView>) => mapPage(page, presentRefund),
  }),
  operation({
    id: "createRefund",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/refunds",
    summary: "Record a refund that was agreed with the payer",
    description:
      "The amount is at most the surplus of the payment: what was overpaid or, if the invoice is expired or canceled without being paid, or the payment does not count, all of it. Till moves no money: send it from one of your own wallets, then name the transaction.",
    access: organization("refunds:request"),
    request: { body: CreateRefundRequest },
    response: { status: 201, record: RefundRecord },
    errors: [
      NotRefundable,
      RefundTooEarly,
      RefundTooLarge,
      RefundOpen,
      RefundAddressRefused,
      ManagedByBilling,
      NetworkNotEnabled,
    ],
    handle: (app, call) => createRefund(app, call.context, call.organizationId, call.body),
    present: presentRefund,
  }),
  operation({
    id: "getRefund",
    group: "Payments",
    method: "GET",
    path: "/organizations/{organizationId}/refunds/{refundId}",
    summary: "Get a refund",
    access: organization("refunds:read"),
    response: { status: 200, record: RefundRecord },
    errors: [],
    handle: (app, call) => getRefund(app, call.organizationId, call.params.refundId),
    present: presentRefund,
  }),
  operation({
    id: "sendRefund",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/refunds/{refundId}/send",
    summary: "Name the transaction that pays a refund",
    description:
      "Till verifies it on the chain: it must come from one of the organization's wallets and pay at least the amount in the token to the recipient. Once its block is final, the refund is `confirmed`, or `requested` again with the `refusal`. Until the transaction is found in a block, another one can replace it, as when you raise its fee. From now on, a payment in review and a payment of an invoice that is not paid are `rejected`.",
    access: organization("refunds:send"),
    request: { body: SendRefundRequest },
    response: { status: 200, record: RefundRecord },
    errors: [RefundNotRequested, TransactionUsed, NotRefundable, RefundTooEarly, NetworkNotEnabled],
    handle: (app, call) =>
      sendRefund(
        app,
        call.context,
        call.organizationId,
        call.params.refundId,
        call.body.transactionHash,
      ),
    present: presentRefund,
  }),
  operation({
    id: "rejectRefund",
    group: "Payments",
    method: "POST",
    path: "/organizations/{organizationId}/refunds/{refundId}/reject",
    summary: "Reject a refund that was not sent",
    description:
      "Also one whose transaction was found in no block; make sure that it can no longer be mined. The payer sees the reason, and can ask for the refund again, unless the `paymentRule` of this one is `submitted_hash`.",
    access: organization("refunds:send"),
    request: { body: RejectRefundRequest },
    response: { status: 200, record: RefundRecord },
    errors: [RefundNotRequested, NetworkNotEnabled],
    handle: (app, call) =>
      rejectRefund(app, call.context, call.organizationId, call.params.refundId, call.body.reason),
    present: presentRefund,
  }),
];

export const refundsModule: FeatureModule = {
  operations: refundOperations,
  checks: refundChecks,
};
