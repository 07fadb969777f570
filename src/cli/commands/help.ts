import type { Command as Program } from "commander";
import type { Column } from "../../http/declare/command.ts";
import { didYouMean } from "../../platform/config/files/did-you-mean.ts";
import { programVersion } from "../../platform/files.ts";
import { exitCodes, type ExitReason } from "../failures/exit-codes.ts";
import { printRecord } from "../terminal/output.ts";
import { UsageError } from "../failures/refusals.ts";
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
      const meant = didYouMean(word, topics);
      const hint = meant === null ? `Topics: ${topics.join(", ")}.` : `Did you mean ${meant}?`;
      throw new UsageError(`Unknown help topic "${words.join(" ")}". ${hint}`);
    }
    command = next;
  }
  command.outputHelp();
}

/** `till version`: prints the version, which the flag --version prints alone. */
export async function printVersion(terminal: Terminal): Promise<void> {
  const shown = {
    version: programVersion(),
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
  };
  const columns: readonly Column<typeof shown>[] = ["version", "node", "platform"];
  await printRecord(terminal, shown, {
    columns,
    sections: null,
    identify: () => shown.version,
  });
}

async function printExitCodes(terminal: Terminal): Promise<void> {
  const columns: readonly Column<(typeof exitCodes)[ExitReason]>[] = ["code", "means"];
  const list = { data: Object.values(exitCodes), nextCursor: null };
  await printRecord(terminal, list, {
    columns,
    sections: null,
    identify: (one) => String((one as (typeof list.data)[number]).code),
  });
}
