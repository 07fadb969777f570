import {
  command,
  neededOrganization,
  anyOrganization,
  pageFlags,
  type CommandCall,
  type CommandFlag,
} from "../../http/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import { BillingBroken } from "./errors.ts";
import {
  CancelRequest,
  presentCanceled,
  presentOperated,
  presentPreviews,
  presentReceiveWallet,
  SetPlatformReceiveWalletRequest,
  SubscriptionQuery,
  type SubscriptionFilters,
} from "./operator/admin-records.ts";
import { discount } from "./balances/entries.ts";
import { cancelTimes, subscriptionStatuses } from "./status.ts";

const statusFlag: CommandFlag = {
  flags: "--status <status>",
  choices: subscriptionStatuses,
  description: "only subscriptions that are trialing, active, past_due, suspended or canceled",
};

const example = "--organization org_01kq3v5m8w2f6n9r4t7x0z1c3e";

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
    present: (page) => page,
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
  command({
    name: "billing discount",
    summary: "Give an organization a discount on its plan and usage charges",
    arguments: [
      { name: "value", description: "a percentage such as 15, or an amount of --currency" },
    ],
    flags: [
      neededOrganization,
      {
        flags: "--currency <code>",
        description: "currency of a fixed amount; without it the value is a percentage",
      },
      {
        flags: "--periods <number>",
        description: "number of invoices it applies to (default: all)",
      },
      {
        flags: "--reason <text>",
        description: "the reason shown on the invoice",
        ask: "The reason, as shown on the invoice",
      },
    ],
    examples: [
      `till billing discount 15 ${example} --periods 3 --reason Welcome`,
      `till billing discount 10.00 ${example} --currency USD --reason Partner --yes --json`,
    ],
    effect: "write",
    confirm: (call, subject) =>
      `Give ${subject}, a discount of ${call.argument("value")} ${call.flag("currency") ?? "%"}?`,
    async handle(app, call) {
      const { giveEntry } = await import("./balances/balances.ts");
      const [currency, periods] = [call.flag("currency"), call.flag("periods")];
      return giveEntry(
        app,
        call.context,
        discount,
        ownerOf(call),
        call.parse(discount.request, {
          kind: currency === undefined ? "percent" : "fixed",
          value: call.argument("value"),
          currency,
          periods: periods === undefined ? undefined : Number(periods),
          reason: call.flag("reason"),
        }),
      );
    },
    present: discount.present,
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
