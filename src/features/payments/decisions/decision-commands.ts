import type { App } from "../../../app.ts";
import {
  command,
  neededOrganization,
  type Column,
  type CommandArgument,
  type CommandCall,
  type Looked,
} from "../../../http/declare/command.ts";
import type { Id } from "../../../kernel/id.ts";
import { getPayment } from "../payments.ts";
import type { PaymentView } from "../records.ts";
import { acceptPayment, rejectPayment, reversePayment } from "./decide-payment.ts";

type Shown = Awaited<ReturnType<typeof present>>;

const paymentId: CommandArgument = { name: "paymentId", description: "such as pay_01h…" };

const columns: readonly Column<Shown>[] = [
  "id",
  "invoiceId",
  "amount tokenSymbol",
  "status",
  "transactionHash",
];

export const decisionCommands = [
  command({
    name: "payments accept",
    summary: "Accept a payment in review, so that it counts for its invoice",
    arguments: [paymentId],
    flags: [neededOrganization],
    examples: examplesOf("accept"),
    effect: "write",
    look,
    confirm: (_call, subject) =>
      `Accept ${subject}? It will count for its invoice, which ships once it is paid.`,
    handle: (app, call) => acceptPayment(app, call.context, ownerOf(call), idOf(call)),
    present,
    columns,
  }),
  command({
    name: "payments reject",
    summary: "Reject a payment in review, so that it can be refunded or allocated",
    arguments: [paymentId],
    flags: [neededOrganization],
    examples: examplesOf("reject"),
    effect: "write",
    look,
    confirm: (_call, subject) => `Reject ${subject}? It will not count for its invoice.`,
    handle: (app, call) => rejectPayment(app, call.context, ownerOf(call), idOf(call)),
    present,
    columns,
  }),
  command({
    name: "payments reverse",
    summary: "Reverse a payment that is to count for another invoice, or to be refunded",
    arguments: [paymentId],
    flags: [
      neededOrganization,
      {
        flags: "--to <invoiceId>",
        description: "and allocate its amount to this other invoice",
        takes: ["invoice"],
        field: "toInvoiceId",
      },
      { flags: "--cancel", description: "and cancel the invoice, so that nobody pays it again" },
    ],
    examples: [
      ...examplesOf("reverse"),
      "till payments reverse pay_01kq3v5m8w2f6n9r4t7x0z1c3e --to inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
    ],
    effect: "write",
    look,
    confirm(call, subject) {
      const toInvoiceId = call.flag("to");
      const cancel = call.isSet("cancel") ? ", and cancel its invoice" : "";
      return toInvoiceId === undefined
        ? `Reverse ${subject}${cancel}? It will no longer count for its invoice, and its amount returns to the inbox.`
        : `Move ${subject}, to ${toInvoiceId}${cancel}? It will no longer count for its invoice, but for ${toInvoiceId}.`;
    },
    async handle(app, call) {
      const { ReversePaymentRequest } = await import("../records.ts");
      const input = call.parse(ReversePaymentRequest, {
        cancel: call.isSet("cancel"),
        toInvoiceId: call.flag("to"),
      });
      return reversePayment(app, call.context, ownerOf(call), idOf(call), input);
    },
    present,
    columns,
    next(one, call) {
      const toInvoiceId = call.flag("to");
      if (toInvoiceId !== undefined) {
        return `till invoice show ${toInvoiceId} shows what it still asks for`;
      }
      const refund = `till refund create ${one.id} to return its amount, once its block is final`;
      return call.isSet("cancel") ? refund : `${refund}; till payments inbox to allocate it`;
    },
  }),
];

function examplesOf(verb: string): [string, string] {
  const call = `till payments ${verb} pay_01kq3v5m8w2f6n9r4t7x0z1c3e --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e`;
  return [call, `${call} --yes --json`];
}

async function look(app: App, call: CommandCall): Promise<Looked<Shown>> {
  const before = await present(await getPayment(app, ownerOf(call), idOf(call)));
  return {
    subject: `${before.amount} ${before.tokenSymbol} (${before.id}), ${before.status}`,
    facts: [
      ["Invoice", before.invoiceId],
      ["From", `${before.fromAddress} on ${before.network}`],
      ["Counts as", `${before.settlementAmount} ${before.settlementCurrency}`],
    ],
    before,
  };
}

function ownerOf(call: CommandCall): Id<"organization"> {
  return call.flag("organization") as Id<"organization">;
}

function idOf(call: CommandCall): Id<"payment"> {
  return call.argument("paymentId") as Id<"payment">;
}

async function present(view: PaymentView) {
  return (await import("../records.ts")).presentPayment(view);
}
