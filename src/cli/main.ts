import { runCommandLine } from "./run.ts";

// If the reader of a pipe closes it, as `head` does, exit quietly.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

process.exitCode = await runCommandLine(process.argv.slice(2), process);
