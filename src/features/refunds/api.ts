import type { App } from "../../app.ts";
import type { CommandCall } from "../../http/declare/command.ts";
import { organization } from "../../http/declare/permissions.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { operation } from "../../http/declare/operation.ts";
import type { Id } from "../../kernel/id.ts";
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
import {
  createRefund,
  getAnyRefund,
  getPaymentToRefund,
  getRefund,
  listRefunds,
  rejectRefund,
  sendRefund,
} from "./refunds.ts";

/** The columns of a refund in a terminal. */
const columns = [
  "id",
  "status",
  "amount tokenSymbol",
  "network",
  "address",
  ["fromAddress", "Payment from"],
  ["isToSender", "To the sender"],
  "invoiceId",
  "paymentId",
  "paymentRule",
  "requestedBy",
  "transactionHash",
  "refusal",
  "refusedTransactionHash",
  "reason",
  "createdAt",
  "sentAt",
  "confirmedAt",
] as const;

async function look(app: App, call: CommandCall) {
  const before = presentRefund(await getAnyRefund(app, call.argument("refundId") as Id<"refund">));
  return {
    subject: `The refund of ${before.amount} ${before.tokenSymbol} (${before.id}), ${before.status}`,
    facts: [
      ["Invoice", before.invoiceId],
      ["To", `${before.address} on ${before.network}`],
      ["To the sender", before.isToSender],
      ["Requested by", before.requestedBy],
      ["Reason", before.reason],
    ] as const,
    before,
  };
}

const refundOperations = [
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
    cli: {
      name: "refund list",
      summary: "List an organization's refunds, newest first",
      flags: {
        status: { description: "only those that are requested, sent, confirmed or rejected" },
        invoiceId: { description: "of this invoice, by its id or your externalId" },
        paymentId: { description: "of this payment" },
      },
      isWatched: true,
      examples: [
        "till refund list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till refund list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status requested --json",
      ],
      columns: [
        "id",
        "status",
        "amount tokenSymbol",
        "network",
        "address",
        ["isToSender", "To the sender"],
        "invoiceId",
        "createdAt",
      ],
    },
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
    cli: {
      name: "refund create",
      organization: "found",
      flags: {
        paymentId: { isArgument: true, description: "such as pay_01h…" },
        amount: {
          placeholder: "amount",
          description: "in the payment's token, at most its surplus",
          ask: "The amount in the payment's token",
        },
        address: {
          description:
            "the recipient's on the payment's network; not the address from which an exchange has sent the payment",
          ask: "The recipient's address, not that from which an exchange has sent the payment",
        },
      },
      examples: [
        "till refund create pay_01kq3v5m8w2f6n9r4t7x0z1c3e --amount 5.00 --address T…",
        "till refund create pay_01kq3v5m8w2f6n9r4t7x0z1c3e --amount 5.00 --address T… --dry-run",
      ],
      async look(app, call) {
        const paymentId = call.argument("paymentId") as Id<"payment">;
        const payment = await getPaymentToRefund(app, paymentId);
        return {
          subject: `the payment of ${payment.amount} ${payment.tokenSymbol} (${paymentId}), ${payment.status}`,
          facts: [
            ["Invoice", payment.invoiceId],
            ["Network", payment.network],
          ],
          changes: ({ amount, tokenSymbol, address, isToSender }) => [
            ["Refund", null, `${amount} ${tokenSymbol}`],
            ["To", null, address],
            ["To the sender", null, isToSender],
          ],
        };
      },
      confirm: (_call, subject) =>
        `Request a refund of ${subject}? Compare the address with what the payer gave you.`,
      columns,
      next: ({ id }) => `pay it from one of your wallets, then till refund send ${id}`,
    },
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
    cli: {
      name: "refund show",
      summary: "Show a refund",
      organization: "found",
      examples: [
        "till refund show rfd_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till refund show rfd_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
      ],
      columns,
    },
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
    cli: {
      name: "refund send",
      organization: "found",
      flags: { transactionHash: { isArgument: true } },
      examples: [
        `till refund send rfd_01kq3v5m8w2f6n9r4t7x0z1c3e 0x${"5e".repeat(32)}`,
        `till refund send rfd_01kq3v5m8w2f6n9r4t7x0z1c3e 0x${"5e".repeat(32)} --dry-run`,
      ],
      look,
      confirm: (call, subject) =>
        `Name ${call.argument("transactionHash")} for ${subject}? The payment no longer counts for an invoice that is not paid.`,
      columns,
      next: ({ id }) => `till refund show ${id} says whether the transaction pays it`,
    },
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
    cli: {
      name: "refund reject",
      organization: "found",
      flags: {
        reason: { description: "which the payer sees", ask: "The reason, which the payer sees" },
      },
      examples: [
        'till refund reject rfd_01kq3v5m8w2f6n9r4t7x0z1c3e --reason "Already refunded by card"',
        'till refund reject rfd_01kq3v5m8w2f6n9r4t7x0z1c3e --reason "Not your payment" --yes --json',
      ],
      look,
      confirm: (_call, subject) => `Reject ${subject}? The payer will see the reason.`,
      columns,
    },
  }),
];

export const refundsModule: FeatureModule = {
  operations: refundOperations,
  checks: refundChecks,
};
