import type { Command as Program } from "commander";
import { exitCodes } from "../exit-codes.ts";
import { printTable } from "../terminal/output.ts";
import { UsageError } from "../refusals.ts";
import type { Terminal } from "../terminal/terminal.ts";

const exitCodesTopic = "exit-codes";

/** `till help <words>`: prints the help of a command or of a topic. */
export async function printHelp(
  terminal: Terminal,
  program: Program,
  words: readonly string[],
): Promise<void> {
  if (words.length === 1 && words[0] === exitCodesTopic) {
    await printExitCodes(terminal);
    return;
  }
  let command = program;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) {
      const known = command.commands.map((one) => one.name());
      const topics = command === program ? [...known, exitCodesTopic] : known;
      throw new UsageError(
        `Unknown help topic "${words.join(" ")}". Topics: ${topics.join(", ")}.`,
      );
    }
    command = next;
  }
  command.outputHelp();
}

async function printExitCodes(terminal: Terminal): Promise<void> {
  const rows = Object.values(exitCodes);
  if (terminal.form === "json") {
    terminal.data(JSON.stringify({ data: rows, nextCursor: null }));
    return;
  }
  await printTable(
    terminal,
    ["CODE", "MEANS"],
    rows.map(({ code, means }) => [String(code), means]),
  );
}
