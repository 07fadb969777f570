import type { App } from "../../app.ts";
import { refundStatuses } from "./status.ts";
import {
  command,
  neededOrganization,
  neededReason,
  pageFlags,
  reasonOf,
  section,
  type Column,
  type CommandArgument,
  type CommandCall,
  type Looked,
} from "../../http/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import type { HeldRefund, RefundView } from "./records.ts";
import {
  createRefund,
  getAnyRefund,
  getPaymentToRefund,
  listRefunds,
  rejectRefund,
  sendRefund,
} from "./refunds.ts";

type Shown = Awaited<ReturnType<typeof present>>;

const refundId: CommandArgument = { name: "refundId", description: "such as rfd_01h…" };

const columns: readonly Column<Shown>[] = [
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
];

export const refundCommands = [
  command({
    name: "refund list",
    summary: "List an organization's refunds, newest first",
    flags: [
      neededOrganization,
      {
        flags: "--status <status>",
        description: "only those that are requested, sent, confirmed or rejected",
        choices: refundStatuses,
      },
      { flags: "--invoice-id <id>", description: "of this invoice, by its id or your externalId" },
      ...pageFlags,
    ],
    isWatched: true,
    examples: [
      "till refund list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till refund list --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status requested --json",
    ],
    effect: "read",
    async handle(app, call) {
      const { RefundQuery } = await import("./records.ts");
      const query = call.parse(RefundQuery, {
        limit: call.flag("limit"),
        cursor: call.flag("cursor"),
        status: call.flag("status"),
        invoiceId: call.flag("invoice-id"),
      });
      return listRefunds(app, call.flag("organization") as Id<"organization">, query);
    },
    async present({ data, nextCursor }) {
      return { data: await Promise.all(data.map(present)), nextCursor };
    },
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
  }),
  command({
    name: "refund show",
    summary: "Show a refund",
    arguments: [refundId],
    examples: [
      "till refund show rfd_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till refund show rfd_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: (app, call) => getAnyRefund(app, idOf(call)),
    present,
    columns,
  }),
  command({
    name: "refund create",
    summary: "Record a refund that was agreed with the payer",
    arguments: [{ name: "paymentId", description: "such as pay_01h…" }],
    flags: [
      {
        flags: "--amount <amount>",
        description: "in the payment's token, at most its surplus",
        ask: "The amount in the payment's token",
      },
      {
        flags: "--address <address>",
        description:
          "the recipient's on the payment's network; not the address from which an exchange has sent the payment",
        ask: "The recipient's address, not that from which an exchange has sent the payment",
      },
    ],
    examples: [
      "till refund create pay_01kq3v5m8w2f6n9r4t7x0z1c3e --amount 5.00 --address T…",
      "till refund create pay_01kq3v5m8w2f6n9r4t7x0z1c3e --amount 5.00 --address T… --dry-run",
    ],
    effect: "write",
    async look(app, call) {
      const payment = await getPaymentToRefund(app, paymentOf(call));
      return {
        subject: `the payment of ${payment.amount} ${payment.tokenSymbol} (${paymentOf(call)}), ${payment.status}`,
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
    async handle(app, call) {
      const { CreateRefundRequest } = await import("./records.ts");
      const given = call.parse(CreateRefundRequest, {
        paymentId: paymentOf(call),
        amount: call.flag("amount"),
        address: call.flag("address"),
      });
      const { organizationId } = await getPaymentToRefund(app, given.paymentId);
      return createRefund(app, call.context, organizationId, given);
    },
    present,
    columns,
    next: ({ id }) => `pay it from one of your wallets, then till refund send ${id}`,
  }),
  command({
    name: "refund send",
    summary: "Name the transaction that pays a refund",
    arguments: [
      refundId,
      { name: "transactionHash", description: "as a block explorer shows it, or a link to it" },
    ],
    examples: [
      `till refund send rfd_01kq3v5m8w2f6n9r4t7x0z1c3e 0x${"5e".repeat(32)}`,
      `till refund send rfd_01kq3v5m8w2f6n9r4t7x0z1c3e 0x${"5e".repeat(32)} --dry-run`,
    ],
    effect: "write",
    look,
    confirm: (call, subject) =>
      `Name ${call.argument("transactionHash")} for ${subject}? The payment no longer counts for an invoice that is not paid.`,
    async handle(app, call) {
      const { SendRefundRequest } = await import("./records.ts");
      const given = call.parse(SendRefundRequest, {
        transactionHash: call.argument("transactionHash"),
      });
      return sendRefund(
        app,
        call.context,
        await ownerOf(app, call),
        idOf(call),
        given.transactionHash,
      );
    },
    present,
    columns,
    next: ({ id }) => `till refund show ${id} says whether the transaction pays it`,
  }),
  command({
    name: "refund reject",
    summary: "Reject a refund that was not sent",
    arguments: [refundId],
    flags: [
      {
        flags: "--reason <text>",
        description: "which the payer sees",
        ask: "The reason, which the payer sees",
      },
    ],
    examples: [
      'till refund reject rfd_01kq3v5m8w2f6n9r4t7x0z1c3e --reason "Already refunded by card"',
      'till refund reject rfd_01kq3v5m8w2f6n9r4t7x0z1c3e --reason "Not your payment" --yes --json',
    ],
    effect: "write",
    look,
    confirm: (_call, subject) => `Reject ${subject}? The payer will see the reason.`,
    async handle(app, call) {
      const { RejectRefundRequest } = await import("./records.ts");
      const { reason } = call.parse(RejectRefundRequest, { reason: call.flag("reason") });
      return rejectRefund(app, call.context, await ownerOf(app, call), idOf(call), reason);
    },
    present,
    columns,
  }),
  command({
    name: "refund confirm-held",
    summary: "Confirm a refund that is held because providers contradict each other",
    arguments: [refundId],
    flags: [neededReason],
    examples: [
      'till refund confirm-held rfd_01kq3v5m8w2f6n9r4t7x0z1c3e --reason "Seen in two explorers"',
      'till refund confirm-held rfd_01kq3v5m8w2f6n9r4t7x0z1c3e --reason "Seen in two explorers" --yes --json',
    ],
    effect: "write",
    async look(app, call) {
      const { findHeldRefund } = await import("./verification/examiner.ts");
      const before = await presentHeld(await findHeldRefund(app, idOf(call)));
      return {
        subject: `the refund of ${before.amount} ${before.tokenSymbol} (${before.id}), held since ${before.heldSince}`,
        facts: [
          ["To", `${before.address} on ${before.network}`],
          ["Transaction", before.transactionHash],
          ...before.opinions.map(({ provider, opinion }) => [provider, opinion] as const),
        ],
        before,
      };
    },
    confirm: (_call, subject) =>
      `Confirm ${subject}? Check two block explorers first: the payment page then says that the money was sent.`,
    async handle(app, call) {
      const { confirmHeldRefund } = await import("./verification/examiner.ts");
      return confirmHeldRefund(app, call.context, idOf(call), await reasonOf(call));
    },
    present: presentHeld,
    columns: ["id", "status", "network", "transactionHash", "blockNumber", "heldSince"],
    sections: ({ opinions }) => [
      section({ title: "Providers", items: opinions, columns: ["provider", "opinion"] }),
    ],
  }),
];

async function look(app: App, call: CommandCall): Promise<Looked<Shown>> {
  const before = await present(await getAnyRefund(app, idOf(call)));
  return {
    subject: `The refund of ${before.amount} ${before.tokenSymbol} (${before.id}), ${before.status}`,
    facts: [
      ["Invoice", before.invoiceId],
      ["To", `${before.address} on ${before.network}`],
      ["To the sender", before.isToSender],
      ["Requested by", before.requestedBy],
      ["Reason", before.reason],
    ],
    before,
  };
}

function paymentOf(call: CommandCall): Id<"payment"> {
  return call.argument("paymentId") as Id<"payment">;
}

function idOf(call: CommandCall): Id<"refund"> {
  return call.argument("refundId") as Id<"refund">;
}

async function ownerOf(app: App, call: CommandCall): Promise<Id<"organization">> {
  return (await getAnyRefund(app, idOf(call))).refund.organizationId;
}

async function present(view: RefundView) {
  return (await import("./records.ts")).presentRefund(view);
}

async function presentHeld(held: HeldRefund) {
  return (await import("./records.ts")).presentHeld(held);
}
