import type { Command as Program } from "commander";
import type { GlobalFlags, Terminal } from "./terminal.ts";

/** Creates the terminal for an action from its flags. */
export type OpenTerminal = (flags: GlobalFlags) => Promise<Terminal>;

/** Flags and arguments as commander stores them. */
export type Options = Record<string, string | boolean | undefined>;

/** Descriptions of the command groups. */
const nouns: Readonly<Record<string, string>> = {
  org: "organizations and their verification",
  user: "dashboard users",
  key: "API keys",
  wallet: "receiving wallets",
  invoice: "requests for payment",
  payments: "received transfers",
  queue: "background jobs and failures",
  webhook: "webhook deliveries",
  billing: "plans, subscriptions and platform invoices",
  analytics: "statistics of a period",
  audit: "audit log and its integrity proof",
  rates: "exchange rates for invoices",
  chain: "chain providers, and a check for missed blocks",
  sandbox: "the test network, whose tokens have no value",
  ops: "status of the installation",
  db: "the store",
  config: "settings",
};

/** Adds a command; its group is created with the first one. */
export function add(
  program: Program,
  name: string,
  summary: string,
  shown: readonly string[],
): Program {
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

/** Creates all groups first, so that the help lists them in a fixed order. */
export function addNouns(program: Program): void {
  for (const noun of Object.keys(nouns)) nounOf(program, noun);
}

export function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}
