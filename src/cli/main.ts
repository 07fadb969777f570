import { runCommandLine, type RunCommandLine } from "./run.ts";

export { runCommandLine };

/** Returns the text of the file in which the build keeps the shipped tables. */
export async function keepShippedTables(): Promise<string> {
  const tables = await import("../platform/config/files/load-tables.ts");
  return tables.keepShippedTables();
}

/** Node's exit code for a program that ends while it still waits for something. */
const unsettledCode = 13;

/**
 * Runs the command line of this process. `wholeProgram` is given by the program that has only what commands need that
 * read: see run.ts.
 */
export async function main(wholeProgram?: RunCommandLine): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // If the reader of a pipe closes it, as `head` does, exit quietly.
    if (error.code === "EPIPE") process.exit(0);
    process.stderr.write(`The output was not written completely: ${error.message}.\n`, () => {
      process.exit(1);
    });
  });

  process.exitCode = unsettledCode;
  process.exitCode = await runCommandLine(process.argv.slice(2), process, "light", wholeProgram);
}
