import type { Command as Program } from "commander";
import { makeProgram } from "./program.ts";
import { completionWord } from "./command-words.ts";
import type { GlobalFlags, TerminalEnvironment, Terminal } from "./terminal/terminal.ts";

/** Commands that accept every setting as a flag; for others these flags are not created, to save time. */
const settingsCommands = ["init", "doctor", "serve", "demo", "config"];

/** Runs one command line, the words after `till`, and returns the exit code. */
export async function runCommandLine(
  words: readonly string[],
  surroundings: TerminalEnvironment,
): Promise<number> {
  if (words[0] === completionWord) return completeWords(words.slice(1), surroundings);
  const opened: { terminal?: Terminal; command?: Program } = {};
  async function openTerminal(flags: GlobalFlags): Promise<Terminal> {
    const { makeTerminal } = await import("./terminal/terminal.ts");
    opened.terminal = makeTerminal(flags, surroundings);
    return opened.terminal;
  }

  const program = await makeProgram(words, openTerminal, await settingsFlags(words));
  const nouns = program.commands;
  for (const command of [program, ...nouns, ...nouns.flatMap((noun) => noun.commands)]) {
    const fail = (error: Error) => {
      opened.command = command;
      throw error;
    };
    command.exitOverride(fail).configureOutput({
      writeOut: (text) => surroundings.stdout.write(text),
      writeErr: (text) => surroundings.stderr.write(text),
      // Reported below, like all other failures.
      outputError: () => undefined,
    });
  }
  program.hook("preAction", (_program, command) => {
    opened.command = command;
  });
  try {
    await program.parseAsync([...words], { from: "user" });
    return 0;
  } catch (error) {
    if (isEndOfHelp(error)) return 0;
    const { printError } = await import("./failures/failure.ts");
    // Parsing may have failed, so these flags are found without it.
    const flags = { json: words.includes("--json"), verbose: words.includes("--verbose") };
    const { command = null } = opened;
    return printError(
      command === null ? error : await explained(error, command, surroundings),
      opened.terminal ?? (await openTerminal(flags)),
      command,
    );
  }
}

/** Adds similar ids to an error about an unknown one. */
async function explained(error: unknown, command: Program, { env }: TerminalEnvironment) {
  const { explainIds } = await import("./failures/unknown-ids.ts");
  return explainIds(error, command, env);
}

/** Answers the script of a shell. It always succeeds, and never writes to standard error. */
async function completeWords(
  given: readonly string[],
  surroundings: TerminalEnvironment,
): Promise<number> {
  const unused = () => Promise.reject(new Error("a completion runs no command"));
  try {
    const { complete } = await import("./completion/complete.ts");
    await complete(given, surroundings, async (words) =>
      makeProgram(words, unused, await settingsFlags(words)),
    );
  } catch {
    // There is nobody to tell.
  }
  return 0;
}

async function settingsFlags(words: readonly string[]) {
  if (!words.some((word) => settingsCommands.includes(word))) return [];
  return (await import("../platform/config/settings.ts")).allOptions();
}

/** Whether the error only marks that commander printed help or the version. */
function isEndOfHelp(error: unknown): boolean {
  return error instanceof Error && "exitCode" in error && error.exitCode === 0;
}
