import { cancelTimes } from "../lifecycle/cancel.ts";
import { subscriptionStatuses } from "../status.ts";
import {
  commandsOf,
  neededOrganization,
  anyOrganization,
  pageFlags,
  type CommandCall,
  type CommandFlag,
} from "../../../api/declare/command.ts";
import type { Id } from "../../../kernel/id.ts";
import type { BillingOperator } from "./service.ts";

const command = commandsOf<BillingOperator>();

const statusFlag: CommandFlag = {
  flags: "--status <status>",
  choices: subscriptionStatuses,
  description: "only subscriptions that are trialing, active, past_due, suspended or canceled",
};

async function queryOf(call: CommandCall) {
  const { SubscriptionQuery } = await import("./records.ts");
  return call.parse(SubscriptionQuery, {
    limit: call.flag("limit"),
    cursor: call.flag("cursor"),
    organizationId: call.flag("organization"),
    status: call.flag("status"),
  });
}

export const billingOperatorCommands = [
  command({
    name: "billing subscriptions",
    summary: "List subscriptions, newest first, with the next action of each",
    flags: [anyOrganization, statusFlag, ...pageFlags],
    examples: [
      "till billing subscriptions",
      "till billing subscriptions --status suspended --json",
    ],
    effect: "read",
    handle: async (service, call) => service.list(await queryOf(call)),
    async present(page) {
      return (await import("./records.ts")).presentOperated(page);
    },
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
    async look(service, call) {
      const { presentCanceled } = await import("./records.ts");
      const { data } = await service.list({
        organizationId: call.flag("organization") as Id<"organization">,
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
    async handle(service, call) {
      const { CancelRequest } = await import("./records.ts");
      return service.cancel(
        call.context,
        call.flag("organization") as Id<"organization">,
        call.parse(CancelRequest, {
          when: call.flag("when") ?? "now",
          reason: call.flag("reason"),
        }),
      );
    },
    async present(row) {
      return (await import("./records.ts")).presentCanceled(row);
    },
    columns: ["id", "organizationId", "status", "canceledAt", ["cancelAt", "Ends"]],
    identify: (one) => one.id,
  }),
  command({
    name: "billing run",
    summary: "Run the billing steps that are due now, as servers do in the background",
    examples: ["till billing run", "till billing run --json"],
    effect: "write-without-trial",
    handle: (service) => service.run(),
    present: (result) => Promise.resolve({ ...result }),
    columns: ["due", "steps", "parked"],
    identify: (one) => String(one.steps),
    next: () => "till billing subscriptions, to see the next action of each",
  }),
  command({
    name: "billing verify",
    summary: "Recompute every platform invoice and list all differences",
    examples: ["till billing verify", "till billing verify --json"],
    effect: "read",
    handle: (service) => service.verify(),
    async present(checked) {
      return (await import("./records.ts")).presentChecked(checked);
    },
    columns: [
      ["name", "Check"],
      { title: "Violations", value: (one) => one.violations.length },
      { title: "First", value: (one) => one.violations[0]?.fault ?? "" },
      ["describe", "Rule"],
    ],
    identify: (one) => one.name,
    async fault({ data }) {
      const broken = data.filter(({ violations }) => violations.length > 0);
      if (broken.length === 0) return null;
      const { BillingBroken } = await import("../errors.ts");
      return new BillingBroken(
        `Failed checks: ${broken.map(({ name }) => name).join(", ")}. Compare the rows with an earlier backup, and find out who could write to the store.`,
      );
    },
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
  handle: async (service, call) => service.rehearse(call.context, await queryOf(call)),
  async present(page) {
    return (await import("./records.ts")).presentRehearsals(page);
  },
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
