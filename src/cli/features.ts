import type { Command } from "../http/declare/command.ts";
import type { Operation } from "../http/declare/operation.ts";

/** The commands of those operations that declare a command line. */
async function fromOperations(operations: readonly Operation[] = []): Promise<readonly Command[]> {
  const { commandsFrom } = await import("./from-operation.ts");
  return commandsFrom(operations);
}

/** The commands of all features, in the order of the help. Each list is loaded when one of its commands runs. */
export const commandLists = {
  adminOperation: async () => {
    const { listAuditLogsOperation, oversightOperations } =
      await import("../features/admin/oversight-api.ts");
    return fromOperations([...oversightOperations, listAuditLogsOperation]);
  },
  admin: async () => (await import("../features/admin/commands.ts")).adminCommands,
  user: async () => (await import("../features/auth/commands.ts")).userCommands,
  customer: async () =>
    fromOperations((await import("../features/customers/api.ts")).customersModule.operations),
  apiKey: async () =>
    fromOperations((await import("../features/api-keys/api.ts")).apiKeysModule.operations),
  walletOperation: async () =>
    fromOperations((await import("../features/wallets/api.ts")).walletsModule.operations),
  wallet: async () => (await import("../features/wallets/commands.ts")).walletCommands,
  invoiceOperation: async () =>
    fromOperations((await import("../features/invoices/api.ts")).invoicesModule.operations),
  invoice: async () => (await import("../features/invoices/commands.ts")).invoiceCommands,
  queue: async () => (await import("../features/admin/queue-commands.ts")).queueCommands,
  endpoint: async () =>
    fromOperations((await import("../features/webhooks/api.ts")).webhooksModule.operations),
  webhook: async () => (await import("../features/webhooks/commands.ts")).webhookCommands,
  paymentOperation: async () =>
    fromOperations((await import("../features/payments/api.ts")).paymentOperations),
  transfer: async () => (await import("../features/payments/inbox/commands.ts")).transferCommands,
  receipt: async () => (await import("../features/receipts/commands.ts")).receiptCommands,
  refundOperation: async () =>
    fromOperations((await import("../features/refunds/api.ts")).refundsModule.operations),
  refund: async () => (await import("../features/refunds/commands.ts")).refundCommands,
  organization: async () =>
    fromOperations(
      (await import("../features/organizations/api.ts")).organizationsModule.operations,
    ),
  paymentLink: async () =>
    fromOperations((await import("../features/payment-links/api.ts")).paymentLinkOperations),
  platformInvoice: async () =>
    fromOperations((await import("../features/billing/api.ts")).platformInvoiceOperations),
  billing: async () => (await import("../features/billing/commands.ts")).billingCommands,
  balance: async () =>
    fromOperations((await import("../features/billing/api.ts")).balanceOperations),
  analytics: async () => (await import("../features/analytics/commands.ts")).analyticsCommands,
  export: async () =>
    fromOperations((await import("../features/exports/api.ts")).exportsModule.operations),
  audit: async () => (await import("../features/audit-logs/commands.ts")).auditCommands,
  rate: async () => (await import("../features/rates/commands.ts")).rateCommands,
  chain: async () => (await import("../features/payments/networks/commands.ts")).chainCommands,
  sandbox: async () => (await import("../features/payments/sandbox/commands.ts")).sandboxCommands,
} as const;

type CommandListName = keyof typeof commandLists;

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
    Object.entries(commandLists).map(async ([list, load]) => {
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
