import { runCommandLine } from "./run.ts";

/** Node's exit code for a program that ends while it still waits for something. */
const unsettledCode = 13;

/** Runs the command line of this process. */
export async function main(): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // If the reader of a pipe closes it, as `head` does, exit quietly.
    if (error.code === "EPIPE") process.exit(0);
    process.stderr.write(`The output was not written completely: ${error.message}.\n`, () => {
      process.exit(1);
    });
  });

  process.exitCode = unsettledCode;
  process.exitCode = await runCommandLine(process.argv.slice(2), process);
}
