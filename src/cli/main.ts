import { runCommandLine } from "./run.ts";

// A reader that has seen enough, such as `head`, ends the program quietly.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 1);
});

process.exitCode = await runCommandLine(process.argv.slice(2), process);
