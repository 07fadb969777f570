import { Command as Program } from "commander";
import type { SettingOption } from "../platform/config/index.ts";
import { programVersion } from "../platform/version.ts";
import type { Terminal } from "./terminal.ts";
import { add, addNouns, examples, type OpenTerminal, type Options } from "./words.ts";

/**
 * The whole command line, as far as the words ask for it. It is read before every command, `till --help` too, so nothing
 * here loads more than names and words, and those of features where no command of the program itself is asked for: what
 * an action needs is imported when it runs.
 */
export async function makeProgram(
  words: readonly string[],
  openTerminal: OpenTerminal,
  settingsFlags: readonly SettingOption[],
): Promise<Program> {
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
  addNouns(program);
  if (!namesOwnCommand(words)) (await import("./features.ts")).addFeatures(program, openTerminal);
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
      [
        "--receive-wallet <network:address>",
        "the wallet that the platform is paid at, such as tron:T…, or network:xpub…; may be set later",
      ],
      ["--receive-token <symbol>", "what is received there (the network's first token)"],
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

/** Flags of every command whose value is a word of its own. */
const flagsWithValue = ["--data-dir", "--config"];

/** Whether the words name a command of the program itself, or none, such as `till --help`: no feature has it. */
function namesOwnCommand(words: readonly string[]): boolean {
  const spoken = words.filter(
    (word, place) => !word.startsWith("-") && !flagsWithValue.includes(words[place - 1] ?? ""),
  );
  return (
    spoken.length === 0 ||
    ownCommands.some(({ name }) => `${spoken.join(" ")} `.startsWith(`${name} `))
  );
}

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

function addSettings(command: Program, settingsFlags: readonly SettingOption[]): void {
  for (const { flags, description } of settingsFlags) {
    const [name = ""] = flags.split(" ");
    if (!flagsWithValue.includes(name)) command.option(flags, description);
  }
}
