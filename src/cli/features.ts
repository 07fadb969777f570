import type { Command as Program } from "commander";
import type { App } from "../app.ts";
import type { Command } from "../api/declare/command.ts";
import type { Operation } from "../api/declare/operation.ts";
import type { ServiceName, ServiceOf } from "../compose/services.ts";
import { Defect } from "../kernel/errors.ts";
import type { CommandArguments } from "./feature-command.ts";
import { add, addDeclared, type OpenTerminal, type Options } from "./command-words.ts";
import { describedCommands, type DescribedCommand } from "./manifest.ts";

/** Commands that are declared together. */
interface CommandList<Name extends ServiceName> {
  /** The service that they call. */
  readonly service: Name;
  readonly load: () => Promise<readonly Command<ServiceOf<Name>>[]>;
}

function list<Name extends ServiceName>(
  service: Name,
  load: CommandList<Name>["load"],
): CommandList<Name> {
  return { service, load };
}

/** The commands of those operations that declare a command line. */
function operations(load: () => Promise<readonly Operation<App>[]>): CommandList<"app"> {
  return list("app", async () => {
    const { commandsFrom } = await import("./from-operation.ts");
    return commandsFrom(await load());
  });
}

/** The commands of all features, in the order of the help. Each list is loaded when one of its commands runs. */
export const commandLists = {
  admin: list("admin", async () => (await import("../features/admin/commands.ts")).adminCommands),
  user: list("users", async () => (await import("../features/auth/commands.ts")).userCommands),
  password: list(
    "passwordService",
    async () => (await import("../features/auth/commands.ts")).passwordCommands,
  ),
  session: list(
    "sessions",
    async () => (await import("../features/auth/sessions/commands.ts")).sessionCommands,
  ),
  customer: operations(
    async () => (await import("../features/customers/api.ts")).customerOperations,
  ),
  apiKey: list(
    "apiKeys",
    async () => (await import("../features/api-keys/commands.ts")).apiKeyCommands,
  ),
  wallet: list(
    "wallets",
    async () => (await import("../features/wallets/commands.ts")).walletCommands,
  ),
  invoice: list(
    "invoices",
    async () => (await import("../features/invoices/commands.ts")).invoiceCommands,
  ),
  batch: list(
    "invoiceBatches",
    async () => (await import("../features/invoices/batches/commands.ts")).batchCommands,
  ),
  payment: list(
    "oversight",
    async () => (await import("../features/admin/cross-organization/commands.ts")).paymentCommands,
  ),
  queue: list(
    "queues",
    async () => (await import("../features/admin/queue-commands.ts")).queueCommands,
  ),
  failure: list(
    "oversight",
    async () => (await import("../features/admin/queue-commands.ts")).failureCommands,
  ),
  webhook: list(
    "webhooks",
    async () => (await import("../features/webhooks/commands.ts")).webhookCommands,
  ),
  endpoint: list(
    "webhooks",
    async () => (await import("../features/webhooks/endpoint-commands.ts")).endpointCommands,
  ),
  transfer: list(
    "transfers",
    async () => (await import("../features/payments/inbox/commands.ts")).transferCommands,
  ),
  receipt: list(
    "receipts",
    async () => (await import("../features/receipts/commands.ts")).receiptCommands,
  ),
  refund: list(
    "refunds",
    async () => (await import("../features/refunds/commands.ts")).refundCommands,
  ),
  decision: list(
    "decisions",
    async () =>
      (await import("../features/payments/decisions/decision-commands.ts")).decisionCommands,
  ),
  paymentPolicy: list(
    "organizationService",
    async () => (await import("../features/organizations/commands.ts")).paymentPolicyCommands,
  ),
  paymentLink: list(
    "paymentLinks",
    async () => (await import("../features/payment-links/commands.ts")).paymentLinkCommands,
  ),
  branding: list(
    "organizationService",
    async () => (await import("../features/organizations/commands.ts")).brandingCommands,
  ),
  origin: list(
    "organizationService",
    async () => (await import("../features/organizations/commands.ts")).originCommands,
  ),
  billing: list(
    "billingReader",
    async () => (await import("../features/billing/commands.ts")).billingCommands,
  ),
  billingOperator: list(
    "billingOperator",
    async () => (await import("../features/billing/commands.ts")).billingOperatorCommands,
  ),
  balance: list(
    "balanceService",
    async () => (await import("../features/billing/commands.ts")).balanceCommands,
  ),
  receiveWallet: list(
    "receiveWallet",
    async () => (await import("../features/billing/commands.ts")).receiveWalletCommands,
  ),
  analytics: list(
    "analytics",
    async () => (await import("../features/analytics/commands.ts")).analyticsCommands,
  ),
  export: list(
    "exports",
    async () => (await import("../features/exports/commands.ts")).exportCommands,
  ),
  audit: list(
    "auditLogs",
    async () => (await import("../features/audit-logs/commands.ts")).auditCommands,
  ),
  rate: list("rates", async () => (await import("../features/rates/commands.ts")).rateCommands),
  chain: list(
    "chains",
    async () => (await import("../features/payments/sandbox/commands.ts")).chainCommands,
  ),
  sandbox: list(
    "sandbox",
    async () => (await import("../features/payments/sandbox/commands.ts")).sandboxCommands,
  ),
} as const;

export type CommandListName = keyof typeof commandLists;

/** Adds the commands of all features, or of one group of commands. */
export async function addFeatures(
  program: Program,
  openTerminal: OpenTerminal,
  noun: string | null,
): Promise<void> {
  for (const command of await describedCommands()) {
    if (noun !== null && !command.name.startsWith(`${noun} `)) continue;
    addFeature(program, openTerminal, command);
  }
}

/** Adds a feature's command. All of them run through feature-command.ts. */
function addFeature(
  program: Program,
  openTerminal: OpenTerminal,
  described: DescribedCommand,
): void {
  const added = add(program, described.name, described.summary, described.examples);
  addDeclared(added, described.arguments, described.flags);
  if (described.hasPassword) {
    added.option("--password-stdin", "read the password from standard input");
    added.option("--password-file <path>", "read the password from a file");
  }
  if (described.isTried) {
    added.option("--dry-run", "run all checks and show the result without changing anything");
  }
  if (described.isWatched) added.option("--watch", "repeat every 2 s until Ctrl-C");
  added.action(async (...given: unknown[]) => {
    const options = added.optsWithGlobals<Options>();
    const values = described.arguments.map(({ name }, place) => {
      const value = given[place];
      return [name, Array.isArray(value) ? value.join(" ") : value];
    });
    const call = {
      arguments: Object.fromEntries(values) as CommandArguments["arguments"],
      flags: options,
    };
    const terminal = await openTerminal(options);
    const { runFeatureCommand } = await import("./feature-command.ts");
    const { service, load }: CommandList<ServiceName> = commandLists[described.list];
    const command = (await load()).find(({ name }) => name === described.name);
    if (command === undefined) throw new Defect(`${described.name} is not in ${described.list}`);
    await runFeatureCommand(terminal, command, service, call);
  });
}
