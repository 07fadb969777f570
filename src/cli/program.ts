import { Command as Program, Option } from "commander";
import type { Command, CommandFlag } from "../api/command.ts";
import type { App } from "../compose/index.ts";
import { adminCommands, oversightCommands } from "../features/admin/commands.ts";
import { failureCommands, queueCommands } from "../features/admin/queue-commands.ts";
import { analyticsCommands } from "../features/analytics/commands.ts";
import { apiKeyCommands } from "../features/api-keys/commands.ts";
import { auditCommands } from "../features/audit-logs/commands.ts";
import { passwordCommands, userCommands } from "../features/auth/commands.ts";
import {
  billingCommands,
  billingDeskCommands,
  ledgerCommands,
  receiveWalletCommands,
} from "../features/billing/commands.ts";
import { invoiceCommands } from "../features/invoices/commands.ts";
import { chainCommands, sandboxCommands } from "../features/payments/commands.ts";
import { rateCommands } from "../features/rates/commands.ts";
import { decisionCommands, transferCommands } from "../features/payments/transfer-commands.ts";
import { paymentPolicyCommands } from "../features/organizations/commands.ts";
import { walletCommands } from "../features/wallets/commands.ts";
import { webhookCommands } from "../features/webhooks/commands.ts";
import type { SettingOption } from "../platform/config/index.ts";
import { programVersion } from "../platform/version.ts";
import type { Given } from "./feature-command.ts";
import type { GlobalFlags, Terminal } from "./terminal.ts";

/** Where an action writes, as its flags say. */
type OpenTerminal = (flags: GlobalFlags) => Promise<Terminal>;

/** Flags and arguments as commander keeps them. */
type Options = Record<string, string | boolean | undefined>;

/** What the first words mean. */
const nouns: Readonly<Record<string, string>> = {
  org: "organizations and their verification",
  user: "who may log in",
  key: "API keys",
  wallet: "where merchants are paid",
  invoice: "what payers are asked for",
  payments: "what came in on the chains",
  queue: "work in the background, and what of it was given up",
  webhook: "what merchants' receivers are told",
  billing: "what the platform asks its merchants for",
  analytics: "figures of a period",
  audit: "who did what, and the proof that nothing of it was altered",
  rates: "exchange rates that invoices are issued at",
  chain: "how the networks are read, and the proof that no block was left out",
  sandbox: "the test network, where nothing is worth anything",
  ops: "how the installation stands",
  db: "the store",
  config: "settings",
};

/**
 * The whole command line. It is read before every command, `till --help` too, so nothing here loads more than names
 * and words: what an action needs is imported when it runs.
 */
export function makeProgram(
  openTerminal: OpenTerminal,
  settingsFlags: readonly SettingOption[],
): Program {
  const program = new Program("till")
    .description("Till: paid in crypto tokens, straight into your own wallets.")
    .version(programVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help for a command")
    .helpCommand(false)
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
    .option("--json", "print the API's records, for scripts")
    .option("-q, --quiet", "print ids only")
    .option("-y, --yes", "answer yes to every question")
    .option("--no-color", "no colours")
    .option("--verbose", "tell more on standard error")
    // These two are settings: their own words would be loaded with all the others.
    .option("--data-dir <path>", "the folder of the store (TILL_DATA_DIR)")
    .option("--config <path>", "the file of settings (TILL_CONFIG_FILE)")
    .addHelpText(
      "after",
      examples(["till demo", "till init", "till serve", "till org list --json"]),
    );

  for (const command of ownCommands) {
    addOwnCommand(program, openTerminal, settingsFlags, command);
  }
  addFeature(program, openTerminal, adminCommands, (app) => app.admin);
  addFeature(program, openTerminal, userCommands, (app) => app.users);
  addFeature(program, openTerminal, passwordCommands, (app) => app.passwordService);
  addFeature(program, openTerminal, apiKeyCommands, (app) => app.apiKeys);
  addFeature(program, openTerminal, walletCommands, (app) => app.wallets);
  addFeature(program, openTerminal, invoiceCommands, (app) => app.invoices);
  addFeature(program, openTerminal, oversightCommands, (app) => app.oversight);
  addFeature(program, openTerminal, queueCommands, (app) => app.queues);
  addFeature(program, openTerminal, failureCommands, (app) => app.oversight);
  addFeature(program, openTerminal, webhookCommands, (app) => app.webhooks);
  addFeature(program, openTerminal, transferCommands, (app) => app.transfers);
  addFeature(program, openTerminal, decisionCommands, (app) => app.decisions);
  addFeature(program, openTerminal, paymentPolicyCommands, (app) => app.organizationService);
  addFeature(program, openTerminal, billingCommands, (app) => app.billingReader);
  addFeature(program, openTerminal, billingDeskCommands, (app) => app.billingDesk);
  addFeature(program, openTerminal, ledgerCommands, (app) => app.ledgerService);
  addFeature(program, openTerminal, receiveWalletCommands, (app) => app.receiveWallet);
  addFeature(program, openTerminal, analyticsCommands, (app) => app.analytics);
  addFeature(program, openTerminal, auditCommands, (app) => app.auditLogs);
  addFeature(program, openTerminal, rateCommands, (app) => app.rates);
  addFeature(program, openTerminal, chainCommands, (app) => app.chains);
  addFeature(program, openTerminal, sandboxCommands, (app) => app.sandbox);
  addHelp(program, openTerminal);
  return program;
}

/** A command of the program itself, beside those of features. */
interface OwnCommand {
  readonly name: string;
  readonly summary: string;
  readonly examples: readonly [string, string, ...string[]];
  readonly flags?: readonly (readonly [flags: string, description: string])[];
  /** It takes every setting as a flag. */
  readonly takesSettings?: true;
  readonly run: (terminal: Terminal, flags: Options) => Promise<void>;
}

const ownCommands: readonly OwnCommand[] = [
  {
    name: "init",
    summary: "Make a store, its platform organization and the first admin",
    examples: [
      "till init",
      "till init --admin-email ada@example.com --admin-name Ada --organization Shop --password-stdin < password",
    ],
    flags: [
      ["--admin-email <address>", "the admin's e-mail address"],
      ["--admin-name <text>", "the admin's name"],
      ["--organization <text>", "the name of the organization that runs this Till"],
      ["--password-stdin", "read the admin's password from standard input"],
      ["--password-file <path>", "read the admin's password from a file"],
    ],
    run: async (terminal, flags) =>
      (await import("./commands/init.ts")).initialize(terminal, flags),
  },
  {
    name: "serve",
    summary: "Serve the API, the checkout pages and the work in the background",
    examples: ["till serve", "till serve --port 8443 --base-url https://pay.example.com"],
    takesSettings: true,
    run: async (terminal, flags) => (await import("./commands/serve.ts")).serve(terminal, flags),
  },
  {
    name: "demo",
    summary: "Try everything out: a store, a merchant and an invoice, thrown away at the end",
    examples: ["till demo", "till demo --json --port 0"],
    takesSettings: true,
    run: async (terminal, flags) => (await import("./commands/demo.ts")).demo(terminal, flags),
  },
  {
    name: "ops status",
    summary: "How the installation stands, as its servers last found it",
    examples: ["till ops status", "till ops status --watch", "till ops status --probe --json"],
    flags: [
      ["--probe", "look from here, now, instead of reading what servers found"],
      ["--watch", "look again every 2 s until Ctrl-C"],
    ],
    run: async (terminal, flags) =>
      (await import("./commands/ops.ts")).operationsStatus(terminal, flags),
  },
  {
    name: "webhook verify",
    summary: "Check a webhook as its receiver would, and say why it does not hold",
    examples: [
      "till webhook verify --id evt_01h… --timestamp 1923091200 --signature v1,… --secret-file secret < body.json",
      "till webhook verify --body body.json --id evt_01h… --timestamp 1923091200 --signature v1,… --secret-file secret",
    ],
    flags: [
      ["--id <text>", "the header webhook-id"],
      ["--timestamp <seconds>", "the header webhook-timestamp"],
      ["--signature <text>", "the header webhook-signature"],
      ["--body <file>", "the body, byte for byte (standard input)"],
      ["--secret-file <path>", "the file with the endpoint's secret ($WEBHOOK_SECRET)"],
      ["--secret-stdin", "read the secret from standard input"],
      ["--at <time>", "judge its age as of then (now)"],
    ],
    run: async (terminal, flags) =>
      (await import("./commands/webhook-verify.ts")).verifyWebhook(terminal, flags),
  },
  {
    name: "db migrate",
    summary: "Bring the store up to date with this program",
    examples: ["till db migrate", "till db migrate --json"],
    run: async (terminal, flags) =>
      (await import("./commands/db.ts")).migrateStore(terminal, flags),
  },
  {
    name: "db verify",
    summary: "Check everything that must hold in the store, and name the rows that break it",
    examples: ["till db verify", "till db verify --json"],
    run: async (terminal, flags) =>
      (await import("./commands/db-verify.ts")).verifyStoreCommand(terminal, flags),
  },
  {
    name: "config show",
    summary: "Print every setting, secrets masked",
    examples: ["till config show", "till config show --origin --json"],
    flags: [["--origin", "where each comes from"]],
    takesSettings: true,
    run: async (terminal, flags) =>
      (await import("./commands/config.ts")).showSettings(terminal, flags),
  },
  {
    name: "config check",
    summary: "Tell everything that is wrong with the settings",
    examples: ["till config check", "till config check --config /etc/till/till.yaml"],
    takesSettings: true,
    run: async (terminal, flags) =>
      (await import("./commands/config.ts")).checkSettings(terminal, flags),
  },
];

function addOwnCommand(
  program: Program,
  openTerminal: OpenTerminal,
  settingsFlags: readonly SettingOption[],
  { name, summary, examples: shown, flags = [], takesSettings, run }: OwnCommand,
): void {
  const added = add(program, name, summary, shown);
  for (const [names, description] of flags) added.option(names, description);
  if (takesSettings === true) addSettings(added, settingsFlags);
  added.action(async () => {
    const options = added.optsWithGlobals<Options>();
    await run(await openTerminal(options), options);
  });
}

/** `till help`, which knows of every other command. */
function addHelp(program: Program, openTerminal: OpenTerminal): void {
  const shown = ["till help org approve", "till help exit-codes"];
  const help = add(program, "help", "Print help for a command, or the exit codes", shown);
  help.argument("[words...]", "a command, or exit-codes").action(async (words: string[]) => {
    const { printHelp } = await import("./commands/help.ts");
    await printHelp(await openTerminal(help.optsWithGlobals()), program, words);
  });
}

/** Adds a feature's commands. They all do the same: see feature-command.ts. */
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
      added.option("--dry-run", "do everything but keep it: say what would happen");
    }
    if (declared.isWatched) added.option("--watch", "look again every 2 s until Ctrl-C");
    added.action(async (...given: unknown[]) => {
      const { runFeatureCommand } = await import("./feature-command.ts");
      const options = added.optsWithGlobals<Options>();
      const values = declared.arguments.map(({ name }, place) => {
        const value = given[place];
        return [name, Array.isArray(value) ? value.join(" ") : value];
      });
      const call = { arguments: Object.fromEntries(values) as Given["arguments"], flags: options };
      await runFeatureCommand(await openTerminal(options), declared, serviceOf, call);
    });
  }
}

/** Adds a command under its words; the noun is made with the first of its verbs. */
function add(program: Program, name: string, summary: string, shown: readonly string[]): Program {
  const [noun = "", verb] = name.split(" ");
  const parent = verb === undefined ? program : nounOf(program, noun);
  return parent
    .command(verb ?? noun)
    .description(summary)
    .allowExcessArguments(false)
    .addHelpText("after", examples(shown));
}

function nounOf(program: Program, noun: string): Program {
  const known = program.commands.find((command) => command.name() === noun);
  return (
    known ??
    program
      .command(noun)
      .description(nouns[noun] ?? "")
      .helpCommand(false)
  );
}

function optionOf({ flags, description, ask }: CommandFlag): Option {
  return new Option(flags, ask === undefined ? description : `${description} (needed)`);
}

function addSettings(command: Program, settingsFlags: readonly SettingOption[]): void {
  const everywhere = ["--data-dir", "--config"];
  for (const { flags, description } of settingsFlags) {
    const [name = ""] = flags.split(" ");
    if (!everywhere.includes(name)) command.option(flags, description);
  }
}

function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}
