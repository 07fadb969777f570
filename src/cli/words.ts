import type { Command as Program } from "commander";
import type { GlobalFlags, Terminal } from "./terminal.ts";

/** Where an action writes, as its flags say. */
export type OpenTerminal = (flags: GlobalFlags) => Promise<Terminal>;

/** Flags and arguments as commander keeps them. */
export type Options = Record<string, string | boolean | undefined>;

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

/** Adds a command under its words; the noun is made with the first of its verbs. */
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

/** Makes the nouns that there are, so that the help of all is in one order, whichever of their verbs are there. */
export function addNouns(program: Program): void {
  for (const noun of Object.keys(nouns)) nounOf(program, noun);
}

export function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}
