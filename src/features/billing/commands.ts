import type { App } from "../../app.ts";
import {
  commandsOf,
  neededOrganization,
  anyOrganization,
  pageFlags,
  type CommandCall,
  type CommandFlag,
} from "../../api/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import { add, formatMoney, parseMoney } from "../../kernel/money/money.ts";
import { mapPage, type PageQuery } from "../../kernel/page.ts";
import { BillingBroken } from "./errors.ts";
import {
  AdminInvoiceQuery,
  ApplyAdminCreditRequest,
  ApplyAdminDiscountRequest,
  CancelRequest,
  CreateAdminManualAdjustmentRequest,
  presentAdjustment,
  presentAdminInvoices,
  presentCanceled,
  presentChecked,
  presentCredit,
  presentDiscount,
  presentOperated,
  presentPreviews,
  presentReceiveWallet,
  SetPlatformReceiveWalletRequest,
  SubscriptionQuery,
  type SubscriptionFilters,
} from "./operator/admin-records.ts";
import { platformInvoiceStatuses, presentPlans } from "./records.ts";
import { cancelTimes, subscriptionStatuses } from "./status.ts";

const command = commandsOf<App>();

const statusFlag: CommandFlag = {
  flags: "--status <status>",
  choices: subscriptionStatuses,
  description: "only subscriptions that are trialing, active, past_due, suspended or canceled",
};

const example = "--organization org_01kq3v5m8w2f6n9r4t7x0z1c3e";

const currencyFlag: CommandFlag = { flags: "--currency <code>", description: "such as USD" };
const reasonFlag: CommandFlag = {
  flags: "--reason <text>",
  description: "the reason shown on the invoice",
  ask: "The reason, as shown on the invoice",
};

const walletFlag: CommandFlag = {
  flags: "--wallet <id>",
  takes: ["wallet"],
  field: "walletId",
  description:
    "one of the platform organization's wallets; without it the current setting is shown",
};
const tokenFlag: CommandFlag = {
  flags: "--token <symbol>",
  description: "the token to receive, such as USDT",
  field: "tokenSymbol",
};

/** The commands load what they call: some need a few reads, and some all of billing. */
export const billingCommands = [
  command({
    name: "billing plans",
    summary: "List the plans that organizations can select",
    examples: ["till billing plans", "till billing plans --json"],
    effect: "read",
    async handle(app) {
      const { listPlans } = await import("./invoices/platform-invoices.ts");
      return listPlans(app);
    },
    present: presentPlans,
    columns: [
      "id",
      "name",
      "price currency",
      "interval",
      "trialDays",
      "includedInvoices",
      "overagePrice",
    ],
  }),
  command({
    name: "billing invoices",
    summary: "List platform invoices, newest first",
    flags: [
      anyOrganization,
      {
        flags: "--status <status>",
        description: "only invoices that are open, paid, past_due or void",
        choices: platformInvoiceStatuses,
      },
      ...pageFlags,
    ],
    examples: [
      "till billing invoices",
      "till billing invoices --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --status past_due --json",
    ],
    effect: "read",
    async handle(app, call) {
      const { listAllPlatformInvoices } = await import("./invoices/platform-invoices.ts");
      return listAllPlatformInvoices(
        app,
        call.parse(AdminInvoiceQuery, {
          limit: call.flag("limit"),
          cursor: call.flag("cursor"),
          organizationId: call.flag("organization"),
          status: call.flag("status"),
        }),
      );
    },
    present: presentAdminInvoices,
    columns: [
      "id",
      "number",
      "organizationName",
      "status",
      "total currency",
      "periodStart",
      "periodEnd",
      "dueAt",
    ],
  }),
  command({
    name: "billing subscriptions",
    summary: "List subscriptions, newest first, with the next action of each",
    flags: [anyOrganization, statusFlag, ...pageFlags],
    examples: [
      "till billing subscriptions",
      "till billing subscriptions --status suspended --json",
    ],
    effect: "read",
    async handle(app, call) {
      const { listSubscriptions } = await import("./operator/operator.ts");
      return listSubscriptions(app, queryOf(call));
    },
    present: presentOperated,
    columns: [
      "id",
      "organizationName",
      "plan",
      "pendingPlan",
      "status",
      "currentPeriodEnd",
      ["cancelAt", "Ends"],
      "owedInvoices",
      "nextActionAt",
      ["parkReason", "Fails because"],
    ],
  }),
  command({
    name: "billing cancel",
    summary: "Cancel an organization's subscription, now or at the end of its period",
    flags: [
      neededOrganization,
      {
        flags: "--when <time>",
        choices: cancelTimes,
        description:
          "now, period_end, or never, which withdraws a scheduled cancellation (default: now)",
      },
      {
        flags: "--reason <text>",
        description: "the reason recorded in the audit log",
        ask: "The reason, for the audit log",
      },
    ],
    examples: [
      "till billing cancel --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --when period_end --reason 'The shop closes'",
      "till billing cancel --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --reason Fraud --yes --json",
    ],
    effect: "write",
    async look(app, call) {
      const { listSubscriptions } = await import("./operator/operator.ts");
      const { data } = await listSubscriptions(app, {
        organizationId: ownerOf(call),
        limit: "1",
      });
      const [one] = data;
      // The trial reports that there is no subscription.
      if (one === undefined) return { subject: call.organization(), changes: () => [] };
      const { id, terms, status } = one.subscription;
      return {
        subject: `${one.organizationName}'s subscription to ${terms.id} (${id}), ${status}`,
        facts: [["Unpaid invoices", one.owedInvoices]],
        before: presentCanceled(one.subscription),
      };
    },
    confirm: (call, subject) => {
      switch (call.flag("when")) {
        case "never":
          return `Withdraw the scheduled cancellation of ${subject}?`;
        case "period_end":
          return `Cancel ${subject}, at the end of its period?`;
        default:
          return `Cancel ${subject}, now?`;
      }
    },
    async handle(app, call) {
      const { cancelSubscription } = await import("./lifecycle/cancel.ts");
      return cancelSubscription(
        app,
        call.context,
        ownerOf(call),
        call.parse(CancelRequest, {
          when: call.flag("when") ?? "now",
          reason: call.flag("reason"),
        }),
      );
    },
    present: presentCanceled,
    columns: ["id", "organizationId", "status", "canceledAt", ["cancelAt", "Ends"]],
    identify: (one) => one.id,
  }),
  command({
    name: "billing run",
    summary: "Run the billing steps that are due now, as servers do in the background",
    examples: ["till billing run", "till billing run --json"],
    effect: "write-without-trial",
    async handle(app) {
      const { runBilling } = await import("./lifecycle/worker.ts");
      return runBilling(app);
    },
    present: (result) => ({ ...result }),
    columns: ["due", "steps", "parked"],
    identify: (one) => String(one.steps),
    next: () => "till billing subscriptions, to see the next action of each",
  }),
  command({
    name: "billing verify",
    summary: "Recompute every platform invoice and list all differences",
    examples: ["till billing verify", "till billing verify --json"],
    effect: "read",
    async handle(app) {
      const { verifyBilling } = await import("./operator/operator.ts");
      return verifyBilling(app);
    },
    present: presentChecked,
    columns: [
      ["name", "Check"],
      { title: "Violations", value: (one) => one.violations.length },
      { title: "First", value: (one) => one.violations[0]?.fault ?? "" },
      ["describe", "Rule"],
    ],
    identify: (one) => one.name,
    fault({ data }) {
      const broken = data.filter(({ violations }) => violations.length > 0);
      if (broken.length === 0) return null;
      const names = broken.map(({ name }) => name).join(", ");
      return new BillingBroken(
        `Failed checks: ${names}. Compare the rows with an earlier backup, and find out who could write to the store.`,
      );
    },
  }),
  command({
    name: "billing credits",
    summary: "List an organization's credits, newest first",
    flags: [neededOrganization, ...pageFlags],
    examples: [`till billing credits ${example}`, `till billing credits ${example} --json`],
    effect: "read",
    async handle(app, call) {
      const { listCredits } = await import("./balances/grants.ts");
      return listCredits(app, ownerOf(call), pageOf(call));
    },
    present: (page) => mapPage(page, presentCredit),
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
    async handle(app, call) {
      const { giveCredit } = await import("./balances/grants.ts");
      return giveCredit(
        app,
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
    present: presentCredit,
    async look(app, call) {
      const { sumUsableCredits } = await import("./balances/grants.ts");
      const currency = call.flag("currency") ?? "";
      const open = await sumUsableCredits(app, ownerOf(call), currency);
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
    async handle(app, call) {
      const { listDiscounts } = await import("./balances/grants.ts");
      return listDiscounts(app, ownerOf(call), pageOf(call));
    },
    present: (page) => mapPage(page, presentDiscount),
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
    async handle(app, call) {
      const { giveDiscount } = await import("./balances/grants.ts");
      const [currency, periods] = [call.flag("currency"), call.flag("periods")];
      return giveDiscount(
        app,
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
    present: presentDiscount,
    look: (_app, call) => ({
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
    async handle(app, call) {
      const { listAdjustments } = await import("./balances/grants.ts");
      return listAdjustments(app, ownerOf(call), pageOf(call));
    },
    present: (page) => mapPage(page, presentAdjustment),
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
    async handle(app, call) {
      const { giveAdjustment } = await import("./balances/grants.ts");
      return giveAdjustment(
        app,
        call.context,
        ownerOf(call),
        call.parse(CreateAdminManualAdjustmentRequest, {
          amount: call.flag("amount"),
          currency: call.flag("currency"),
          description: call.flag("reason"),
        }),
      );
    },
    present: presentAdjustment,
    look: (_app, call) => ({
      subject: call.organization(),
      changes: ({ amount, currency, description }) => [
        ["Next invoice", null, `${amount} ${currency}`],
        ["Reason on the invoice", null, description],
      ],
    }),
    columns: ["id", "organizationId", "amount currency", "description", "status", "createdBy"],
  }),
  command({
    name: "billing receive-wallet",
    summary: "Show or set the wallet at which the platform is paid",
    flags: [walletFlag, tokenFlag],
    examples: [
      "till billing receive-wallet",
      "till billing receive-wallet --wallet wal_01kq3v5m8w2f6n9r4t7x0z1c3e --token USDT --yes",
    ],
    effect: "write",
    async look(app) {
      const { getReceiveWallet } = await import("./invoices/receive-wallet.ts");
      const before = presentReceiveWallet(await getReceiveWallet(app));
      const { wallet } = before;
      return {
        subject:
          wallet === null
            ? "The platform has no receive wallet"
            : `The platform's receive wallet, now ${wallet.label} (${wallet.id})`,
        before,
      };
    },
    confirm: (call) => {
      const walletId = call.flag("wallet");
      return walletId === undefined
        ? null
        : `Receive payments of new platform invoices at ${walletId} from now on?`;
    },
    async handle(app, call) {
      const { getReceiveWallet, setReceiveWallet } = await import("./invoices/receive-wallet.ts");
      if (call.flag("wallet") === undefined && call.flag("token") === undefined) {
        return getReceiveWallet(app);
      }
      return setReceiveWallet(
        app,
        call.context,
        call.parse(SetPlatformReceiveWalletRequest, {
          walletId: call.flag("wallet"),
          tokenSymbol: call.flag("token"),
        }),
      );
    },
    present: presentReceiveWallet,
    identify: (set) => set.wallet?.id ?? "",
    columns: [
      { title: "Wallet", value: (set) => set.wallet?.id ?? null },
      { title: "Label", value: (set) => set.wallet?.label ?? null },
      { title: "Address", value: (set) => set.wallet?.address ?? null },
      "network",
      "tokenSymbol",
      { title: "Status", value: (set) => set.wallet?.status ?? null },
      "updatedAt",
    ],
  }),
];

/** `till billing rehearse` without --months, which the command line declares with its other flags. */
export const nextInvoicesCommand = command({
  name: "billing rehearse",
  summary: "Preview the next platform invoices without issuing them",
  flags: [anyOrganization, statusFlag, ...pageFlags],
  examples: [
    "till billing rehearse",
    "till billing rehearse --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
  ],
  effect: "read",
  async handle(app, call) {
    const { previewPlatformInvoices } = await import("./operator/operator.ts");
    return previewPlatformInvoices(app, call.context, queryOf(call));
  },
  present: presentPreviews,
  columns: [
    "organizationName",
    "plan",
    "periodStart",
    "invoicesSoFar",
    "subtotal",
    "discountTotal",
    "creditTotal",
    "total currency",
  ],
});

function queryOf(call: CommandCall): SubscriptionFilters {
  return call.parse(SubscriptionQuery, {
    limit: call.flag("limit"),
    cursor: call.flag("cursor"),
    organizationId: call.flag("organization"),
    status: call.flag("status"),
  });
}

function ownerOf(call: CommandCall): Id<"organization"> {
  return call.flag("organization") as Id<"organization">;
}

function pageOf(call: CommandCall): PageQuery {
  return { limit: call.flag("limit"), cursor: call.flag("cursor") };
}
