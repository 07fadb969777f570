import type { Command as Program } from "commander";
import { makeProgram } from "../../../src/cli/program.ts";
import { allOptions } from "../../../src/platform/config/settings.ts";

/** Thrown in place of a command's work. */
class Parsed extends Error {}

/** Builds the real command line with all commands. Nothing runs: each command ends once its words are parsed. */
export async function commandTree(): Promise<Program> {
  const refuse = () => Promise.reject(new Parsed());
  const program = await makeProgram(["help"], refuse, allOptions());
  const nouns = program.commands;
  for (const command of [program, ...nouns, ...nouns.flatMap((noun) => noun.commands)]) {
    const silent = () => undefined;
    command.exitOverride().configureOutput({ writeOut: silent, writeErr: silent });
  }
  return program;
}

/** Parses the words after `till`; returns what is wrong with them, or null. */
export async function parseError(
  program: Program,
  words: readonly string[],
): Promise<string | null> {
  try {
    await program.parseAsync([...words], { from: "user" });
    return null;
  } catch (error) {
    if (error instanceof Parsed) return null;
    // Help and the version.
    if (error instanceof Error && "exitCode" in error && error.exitCode === 0) return null;
    return String(error);
  }
}
