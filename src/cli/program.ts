import { Command as Program, Option } from "commander";
import type { Command, CommandFlag } from "../api/command.ts";
import type { App } from "../compose/index.ts";
import { adminCommands } from "../features/admin/commands.ts";
import { apiKeyCommands } from "../features/api-keys/commands.ts";
import { sandboxCommands } from "../features/payments/commands.ts";
import type { Id } from "../kernel/id.ts";
import { allOptions, commonOptions } from "../platform/config/options.ts";
import { programVersion } from "../platform/version.ts";
import type { Given } from "./feature-command.ts";
import { passwordFlags } from "./password.ts";
import { SandboxOff } from "./refusals.ts";
import type { GlobalFlags, Terminal } from "./terminal.ts";

/** What the actions of commands are given by whoever runs the program. */
export interface Run {
  readonly terminalOf: (flags: GlobalFlags) => Terminal;
  readonly requestId: Id<"request">;
  /** Sets what the program ends with, where that is no failure. */
  readonly exitWith: (code: number) => void;
}

/** Flags and arguments as commander keeps them. */
type Options = Record<string, string | boolean | undefined>;

/** What the first words mean. */
const nouns: Readonly<Record<string, string>> = {
  org: "organizations and their verification",
  key: "API keys",
  sandbox: "the test network, where nothing is worth anything",
  db: "the store",
  config: "settings",
};

/**
 * The whole command line. It is read before every command, `till --help` too, so nothing here loads more than names
 * and words: what an action needs is imported when it runs.
 */
export function makeProgram(run: Run): Program {
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
    .option("--verbose", "tell more on standard error");
  for (const { flags, description } of commonOptions()) program.option(flags, description);
  program.addHelpText(
    "after",
    examples(["till demo", "till init", "till serve", "till org list --json"]),
  );

  addOwnCommands(program, run);
  addFeature(program, run, adminCommands, (app) => app.admin);
  addFeature(program, run, apiKeyCommands, (app) => app.apiKeys);
  addFeature(program, run, sandboxCommands, ({ sandbox }) => {
    if (sandbox !== null) return sandbox;
    throw new SandboxOff(
      "Set TILL_NETWORKS=sandbox, or name the data folder of a demo with --data-dir.",
    );
  });
  return program;
}

function addOwnCommands(program: Program, run: Run): void {
  const init = add(program, "init", "Make a store, its platform organization and the first admin", [
    "till init",
    "till init --admin-email ada@example.com --admin-name Ada --organization Shop --password-stdin < password",
  ])
    .option("--admin-email <address>", "the admin's e-mail address")
    .option("--admin-name <text>", "the admin's name")
    .option("--organization <text>", "the name of the organization that runs this Till")
    .action(async (_options: Options, command: Program) => {
      const { initialize } = await import("./commands/init.ts");
      await initialize(terminalFor(command), command.optsWithGlobals(), run.requestId);
    });
  for (const { flags, description } of passwordFlags) init.option(flags, description);

  withSettings(
    add(program, "serve", "Serve the API, the checkout pages and the work in the background", [
      "till serve",
      "till serve --port 8443 --base-url https://pay.example.com",
    ]),
  ).action(async (_options: Options, command: Program) => {
    const { serve } = await import("./commands/serve.ts");
    await serve(terminalFor(command), command.optsWithGlobals());
  });

  withSettings(
    add(
      program,
      "demo",
      "Try everything out: a store, a merchant and an invoice, made and thrown away",
      ["till demo", "till demo --json --port 0"],
    ),
  ).action(async (_options: Options, command: Program) => {
    const { demo } = await import("./commands/demo.ts");
    await demo(terminalFor(command), command.optsWithGlobals(), run.requestId);
  });

  add(program, "db migrate", "Bring the store up to date with this program", [
    "till db migrate",
    "till db migrate --json",
  ]).action(async (_options: Options, command: Program) => {
    const { migrateStore } = await import("./commands/db.ts");
    await migrateStore(terminalFor(command), command.optsWithGlobals());
  });

  withSettings(
    add(program, "config show", "Print every setting, secrets masked", [
      "till config show",
      "till config show --origin --json",
    ]),
  )
    .option("--origin", "where each comes from")
    .action(async (_options: Options, command: Program) => {
      const { showSettings } = await import("./commands/config.ts");
      await showSettings(terminalFor(command), command.optsWithGlobals());
    });

  withSettings(
    add(program, "config check", "Tell everything that is wrong with the settings", [
      "till config check",
      "till config check --config /etc/till/till.yaml",
    ]),
  ).action(async (_options: Options, command: Program) => {
    const { checkSettings } = await import("./commands/config.ts");
    await checkSettings(terminalFor(command), command.optsWithGlobals());
  });

  add(program, "help", "Print help for a command, or the exit codes", [
    "till help org approve",
    "till help exit-codes",
  ])
    .argument("[words...]", "a command, or exit-codes")
    .action(async (words: string[], _options: Options, command: Program) => {
      const { printHelp } = await import("./commands/help.ts");
      await printHelp(terminalFor(command), program, words);
    });

  function terminalFor(command: Program): Terminal {
    return run.terminalOf(command.optsWithGlobals());
  }
}

/** Adds a feature's commands. They all do the same: see feature-command.ts. */
function addFeature<Service>(
  program: Program,
  run: Run,
  commands: readonly Command<Service>[],
  serviceOf: (app: App) => Service,
): void {
  for (const declared of commands) {
    const added = add(program, declared.name, declared.summary, declared.examples);
    for (const { name, description, isOptional } of declared.arguments) {
      added.argument(isOptional === true ? `[${name}]` : `<${name}>`, description);
    }
    for (const flag of declared.flags) added.addOption(optionOf(flag));
    if (declared.effect === "write") {
      added.option("--dry-run", "do everything but keep it: say what would happen");
    }
    added.action(async (...given: unknown[]) => {
      const { runFeatureCommand } = await import("./feature-command.ts");
      const options = added.optsWithGlobals<Options>();
      const values = declared.arguments.map(({ name }, place) => [name, given[place]]);
      const call = { arguments: Object.fromEntries(values) as Given["arguments"], flags: options };
      await runFeatureCommand(run.terminalOf(options), declared, serviceOf, call, run.requestId);
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

/** Every setting as a flag, for the commands that serve or look at settings. */
function withSettings(command: Program): Program {
  const common = commonOptions().map(({ flags }) => flags);
  for (const { flags, description } of allOptions()) {
    if (!common.includes(flags)) command.option(flags, description);
  }
  return command;
}

function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}
