import {
  commandsOf,
  neededOrganization,
  pageFlags,
  type CommandCall,
  type CommandFlag,
} from "../../../api/declare/command.ts";
import type { Id } from "../../../kernel/id.ts";
import type { PageQuery } from "../../../kernel/page.ts";
import type { BalanceService } from "./service.ts";

const command = commandsOf<BalanceService>();
const example = "--organization org_01kq3v5m8w2f6n9r4t7x0z1c3e";

const currencyFlag: CommandFlag = { flags: "--currency <code>", description: "such as USD" };
const reasonFlag: CommandFlag = {
  flags: "--reason <text>",
  description: "the reason shown on the invoice",
  ask: "The reason, as shown on the invoice",
};

export const balanceCommands = [
  command({
    name: "billing credits",
    summary: "List an organization's credits, newest first",
    flags: [neededOrganization, ...pageFlags],
    examples: [`till billing credits ${example}`, `till billing credits ${example} --json`],
    effect: "read",
    handle: (service, call) => service.listCredits(ownerOf(call), pageOf(call)),
    async present({ data, nextCursor }) {
      const { presentCredit } = await import("./present.ts");
      return { data: data.map(presentCredit), nextCursor };
    },
    columns: ["id", "amount currency", "remaining", "status", "reason", "expiresAt", "createdBy"],
  }),
  command({
    name: "billing credit",
    summary: "Give an organization a credit for its next platform invoices",
    arguments: [{ name: "amount", description: "such as 25.00" }],
    flags: [
      neededOrganization,
      { ...currencyFlag, ask: "The currency, such as USD" },
      reasonFlag,
      {
        flags: "--expires-at <time>",
        description: "expiry time, such as 2027-01-01T00:00:00.000Z (default: never)",
      },
    ],
    examples: [
      `till billing credit 25.00 ${example} --currency USD --reason 'Outage of Monday'`,
      `till billing credit 25.00 ${example} --currency USD --reason Goodwill --yes --json`,
    ],
    effect: "write",
    confirm: (call, subject) =>
      `Give ${subject}, a credit of ${call.argument("amount")} ${call.flag("currency") ?? ""}?`,
    async handle(service, call) {
      const { ApplyAdminCreditRequest } = await import("../operator/admin-records.ts");
      return service.grantCredit(
        call.context,
        ownerOf(call),
        call.parse(ApplyAdminCreditRequest, {
          amount: call.argument("amount"),
          currency: call.flag("currency"),
          reason: call.flag("reason"),
          expiresAt: call.flag("expires-at"),
        }),
      );
    },
    async present(credit) {
      return (await import("./present.ts")).presentCredit(credit);
    },
    async look(service, call) {
      const { add, formatMoney, parseMoney } = await import("../../../kernel/money/money.ts");
      const currency = call.flag("currency") ?? "";
      const open = await service.openCredit(ownerOf(call), currency);
      return {
        subject: call.organization(),
        changes: ({ amount, reason, expiresAt }) => [
          ...(open === null
            ? []
            : ([
                [
                  "Usable credit",
                  `${formatMoney(open)} ${currency}`,
                  `${formatMoney(add(open, parseMoney(amount, open.asset)))} ${currency}`,
                ],
              ] as const)),
          ["Reason on the invoice", null, reason],
          ["Expires", null, expiresAt ?? "never"],
        ],
      };
    },
    columns: ["id", "organizationId", "amount currency", "reason", "expiresAt", "createdBy"],
  }),
  command({
    name: "billing discounts",
    summary: "List an organization's discounts, newest first",
    flags: [neededOrganization, ...pageFlags],
    examples: [`till billing discounts ${example}`, `till billing discounts ${example} --json`],
    effect: "read",
    handle: (service, call) => service.listDiscounts(ownerOf(call), pageOf(call)),
    async present({ data, nextCursor }) {
      const { presentDiscount } = await import("./present.ts");
      return { data: data.map(presentDiscount), nextCursor };
    },
    columns: [
      "id",
      { title: "Value", value: (one) => `${one.value} ${one.currency ?? "%"}` },
      "periods",
      "periodsUsed",
      "status",
      "reason",
      "createdBy",
    ],
  }),
  command({
    name: "billing discount",
    summary: "Give an organization a discount on its plan and usage charges",
    arguments: [
      { name: "value", description: "a percentage such as 15, or an amount of --currency" },
    ],
    flags: [
      neededOrganization,
      {
        ...currencyFlag,
        description: "currency of a fixed amount; without it the value is a percentage",
      },
      {
        flags: "--periods <number>",
        description: "number of invoices it applies to (default: all)",
      },
      reasonFlag,
    ],
    examples: [
      `till billing discount 15 ${example} --periods 3 --reason Welcome`,
      `till billing discount 10.00 ${example} --currency USD --reason Partner --yes --json`,
    ],
    effect: "write",
    confirm: (call, subject) =>
      `Give ${subject}, a discount of ${call.argument("value")} ${call.flag("currency") ?? "%"}?`,
    async handle(service, call) {
      const { ApplyAdminDiscountRequest } = await import("../operator/admin-records.ts");
      const [currency, periods] = [call.flag("currency"), call.flag("periods")];
      return service.grantDiscount(
        call.context,
        ownerOf(call),
        call.parse(ApplyAdminDiscountRequest, {
          kind: currency === undefined ? "percent" : "fixed",
          value: call.argument("value"),
          currency,
          periods: periods === undefined ? undefined : Number(periods),
          reason: call.flag("reason"),
        }),
      );
    },
    async present(discount) {
      return (await import("./present.ts")).presentDiscount(discount);
    },
    look: (_service, call) => ({
      subject: call.organization(),
      changes: (after) => [
        ["Discount", null, `${after.value} ${after.currency ?? "%"}`],
        ["Invoices", null, after.periods ?? "all"],
        ["Reason on the invoice", null, after.reason],
      ],
    }),
    columns: [
      "id",
      "organizationId",
      { title: "Value", value: (one) => `${one.value} ${one.currency ?? "%"}` },
      "periods",
      "reason",
      "createdBy",
    ],
  }),
  command({
    name: "billing adjustments",
    summary: "List an organization's adjustments, newest first",
    flags: [neededOrganization, ...pageFlags],
    examples: [`till billing adjustments ${example}`, `till billing adjustments ${example} --json`],
    effect: "read",
    handle: (service, call) => service.listAdjustments(ownerOf(call), pageOf(call)),
    async present({ data, nextCursor }) {
      const { presentAdjustment } = await import("./present.ts");
      return { data: data.map(presentAdjustment), nextCursor };
    },
    columns: ["id", "amount currency", "status", "platformInvoiceId", "description", "createdBy"],
  }),
  command({
    name: "billing adjust",
    summary: "Add a charge or a deduction to an organization's next platform invoice",
    flags: [
      neededOrganization,
      {
        flags: "--amount <amount>",
        description: "such as 15.00; a negative amount is deducted: --amount=-4.10",
        ask: "The amount; a negative one is deducted",
      },
      { ...currencyFlag, ask: "The currency, such as USD" },
      { ...reasonFlag, field: "description" },
    ],
    examples: [
      `till billing adjust ${example} --amount 15.00 --currency USD --reason Onboarding`,
      `till billing adjust ${example} --amount=-4.10 --currency USD --reason SLA --yes --json`,
    ],
    effect: "write",
    confirm: (call, subject) =>
      `Add ${call.flag("amount") ?? ""} ${call.flag("currency") ?? ""} to the next invoice of ${subject}?`,
    async handle(service, call) {
      const { CreateAdminManualAdjustmentRequest } = await import("../operator/admin-records.ts");
      return service.addAdjustment(
        call.context,
        ownerOf(call),
        call.parse(CreateAdminManualAdjustmentRequest, {
          amount: call.flag("amount"),
          currency: call.flag("currency"),
          description: call.flag("reason"),
        }),
      );
    },
    async present(adjustment) {
      return (await import("./present.ts")).presentAdjustment(adjustment);
    },
    look: (_service, call) => ({
      subject: call.organization(),
      changes: ({ amount, currency, description }) => [
        ["Next invoice", null, `${amount} ${currency}`],
        ["Reason on the invoice", null, description],
      ],
    }),
    columns: ["id", "organizationId", "amount currency", "description", "status", "createdBy"],
  }),
];

function ownerOf(call: CommandCall): Id<"organization"> {
  return call.flag("organization") as Id<"organization">;
}

function pageOf(call: CommandCall): PageQuery {
  return { limit: call.flag("limit"), cursor: call.flag("cursor") };
}
