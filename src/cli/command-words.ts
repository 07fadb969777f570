import { Argument, Option, type Command as Program } from "commander";
import type { CommandArgument, CommandFlag } from "../http/declare/command.ts";
import type { GlobalFlags, Terminal } from "./terminal/terminal.ts";

/** Creates the terminal for an action from its flags. */
export type OpenTerminal = (flags: GlobalFlags) => Promise<Terminal>;

/** The hidden command by which the script of a shell asks for completions. */
export const completionWord = "__complete";

/** The shells that have such a script. */
export const shells = ["bash", "zsh", "fish"] as const;

/** Flags and arguments as commander stores them. */
export type Options = Record<string, string | boolean | undefined>;

/** Descriptions of the command groups. */
const nouns: Readonly<Record<string, string>> = {
  org: "Organizations and their verification",
  user: "Dashboard users",
  session: "Logins of dashboard users",
  key: "API keys",
  wallet: "Receiving wallets",
  customer: "Customers",
  invoice: "Requests for payment",
  link: "Payment links",
  payments: "Received transfers",
  refund: "Refunds, which merchants send from their own wallets",
  receipt: "Signed receipts, and the keys that sign them",
  queue: "Background jobs and failures",
  webhook: "Webhook endpoints and deliveries",
  billing: "Plans, subscriptions and platform invoices",
  analytics: "Statistics of a period",
  audit: "Audit log and its integrity proof",
  rates: "Exchange rates for invoices",
  chain: "Chain providers, and a check for missed blocks",
  sandbox: "The test network, whose tokens have no value",
  ops: "Status of the installation",
  db: "The store",
  config: "Settings",
};

/** Whether a word is the name of a group of commands. */
export function isNoun(word: string): boolean {
  return Object.hasOwn(nouns, word);
}

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

/** The declarations of arguments and flags, which the argument parser does not keep. */
const declarations = new WeakMap<Argument | Option, CommandArgument | CommandFlag>();

/** Returns the declaration of an argument or flag; undefined for the flags that every command takes, and settings. */
export function declarationOf(
  parsed: Argument | Option,
): CommandArgument | CommandFlag | undefined {
  return declarations.get(parsed);
}

/** Adds the arguments and flags of a command. */
export function addDeclared(
  program: Program,
  words: readonly CommandArgument[],
  flags: readonly CommandFlag[],
): void {
  for (const declared of words) {
    const { name, description, isOptional, isMany } = declared;
    const written = isMany === true ? `${name}...` : name;
    const argument = new Argument(
      isOptional === true ? `[${written}]` : `<${written}>`,
      description,
    );
    declarations.set(argument, declared);
    program.addArgument(argument);
  }
  for (const declared of flags) {
    const { flags: written, description, ask } = declared;
    const option = new Option(
      written,
      ask === undefined ? description : `${description} (required)`,
    );
    declarations.set(option, declared);
    program.addOption(option);
  }
}

export function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}
