import type { CommanderError } from "commander";
import { systemClock } from "../kernel/clock.ts";
import { createIds } from "../kernel/id.ts";
import { systemRandom } from "../platform/secrets/random.ts";
import { tellFailure } from "./failure.ts";
import { makeProgram } from "./program.ts";
import { UsageError } from "./refusals.ts";
import { makeTerminal, type Surroundings } from "./terminal.ts";

/** Runs one command line, the words behind `till`, and gives what the program ends with. */
export async function runCommandLine(
  words: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  const requestId = createIds(systemRandom).next("request", systemClock.now());
  let exitCode = 0;
  const program = makeProgram({
    requestId,
    terminalOf: (flags) => makeTerminal(flags, surroundings),
    exitWith(code) {
      exitCode = code;
    },
  });
  const everyCommand = [
    program,
    ...program.commands,
    ...program.commands.flatMap((c) => c.commands),
  ];
  for (const command of everyCommand) {
    command.exitOverride().configureOutput({
      writeOut: (text) => surroundings.stdout.write(text),
      writeErr: (text) => surroundings.stderr.write(text),
      // It is told below, with all other failures.
      outputError: () => undefined,
    });
  }
  try {
    await program.parseAsync([...words], { from: "user" });
    return exitCode;
  } catch (error) {
    const failure = isCommanderError(error) ? asUsageError(error) : error;
    if (failure === null) return 0;
    // The words may be wrong, so these flags are looked for without understanding the others.
    return tellFailure(failure, surroundings, {
      isJson: words.includes("--json"),
      isVerbose: words.includes("--verbose"),
      requestId,
    });
  }
}

function isCommanderError(error: unknown): error is CommanderError {
  return error instanceof Error && "exitCode" in error && error.name === "CommanderError";
}

/** Null where the help or the version was asked for. */
function asUsageError(error: CommanderError): Error | null {
  if (error.exitCode === 0) return null;
  if (error.code === "commander.help") return new UsageError("Name a command: those above.");
  const [first = "", ...suggestions] = error.message.replace(/^error: /, "").split("\n");
  const sentence = first.charAt(0).toUpperCase() + first.slice(1);
  return new UsageError([`${sentence}.`, ...suggestions].join(" "));
}
