import type { App } from "../app.ts";
import type { Command } from "../api/declare/command.ts";
import type { Operation } from "../api/declare/operation.ts";
import type { ServiceName, ServiceOf } from "../compose/services.ts";

/** Commands that are declared together. */
export interface CommandList<Name extends ServiceName> {
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
function operations(
  load: () => Promise<readonly Operation<App>[] | undefined>,
): CommandList<"app"> {
  return list("app", async () => {
    const { commandsFrom } = await import("./from-operation.ts");
    return commandsFrom((await load()) ?? []);
  });
}

/** The commands of all features, in the order of the help. Each list is loaded when one of its commands runs. */
export const commandLists = {
  admin: list("admin", async () => (await import("../features/admin/commands.ts")).adminCommands),
  user: list("app", async () => (await import("../features/auth/commands.ts")).userCommands),
  customer: operations(
    async () => (await import("../features/customers/api.ts")).customersModule.operations?.app,
  ),
  apiKey: operations(
    async () => (await import("../features/api-keys/api.ts")).apiKeysModule.operations?.app,
  ),
  walletOperation: operations(
    async () => (await import("../features/wallets/api.ts")).walletsModule.operations?.app,
  ),
  wallet: list("app", async () => (await import("../features/wallets/commands.ts")).walletCommands),
  invoiceOperation: operations(
    async () => (await import("../features/invoices/api.ts")).invoicesModule.operations?.app,
  ),
  invoice: list(
    "app",
    async () => (await import("../features/invoices/commands.ts")).invoiceCommands,
  ),
  payment: list(
    "oversight",
    async () => (await import("../features/admin/cross-organization/commands.ts")).paymentCommands,
  ),
  queue: list(
    "app",
    async () => (await import("../features/admin/queue-commands.ts")).queueCommands,
  ),
  failure: list(
    "oversight",
    async () => (await import("../features/admin/queue-commands.ts")).failureCommands,
  ),
  endpoint: operations(
    async () => (await import("../features/webhooks/api.ts")).webhooksModule.operations?.app,
  ),
  webhook: list(
    "app",
    async () => (await import("../features/webhooks/commands.ts")).webhookCommands,
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
  organization: operations(
    async () =>
      (await import("../features/organizations/api.ts")).organizationsModule.operations?.app,
  ),
  paymentLink: list(
    "paymentLinks",
    async () => (await import("../features/payment-links/commands.ts")).paymentLinkCommands,
  ),
  platformInvoice: operations(
    async () => (await import("../features/billing/api.ts")).platformInvoiceOperations,
  ),
  billing: list(
    "app",
    async () => (await import("../features/billing/commands.ts")).billingCommands,
  ),
  balance: operations(async () => (await import("../features/billing/api.ts")).balanceOperations),
  analytics: list(
    "app",
    async () => (await import("../features/analytics/commands.ts")).analyticsCommands,
  ),
  export: operations(
    async () => (await import("../features/exports/api.ts")).exportsModule.operations?.app,
  ),
  auditList: operations(
    async () => (await import("../features/admin/audit-logs.ts")).adminAuditLogOperations,
  ),
  audit: list(
    "app",
    async () => (await import("../features/audit-logs/commands.ts")).auditCommands,
  ),
  rate: list("app", async () => (await import("../features/rates/commands.ts")).rateCommands),
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

/** The parts of a command that the help, the completion and the parser need before it runs. */
export interface DescribedCommand extends Pick<
  Command,
  "name" | "summary" | "arguments" | "flags" | "examples" | "isWatched"
> {
  /** The list of features.ts that has it. */
  readonly list: CommandListName;
  readonly hasPassword: boolean;
  /** Whether --dry-run tries it out. */
  readonly isTried: boolean;
}

/** Returns the commands as they are declared, for the build. */
export async function describeCommands(): Promise<readonly DescribedCommand[]> {
  const described = await Promise.all(
    Object.entries(commandLists).map(async ([list, { load }]) => {
      const commands: readonly Command[] = await load();
      return commands.map((command): DescribedCommand => ({
        list: list as CommandListName,
        name: command.name,
        summary: command.summary,
        arguments: command.arguments,
        flags: command.flags,
        examples: command.examples,
        isWatched: command.isWatched,
        hasPassword: command.password !== null,
        isTried: command.effect === "write",
      }));
    }),
  );
  return described.flat();
}
