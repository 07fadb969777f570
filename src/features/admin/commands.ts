import type { App } from "../../app.ts";
import {
  command,
  organizationArgument,
  type CommandCall,
  type Looked,
} from "../../http/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import { changeOrganizationStatus, getOrganizationDetail } from "./organizations.ts";
import { presentPlatformPayment } from "./oversight-records.ts";
import { getOwnedPayment } from "./oversight.ts";
import { outcomeColumns, presentOrganizationDetail } from "./records.ts";

export const adminCommands = [
  command({
    name: "org suspend",
    summary: "Suspend an organization: it becomes read-only",
    arguments: [organizationArgument],
    examples: [
      "till org suspend org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till org suspend org_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
    ],
    effect: "write",
    look,
    confirm: (_call, subject) =>
      `Suspend ${subject}? Its writes are refused immediately; incoming payments are still credited.`,
    handle: (app, call) => changeOrganizationStatus(app, call.context, idOf(call), "suspended"),
    present: presentOrganizationDetail,
    columns: outcomeColumns,
    next: (one) => `till org resume ${one.id} lifts the suspension`,
  }),
  command({
    name: "org resume",
    summary: "Lift an organization's suspension",
    arguments: [organizationArgument],
    examples: [
      "till org resume org_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till org resume org_01kq3v5m8w2f6n9r4t7x0z1c3e --yes --json",
    ],
    effect: "write",
    look,
    confirm: (_call, subject) => `Resume ${subject}? Its writes are accepted again.`,
    handle: (app, call) => changeOrganizationStatus(app, call.context, idOf(call), "active"),
    present: presentOrganizationDetail,
    columns: outcomeColumns,
  }),
  command({
    name: "payments show",
    summary: "Show a payment of any organization",
    arguments: [{ name: "paymentId", description: "such as pay_01h…" }],
    examples: [
      "till payments show pay_01kq3v5m8w2f6n9r4t7x0z1c3e",
      "till payments show pay_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    handle: (app, call) => getOwnedPayment(app, call.argument("paymentId") as Id<"payment">),
    present: presentPlatformPayment,
    columns: [
      "id",
      { title: "Organization", value: (one) => `${one.organizationName} (${one.organizationId})` },
      "invoiceId",
      "status",
      "amount tokenSymbol",
      ["settlementAmount settlementCurrency", "Counts as"],
      {
        title: "Rate",
        value: ({ exchangeRate, tokenSymbol, settlementCurrency }) =>
          exchangeRate === null ? null : `${exchangeRate} ${tokenSymbol} per ${settlementCurrency}`,
      },
      "network",
      "transactionHash",
      "fromAddress",
      "toAddress",
      "blockNumber",
      "blockTime",
      {
        title: "Confirmations",
        value: (one) => `${String(one.confirmations)}/${String(one.requiredConfirmations)}`,
      },
      ["isVerified", "Verified"],
      "source",
      "confirmedAt",
    ],
  }),
];

function idOf(call: CommandCall): Id<"organization"> {
  return call.argument("organizationId") as Id<"organization">;
}

async function look(
  app: App,
  call: CommandCall,
): Promise<Looked<ReturnType<typeof presentOrganizationDetail>>> {
  const before = presentOrganizationDetail(await getOrganizationDetail(app, idOf(call)));
  return { subject: `${before.displayName} (${before.id}), ${before.status}`, before };
}
