import type * as z from "zod";
import type { App } from "../../app.ts";
import { section, type CommandCall } from "../../http/declare/command.ts";
import { organization } from "../../http/declare/permissions.ts";
import { operation } from "../../http/declare/operation.ts";
import { InvalidRequest } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
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
import { allocateTransfer, ignoreTransfer, unignoreTransfer } from "./inbox/allocation.ts";
import {
  AllocateTransferRequest,
  presentTransfer,
  TransferListRecord,
  transferQuery,
  TransferRecord,
  type TransferView,
} from "./inbox/records.ts";
import { restOf } from "./inbox/allocation-rules.ts";
import { waitingReasonWords } from "./inbox/status.ts";
import { getTransfer, listTransfers, ownerOfTransfer } from "./inbox/transfers.ts";
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

/** The columns of a payment after a decision, in a terminal. */
const columns = ["id", "invoiceId", "amount tokenSymbol", "status", "transactionHash"] as const;

function examplesOf(verb: string): [string, string] {
  const call = `till payments ${verb} pay_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e`;
  return [call, `${call} --yes --json`];
}

async function look(app: App, call: CommandCall) {
  const organizationId = call.flag("organization") as Id<"organization">;
  const paymentId = call.argument("paymentId") as Id<"payment">;
  const before = presentPayment(await getPayment(app, organizationId, paymentId));
  return {
    subject: `${before.amount} ${before.tokenSymbol} (${before.id}), ${before.status}`,
    facts: [
      ["Invoice", before.invoiceId],
      ["From", `${before.fromAddress} on ${before.network}`],
      ["Counts as", `${before.settlementAmount} ${before.settlementCurrency}`],
    ] as const,
    before,
  };
}

type ShownTransfer = z.input<typeof TransferRecord>;

/** The columns of a transfer in a terminal. */
const transferColumns = [
  "id",
  "status",
  {
    title: "Waits because",
    value: ({ waitingReason: reason }: ShownTransfer) =>
      reason == null ? null : waitingReasonWords[reason],
  },
  "amount tokenSymbol",
  "unallocatedAmount tokenSymbol",
  "network",
  "fromAddress",
  "toAddress",
  "transactionHash",
  "blockTime",
  "confirmations",
  ["isVerified", "Verified"],
] as const;

const transferSections = (one: ShownTransfer) => [
  section({
    title: "Payments",
    items: one.allocations,
    columns: [
      "paymentId",
      "invoiceId",
      { title: "Amount", value: (each) => `${each.amount} ${one.tokenSymbol}` },
      "status",
      "rule",
    ],
  }),
  section({
    title: "Suggestions",
    items: one.suggestions,
    columns: [
      "invoiceId",
      { title: "Asks for", value: (each) => `${each.remainingAmount} ${one.tokenSymbol}` },
      ["invoiceStatus", "Status"],
      "reasons",
    ],
  }),
  section({
    title: "Decisions",
    items: one.decisions,
    columns: [
      "createdAt",
      "decision",
      { title: "Amount", value: (each) => `${each.amount} ${one.tokenSymbol}` },
      "actorLabel",
    ],
  }),
];

async function lookAtTransfer(app: App, call: CommandCall) {
  const transferId = call.argument("transferId") as Id<"transfer">;
  const organizationId = await ownerOfTransfer(app, transferId);
  const before = presentTransfer(await getTransfer(app, organizationId, transferId));
  return {
    subject: `${before.amount} ${before.tokenSymbol} (${before.id}), ${before.status}`,
    facts: [
      ["From", `${before.fromAddress} on ${before.network}`],
      ["Transaction", before.transactionHash],
    ] as const,
    before,
  };
}

/** Parses `<invoiceId>=<amount>` arguments. One may omit the amount and gets the rest. */
async function readAllocations(
  text: string,
  call: CommandCall,
  app: App,
  organizationId: Id<"organization"> | undefined,
): Promise<readonly { invoiceId: string; amount: string }[]> {
  const parts = text.split(" ").map((word) => {
    const [, invoiceId, amount] = /^(inv_\w+)(?:=(.*))?$/.exec(word) ?? [];
    if (invoiceId !== undefined) return { invoiceId, amount };
    throw new InvalidRequest(
      `${JSON.stringify(word)} is not an invoice with an amount, such as inv_…=12.50, or inv_… alone for the rest.`,
    );
  });
  const open = parts.filter(({ amount }) => amount === undefined);
  if (open.length === 0) {
    return parts.map(({ invoiceId, amount = "" }) => ({ invoiceId, amount }));
  }
  if (open.length > 1) {
    throw new InvalidRequest("Only one invoice may omit its amount: it gets the rest.");
  }
  const transferId = call.argument("transferId") as Id<"transfer">;
  const rest = restOf(
    await getTransfer(app, organizationId as Id<"organization">, transferId),
    parts.flatMap(({ amount }) => amount ?? []),
  );
  return parts.map(({ invoiceId, amount }) => ({ invoiceId, amount: amount ?? rest }));
}

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
    cli: {
      name: "payments accept",
      summary: "Accept a payment in review, so that it counts for its invoice",
      examples: examplesOf("accept"),
      look,
      confirm: (_call, subject) =>
        `Accept ${subject}? It will count for its invoice, which ships once it is paid.`,
      columns,
    },
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
    cli: {
      name: "payments reject",
      summary: "Reject a payment in review, so that it can be refunded or allocated",
      examples: examplesOf("reject"),
      look,
      confirm: (_call, subject) => `Reject ${subject}? It will not count for its invoice.`,
      columns,
    },
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
    cli: {
      name: "payments reverse",
      summary: "Reverse a payment that is to count for another invoice, or to be refunded",
      flags: {
        toInvoiceId: {
          name: "to",
          placeholder: "invoiceId",
          description: "and allocate its amount to this other invoice",
          takes: ["invoice"],
        },
        cancel: { description: "and cancel the invoice, so that nobody pays it again" },
      },
      examples: [
        ...examplesOf("reverse"),
        "till payments reverse pay_01kq3v5m8w2f6n9r4t7x0z1c3e --to inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
      ],
      look,
      confirm(call, subject) {
        const toInvoiceId = call.flag("to");
        const cancel = call.isSet("cancel") ? ", and cancel its invoice" : "";
        return toInvoiceId === undefined
          ? `Reverse ${subject}${cancel}? It will no longer count for its invoice, and its amount returns to the inbox.`
          : `Move ${subject}, to ${toInvoiceId}${cancel}? It will no longer count for its invoice, but for ${toInvoiceId}.`;
      },
      columns,
      next(one, call) {
        const toInvoiceId = call.flag("to");
        if (toInvoiceId !== undefined) {
          return `till invoice show ${toInvoiceId} shows what it still asks for`;
        }
        const refund = `till refund create ${one.id} to return its amount, once its block is final`;
        return call.isSet("cancel") ? refund : `${refund}; till payments inbox to allocate it`;
      },
    },
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
    cli: {
      name: "payments transfer",
      summary: "Show a transfer with its payments, suggested invoices and decisions",
      organization: "found",
      examples: [
        "till payments transfer trf_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till payments transfer trf_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
      ],
      columns: transferColumns,
      sections: transferSections,
    },
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
    cli: {
      name: "payments allocate",
      summary: "Allocate a transfer to invoices, in full or in parts",
      organization: "found",
      flags: {
        allocations: {
          isArgument: true,
          isMany: true,
          takes: ["invoice"],
          description:
            "<invoice>=<amount>, by its id or your externalId; one may omit the amount and gets the rest",
          read: readAllocations,
        },
      },
      examples: [
        "till payments allocate trf_01kq3v5m8w2f6n9r4t7x0z1c3e inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till payments allocate trf_01kq3v5m8w2f6n9r4t7x0z1c3e inv_01kq3v5m8w2f6n9r4t7x0z1c3e=20.00 inv_01kq3v5m8w2f6n9r4t7x0z1c3f=5.00 --dry-run",
      ],
      look: lookAtTransfer,
      confirm: (call, subject) =>
        `Allocate ${subject}, to ${call.argument("allocations")}? It will count as paid.`,
      columns: transferColumns,
      sections: transferSections,
    },
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
    cli: {
      name: "payments ignore",
      organization: "found",
      examples: [
        "till payments ignore trf_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till payments ignore trf_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
      ],
      look: lookAtTransfer,
      confirm: (_call, subject) => `Ignore ${subject}? It will leave the inbox.`,
      columns: transferColumns,
      next: (one) => `till payments unignore ${one.id} returns it to the inbox`,
    },
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
    cli: {
      name: "payments unignore",
      organization: "found",
      examples: [
        "till payments unignore trf_01kq3v5m8w2f6n9r4t7x0z1c3e",
        "till payments unignore trf_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
      ],
      look: lookAtTransfer,
      columns: transferColumns,
      sections: transferSections,
    },
  }),
];
