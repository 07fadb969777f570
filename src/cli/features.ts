import type { Command as Program } from "commander";
import type { Command } from "../api/declare/command.ts";
import type { ServiceName, ServiceOf } from "../compose/services.ts";
import { adminCommands } from "../features/admin/commands.ts";
import { paymentCommands } from "../features/admin/cross-organization/commands.ts";
import { failureCommands, queueCommands } from "../features/admin/queue-commands.ts";
import { exportCommands } from "../features/exports/commands.ts";
import { analyticsCommands } from "../features/analytics/commands.ts";
import { apiKeyCommands } from "../features/api-keys/commands.ts";
import { auditCommands } from "../features/audit-logs/commands.ts";
import { passwordCommands, userCommands } from "../features/auth/commands.ts";
import { sessionCommands } from "../features/auth/sessions/commands.ts";
import { customerCommands } from "../features/customers/commands.ts";
import {
  billingCommands,
  billingOperatorCommands,
  balanceCommands,
  receiveWalletCommands,
} from "../features/billing/commands.ts";
import { batchCommands } from "../features/invoices/batches/commands.ts";
import { invoiceCommands } from "../features/invoices/commands.ts";
import { chainCommands, sandboxCommands } from "../features/payments/sandbox/commands.ts";
import { rateCommands } from "../features/rates/commands.ts";
import { refundCommands } from "../features/refunds/commands.ts";
import { receiptCommands } from "../features/receipts/commands.ts";
import { transferCommands } from "../features/payments/inbox/commands.ts";
import { decisionCommands } from "../features/payments/decisions/decision-commands.ts";
import {
  brandingCommands,
  originCommands,
  paymentPolicyCommands,
} from "../features/organizations/commands.ts";
import { paymentLinkCommands } from "../features/payment-links/commands.ts";
import { walletCommands } from "../features/wallets/commands.ts";
import { webhookCommands } from "../features/webhooks/commands.ts";
import { endpointCommands } from "../features/webhooks/endpoint-commands.ts";
import type { CommandArguments } from "./feature-command.ts";
import { add, addDeclared, type OpenTerminal, type Options } from "./command-words.ts";

/** Calls a function with the commands of each service. Their declarations make up most of the startup time. */
export function forEachService(
  visit: <Name extends ServiceName>(
    commands: readonly Command<ServiceOf<Name>>[],
    service: Name,
  ) => void,
): void {
  visit(adminCommands, "admin");
  visit(userCommands, "users");
  visit(passwordCommands, "passwordService");
  visit(sessionCommands, "sessions");
  visit(customerCommands, "customers");
  visit(apiKeyCommands, "apiKeys");
  visit(walletCommands, "wallets");
  visit(invoiceCommands, "invoices");
  visit(batchCommands, "invoiceBatches");
  visit(paymentCommands, "oversight");
  visit(queueCommands, "queues");
  visit(failureCommands, "oversight");
  visit(webhookCommands, "webhooks");
  visit(endpointCommands, "webhooks");
  visit(transferCommands, "transfers");
  visit(receiptCommands, "receipts");
  visit(refundCommands, "refunds");
  visit(decisionCommands, "decisions");
  visit(paymentPolicyCommands, "organizationService");
  visit(paymentLinkCommands, "paymentLinks");
  visit(brandingCommands, "organizationService");
  visit(originCommands, "organizationService");
  visit(billingCommands, "billingReader");
  visit(billingOperatorCommands, "billingOperator");
  visit(balanceCommands, "balanceService");
  visit(receiveWalletCommands, "receiveWallet");
  visit(analyticsCommands, "analytics");
  visit(exportCommands, "exports");
  visit(auditCommands, "auditLogs");
  visit(rateCommands, "rates");
  visit(chainCommands, "chains");
  visit(sandboxCommands, "sandbox");
}

/** Adds the commands of all features, or of one group of commands. */
export function addFeatures(
  program: Program,
  openTerminal: OpenTerminal,
  noun: string | null,
): void {
  forEachService((commands, service) => {
    for (const command of commands) {
      if (noun !== null && !command.name.startsWith(`${noun} `)) continue;
      addFeature(program, openTerminal, command, service);
    }
  });
}

/** Adds a feature's command. All of them run through feature-command.ts. */
function addFeature<Name extends ServiceName>(
  program: Program,
  openTerminal: OpenTerminal,
  declared: Command<ServiceOf<Name>>,
  service: Name,
): void {
  const added = add(program, declared.name, declared.summary, declared.examples);
  addDeclared(added, declared.arguments, declared.flags);
  if (declared.password !== null) {
    added.option("--password-stdin", "read the password from standard input");
    added.option("--password-file <path>", "read the password from a file");
  }
  if (declared.effect === "write") {
    added.option("--dry-run", "run all checks and show the result without changing anything");
  }
  if (declared.isWatched) added.option("--watch", "repeat every 2 s until Ctrl-C");
  added.action(async (...given: unknown[]) => {
    const { runFeatureCommand } = await import("./feature-command.ts");
    const options = added.optsWithGlobals<Options>();
    const values = declared.arguments.map(({ name }, place) => {
      const value = given[place];
      return [name, Array.isArray(value) ? value.join(" ") : value];
    });
    const call = {
      arguments: Object.fromEntries(values) as CommandArguments["arguments"],
      flags: options,
    };
    await runFeatureCommand(await openTerminal(options), declared, service, call);
  });
}
