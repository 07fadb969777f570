import { makeProgram } from "./program.ts";
import type { GlobalFlags, Surroundings, Terminal } from "./terminal.ts";

/** Commands whose flags are all of the settings: too many to be made for every other command. */
const settingsCommands = ["serve", "demo", "config"];

/** Runs one command line, the words behind `till`, and gives what the program ends with. */
export async function runCommandLine(
  words: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const opened: { terminal?: Terminal } = {};
  async function openTerminal(flags: GlobalFlags): Promise<Terminal> {
    const { makeTerminal } = await import("./terminal.ts");
    opened.terminal = makeTerminal(flags, surroundings);
    return opened.terminal;
  }

  const program = await makeProgram(words, openTerminal, await settingsFlags(words));
  const nouns = program.commands;
  for (const command of [program, ...nouns, ...nouns.flatMap((noun) => noun.commands)]) {
    command.exitOverride().configureOutput({
      writeOut: (text) => surroundings.stdout.write(text),
      writeErr: (text) => surroundings.stderr.write(text),
      // It is told below, with all other failures.
      outputError: () => undefined,
    });
  }
  try {
    await program.parseAsync([...words], { from: "user" });
    return 0;
  } catch (error) {
    if (isEndOfHelp(error)) return 0;
    const { tellFailure } = await import("./failure.ts");
    // The words may be wrong, so these flags are looked for without understanding the others.
    const flags = { json: words.includes("--json"), verbose: words.includes("--verbose") };
    return tellFailure(error, opened.terminal ?? (await openTerminal(flags)));
  }
}

async function settingsFlags(words: readonly string[]) {
  if (!words.some((word) => settingsCommands.includes(word))) return [];
  return (await import("../platform/config/options.ts")).allOptions();
}

/** The parser of arguments throws where it has printed help or the version, too. */
function isEndOfHelp(error: unknown): boolean {
  return error instanceof Error && "exitCode" in error && error.exitCode === 0;
}
