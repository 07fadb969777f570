import { eventTypes } from "../platform/events/catalogue.ts";
import { paymentHabits, subscriptionStatuses } from "../features/billing/status.ts";
import { Command as Program } from "commander";
import type { SettingOption } from "../platform/config/settings.ts";
import { programVersion } from "../platform/files.ts";
import type { Terminal } from "./terminal/terminal.ts";
import type { CommandArgument, CommandFlag } from "../http/declare/command.ts";
import {
  add,
  addDeclared,
  addNouns,
  examples,
  isNoun,
  shells,
  type OpenTerminal,
  type Options,
} from "./command-words.ts";

/**
 * Builds the command line as far as the words require. It runs before every command, even `till --help`, so it loads
 * only names and descriptions, and those of features only if no built-in command is requested. Actions import what they
 * need when they run.
 */
export async function makeProgram(
  words: readonly string[],
  openTerminal: OpenTerminal,
  settingsFlags: readonly SettingOption[],
): Promise<Program> {
  const program = new Program("till")
    .description("Till: get paid in crypto tokens, directly into your own wallets.")
    .version(programVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help for a command")
    .helpCommand(false)
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true })
    .option("--json", "print API records as JSON, for scripts")
    .option("-q, --quiet", "print ids only")
    .option("-y, --yes", "answer yes to every question")
    .option("--no-color", "disable colors")
    .option("--verbose", "print the log and stack traces on standard error")
    // These two are settings, listed here because loading all settings' descriptions would be slow.
    .option("--data-dir <path>", "data folder (TILL_DATA_DIR)")
    .option("--config <path>", "settings file (TILL_CONFIG_FILE)")
    .addHelpText(
      "after",
      examples(["till demo", "till init", "till serve", "till org list --json"]),
    );

  for (const command of ownCommands) {
    addOwnCommand(program, openTerminal, settingsFlags, command);
  }
  addNouns(program);
  const spoken = spokenWords(words);
  if (!namesOwnCommand(spoken)) {
    const [noun = ""] = spoken;
    const { addFeatures } = await import("./described-commands.ts");
    await addFeatures(program, openTerminal, isNoun(noun) ? noun : null);
  }
  addHelp(program, openTerminal);
  return program;
}

/** A command of the program itself; all others belong to features. */
interface OwnCommand {
  readonly name: string;
  readonly summary: string;
  readonly examples: readonly [string, string, ...string[]];
  readonly flags?: readonly (readonly [
    flags: string,
    description: string,
    values?: Omit<CommandFlag, "flags" | "description">,
  ])[];
  readonly argument?: CommandArgument;
  /** Accepts every setting as a flag. */
  readonly takesSettings?: true;
  readonly run: (terminal: Terminal, flags: Options, argument?: string) => Promise<void>;
}

const ownCommands: readonly OwnCommand[] = [
  {
    name: "init",
    summary: "Create a store, its platform organization and the first admin",
    examples: [
      "till init",
      "till init --admin-email ada@example.com --admin-name Ada --organization Shop --password-stdin < password",
      "till init --networks tron,base --base-url https://pay.example.com --backup-schedule '15 3 * * *'",
    ],
    takesSettings: true,
    flags: [
      ["--admin-email <address>", "the admin's e-mail address"],
      ["--admin-name <text>", "the admin's name"],
      ["--organization <text>", "the name of the organization that runs this instance"],
      ["--password-stdin", "read the admin's password from standard input"],
      ["--password-file <path>", "read the admin's password from a file"],
      [
        "--wallet <network:address>",
        "the organization's first wallet for invoices, such as tron:T… or network:xpub…; can be added later",
      ],
      [
        "--receive-wallet <network:address>",
        "the wallet that receives the payments for your plans, which may be the same; can be set later",
      ],
      ["--receive-token <symbol>", "the token to receive (default: the network's first)"],
    ],
    run: async (terminal, flags) =>
      (await import("./commands/init.ts")).initialize(terminal, flags),
  },
  {
    name: "doctor",
    summary: "Check the installation, and say what to do about each problem",
    examples: ["till doctor", "till doctor --fix", "till doctor --report report.json"],
    flags: [
      ["--fix", "restrict the modes of files, and create missing folders"],
      [
        "--report <file>",
        "write a bug report without secrets, names and addresses to a new file, or - for standard output",
      ],
      ["--report-addresses", "leave names, hosts and addresses in the report"],
    ],
    takesSettings: true,
    run: async (terminal, flags) => (await import("./commands/doctor.ts")).examine(terminal, flags),
  },
  {
    name: "serve",
    summary: "Run the server: API, checkout pages and background jobs",
    examples: ["till serve", "till serve --port 8443 --base-url https://pay.example.com"],
    takesSettings: true,
    run: async (terminal, flags) => {
      (await import("./small-start.ts")).startSmall();
      await (await import("./commands/serve.ts")).serve(terminal, flags);
    },
  },
  {
    name: "demo",
    summary: "Run a demo with a store, a merchant and an invoice, deleted at the end",
    examples: ["till demo", "till demo --json --port 0"],
    takesSettings: true,
    run: async (terminal, flags) => (await import("./commands/demo.ts")).demo(terminal, flags),
  },
  {
    name: "backup",
    summary: "Back up the store while servers run, and verify the backup",
    examples: ["till backup", "till backup /mnt/backups/ --with-secret"],
    argument: {
      name: "file",
      description: "a new file, or a folder (default: TILL_BACKUP_FOLDER)",
      isOptional: true,
    },
    flags: [
      ["--with-secret", "include the server's secret, from which all keys are derived"],
      ["--no-verify", "do not read the backup again and verify it"],
    ],
    run: async (terminal, flags, target) =>
      (await import("./commands/backup.ts")).backUpStore(terminal, flags, target),
  },
  {
    name: "restore",
    summary: "Replace the store by a backup; the former store is kept",
    examples: [
      "till restore till-backup-5k2m9x1c-20261122T031500000Z.tar",
      "till restore /mnt/backups/b.tar --yes",
    ],
    argument: { name: "file", description: "the backup" },
    flags: [
      ["--force-other-instance", "replace the store of another instance"],
      ["--no-migrate", "keep the backup's migration level, for an earlier version of the program"],
      ["--no-verify", "do not run the checks of till db verify; rows are compared all the same"],
    ],
    run: async (terminal, flags, file) =>
      (await import("./commands/restore.ts")).restoreStore(terminal, flags, file ?? ""),
  },
  {
    name: "ops status",
    summary: "Show the status that the servers last recorded",
    examples: ["till ops status", "till ops status --watch", "till ops status --probe --json"],
    flags: [
      ["--probe", "run the checks in this process instead of reading the servers' results"],
      ["--watch", "repeat every 2 s until Ctrl-C"],
    ],
    run: async (terminal, flags) =>
      (await import("./commands/ops.ts")).operationsStatus(terminal, flags),
  },
  {
    name: "webhook verify",
    summary: "Check a webhook as its receiver would, and explain a failure",
    examples: [
      "till webhook verify --id evt_01h… --timestamp 1923091200 --signature v1,… --secret-file secret < body.json",
      "till webhook verify --body body.json --id evt_01h… --timestamp 1923091200 --signature v1,… --secret-file secret",
    ],
    flags: [
      ["--id <text>", "the webhook-id header"],
      ["--timestamp <seconds>", "the webhook-timestamp header"],
      ["--signature <text>", "the webhook-signature header"],
      ["--body <file>", "the raw body (default: standard input)"],
      ["--secret-file <path>", "file with the endpoint's secret (default: $WEBHOOK_SECRET)"],
      ["--secret-stdin", "read the secret from standard input"],
      ["--at <time>", "check its age as of this time (default: now)"],
    ],
    run: async (terminal, flags) =>
      (await import("./commands/webhooks/verify.ts")).verifyWebhook(terminal, flags),
  },
  {
    name: "webhook listen",
    summary: "Receive webhooks on this machine, and print those with a valid signature",
    examples: [
      "till webhook listen --organization Shop",
      "till webhook listen --port 4000 --secret-file secret --json",
    ],
    flags: [
      [
        "--organization <id|name>",
        "its id or name (default: TILL_ORGANIZATION, or the only organization)",
      ],
      ["--port <number>", "the port on 127.0.0.1 (default: a free one)"],
      [
        "--event-types <list>",
        "such as invoice.paid,refund.requested (default: all)",
        {
          choices: eventTypes,
          isList: true,
        },
      ],
      ["--url <url>", "a public URL that leads here, such as that of a tunnel"],
      ["--secret-file <path>", "file with the secret of an endpoint that exists: adds none"],
    ],
    run: async (terminal, flags) =>
      (await import("./commands/webhooks/listen.ts")).listenForWebhooks(terminal, flags),
  },
  {
    name: "receipt verify",
    summary: "Check the signature of a receipt or payment request, and show its content",
    examples: [
      "till receipt verify < receipt.txt",
      "till receipt verify --file receipt.txt --keys keys.json --json",
    ],
    flags: [
      ["--file <path>", "the signed text (default: standard input)"],
      ["--keys <path>", "public keys from /.well-known/jwks.json (default: the keys of the store)"],
    ],
    run: async (terminal, flags) =>
      (await import("./commands/receipt-verify.ts")).verifyReceipt(terminal, flags),
  },
  {
    name: "billing rehearse",
    summary: "Preview the next platform invoices, or run billing through future months on a copy",
    examples: [
      "till billing rehearse",
      "till billing rehearse --months 12",
      "till billing rehearse --months 6 --organization Nook --payments late --json",
    ],
    flags: [
      [
        "--organization <id|name>",
        "only this one, by its id or name (default: all, whatever TILL_ORGANIZATION names)",
      ],
      ["--months <number>", "run billing through 1 to 36 months from now, on a copy of the store"],
      [
        "--payments <when>",
        "with --months: merchants pay on-time (default), late or never",
        {
          choices: paymentHabits,
        },
      ],
      [
        "--status <status>",
        "without --months: only subscriptions that are trialing, active, past_due, suspended or canceled",
        {
          choices: subscriptionStatuses,
        },
      ],
      ["--limit <number>", "without --months: number of items to show, 1 to 100 (default 20)"],
      ["--cursor <text>", "without --months: continue after the previous list: its nextCursor"],
    ],
    run: async (terminal, flags) =>
      (await import("./commands/billing-rehearse.ts")).rehearseCommand(terminal, flags),
  },
  {
    name: "completion",
    summary: "Print a script with which a shell completes commands, flags, ids and names",
    examples: [
      "till completion bash > ~/.local/share/bash-completion/completions/till",
      'till completion zsh > "${fpath[1]}/_till"',
      "till completion fish > ~/.config/fish/completions/till.fish",
    ],
    argument: {
      name: "shell",
      description: "bash, zsh or fish",
      choices: shells,
    },
    run: async (terminal, _flags, shell) => {
      (await import("./completion/scripts.ts")).printScript(terminal, shell ?? "");
    },
  },
  {
    name: "version",
    summary: "Print the version of the program, and what it runs on",
    examples: ["till version", "till version --json"],
    run: async (terminal) => (await import("./commands/help.ts")).printVersion(terminal),
  },
  {
    name: "db migrate",
    summary: "Apply pending migrations to the store",
    examples: ["till db migrate", "till db migrate --plan"],
    flags: [["--plan", "only show what would happen, and about how long it takes"]],
    run: async (terminal, flags) =>
      (await import("./commands/db.ts")).migrateStore(terminal, flags),
  },
  {
    name: "db copy",
    summary: "Copy the store to PostgreSQL or to SQLite, and compare every row",
    examples: [
      "till db copy --to postgres://db.internal/till",
      "till db copy --to /var/lib/till-new",
    ],
    flags: [
      ["--to <url>", "an empty PostgreSQL database, or a data folder without a store"],
      ["--no-verify", "do not run the checks of till db verify; rows are compared all the same"],
    ],
    run: async (terminal, flags) =>
      (await import("./commands/db-copy.ts")).copyStoreCommand(terminal, flags),
  },
  {
    name: "db verify",
    summary: "Check the consistency of the store and list the rows that violate it",
    examples: ["till db verify", "till db verify --json"],
    run: async (terminal, flags) =>
      (await import("./commands/db-verify.ts")).verifyStoreCommand(terminal, flags),
  },
  {
    name: "config show",
    summary: "Print all settings, with secrets masked",
    examples: ["till config show", "till config show --origin --json"],
    flags: [["--origin", "show the source of each setting"]],
    takesSettings: true,
    run: async (terminal, flags) =>
      (await import("./commands/config.ts")).showSettings(terminal, flags),
  },
  {
    name: "config check",
    summary: "Check the settings and report every error",
    examples: [
      "till config check",
      "till config check --config /etc/till/till.yaml",
      "till config check --same-as-server",
    ],
    flags: [["--same-as-server", "exit with 6 if a running server has other settings"]],
    takesSettings: true,
    run: async (terminal, flags) =>
      (await import("./commands/config.ts")).checkSettings(terminal, flags),
  },
];

/** Global flags that take a value as the next word. */
const flagsWithValue = ["--data-dir", "--config"];

/** Returns the words without flags and the values of global flags. */
function spokenWords(words: readonly string[]): readonly string[] {
  return words.filter(
    (word, index) => !word.startsWith("-") && !flagsWithValue.includes(words[index - 1] ?? ""),
  );
}

/** Whether the words name a built-in command or none (`till --help`), so that features need not be loaded. */
function namesOwnCommand(spoken: readonly string[]): boolean {
  return (
    spoken.length === 0 ||
    ownCommands.some(({ name }) => `${spoken.join(" ")} `.startsWith(`${name} `))
  );
}

function addOwnCommand(
  program: Program,
  openTerminal: OpenTerminal,
  settingsFlags: readonly SettingOption[],
  { name, summary, examples: shown, argument, flags = [], takesSettings, run }: OwnCommand,
): void {
  const added = add(program, name, summary, shown);
  addDeclared(
    added,
    argument === undefined ? [] : [argument],
    flags.map(([names, description, values]) => ({ flags: names, description, ...values })),
  );
  if (takesSettings === true) addSettings(added, settingsFlags);
  added.action(async (given: unknown) => {
    const options = added.optsWithGlobals<Options>();
    await run(await openTerminal(options), options, typeof given === "string" ? given : undefined);
  });
}

/** Adds `till help`, which can describe every other command. */
function addHelp(program: Program, openTerminal: OpenTerminal): void {
  const shown = ["till help org approve", "till help exit-codes"];
  const help = add(program, "help", "Print help for a command, or the exit codes", shown);
  help.argument("[words...]", "a command, or exit-codes").action(async (words: string[]) => {
    const { printHelp } = await import("./commands/help.ts");
    await printHelp(await openTerminal(help.optsWithGlobals()), program, words);
  });
}

function addSettings(command: Program, settingsFlags: readonly SettingOption[]): void {
  for (const { flags, description } of settingsFlags) {
    const [name = ""] = flags.split(" ");
    if (!flagsWithValue.includes(name)) command.option(flags, description);
  }
}
