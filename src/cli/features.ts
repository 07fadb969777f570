import { Option, type Command as Program } from "commander";
import type { Command, CommandFlag } from "../api/declare/command.ts";
import type { App } from "../compose/index.ts";
import { adminCommands, oversightCommands } from "../features/admin/commands.ts";
import { failureCommands, queueCommands } from "../features/admin/queue-commands.ts";
import { analyticsCommands } from "../features/analytics/commands.ts";
import { apiKeyCommands } from "../features/api-keys/commands.ts";
import { auditCommands } from "../features/audit-logs/commands.ts";
import { passwordCommands, userCommands } from "../features/auth/commands.ts";
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
import { receiptCommands } from "../features/receipts/commands.ts";
import { decisionCommands, transferCommands } from "../features/payments/inbox/commands.ts";
import { brandingCommands, paymentPolicyCommands } from "../features/organizations/commands.ts";
import { walletCommands } from "../features/wallets/commands.ts";
import { webhookCommands } from "../features/webhooks/commands.ts";
import type { CommandArguments } from "./feature-command.ts";
import { add, type OpenTerminal, type Options } from "./command-words.ts";

/** Adds the commands of all features. Their declarations make up most of the startup time. */
export function addFeatures(program: Program, openTerminal: OpenTerminal): void {
  addFeature(program, openTerminal, adminCommands, (app) => app.admin);
  addFeature(program, openTerminal, userCommands, (app) => app.users);
  addFeature(program, openTerminal, passwordCommands, (app) => app.passwordService);
  addFeature(program, openTerminal, apiKeyCommands, (app) => app.apiKeys);
  addFeature(program, openTerminal, walletCommands, (app) => app.wallets);
  addFeature(program, openTerminal, invoiceCommands, (app) => app.invoices);
  addFeature(program, openTerminal, batchCommands, (app) => app.invoiceBatches);
  addFeature(program, openTerminal, oversightCommands, (app) => app.oversight);
  addFeature(program, openTerminal, queueCommands, (app) => app.queues);
  addFeature(program, openTerminal, failureCommands, (app) => app.oversight);
  addFeature(program, openTerminal, webhookCommands, (app) => app.webhooks);
  addFeature(program, openTerminal, transferCommands, (app) => app.transfers);
  addFeature(program, openTerminal, receiptCommands, (app) => app.receipts);
  addFeature(program, openTerminal, decisionCommands, (app) => app.decisions);
  addFeature(program, openTerminal, paymentPolicyCommands, (app) => app.organizationService);
  addFeature(program, openTerminal, brandingCommands, (app) => app.organizationService);
  addFeature(program, openTerminal, billingCommands, (app) => app.billingReader);
  addFeature(program, openTerminal, billingOperatorCommands, (app) => app.billingOperator);
  addFeature(program, openTerminal, balanceCommands, (app) => app.balanceService);
  addFeature(program, openTerminal, receiveWalletCommands, (app) => app.receiveWallet);
  addFeature(program, openTerminal, analyticsCommands, (app) => app.analytics);
  addFeature(program, openTerminal, auditCommands, (app) => app.auditLogs);
  addFeature(program, openTerminal, rateCommands, (app) => app.rates);
  addFeature(program, openTerminal, chainCommands, (app) => app.chains);
  addFeature(program, openTerminal, sandboxCommands, (app) => app.sandbox);
}

/** Adds a feature's commands, which all run through feature-command.ts. */
function addFeature<Service>(
  program: Program,
  openTerminal: OpenTerminal,
  commands: readonly Command<Service>[],
  serviceOf: (app: App) => Service | null,
): void {
  for (const declared of commands) {
    const added = add(program, declared.name, declared.summary, declared.examples);
    for (const { name, description, isOptional, isMany } of declared.arguments) {
      const words = isMany === true ? `${name}...` : name;
      added.argument(isOptional === true ? `[${words}]` : `<${words}>`, description);
    }
    for (const flag of declared.flags) added.addOption(optionOf(flag));
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
      await runFeatureCommand(await openTerminal(options), declared, serviceOf, call);
    });
  }
}

function optionOf({ flags, description, ask }: CommandFlag): Option {
  return new Option(flags, ask === undefined ? description : `${description} (required)`);
}
