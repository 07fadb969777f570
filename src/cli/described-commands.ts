import { readFile } from "node:fs/promises";
import type { Command as Program } from "commander";
import { Defect } from "../kernel/errors.ts";
import { programFile } from "../platform/files.ts";
import { add, addDeclared, type OpenTerminal, type Options } from "./command-words.ts";
import type { CommandArguments } from "./feature-command.ts";
import type { DescribedCommand } from "./features.ts";

/** The file of the build: see .config/build.mjs. */
const file = programFile("cli/commands.json");

/**
 * Returns the commands of all features, as the build has written them; running from source, as they are declared, which
 * takes several times as long.
 */
export async function describedCommands(): Promise<readonly DescribedCommand[]> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return (await import("./features.ts")).describeCommands();
  return JSON.parse(text) as readonly DescribedCommand[];
}

/** Adds the commands of all features, or of one group of commands. */
export async function addFeatures(
  program: Program,
  openTerminal: OpenTerminal,
  noun: string | null,
): Promise<void> {
  for (const command of await describedCommands()) {
    if (noun !== null && !command.name.startsWith(`${noun} `)) continue;
    addFeature(program, openTerminal, command);
  }
}

/** Adds a feature's command. All of them run through feature-command.ts. */
function addFeature(
  program: Program,
  openTerminal: OpenTerminal,
  described: DescribedCommand,
): void {
  const added = add(program, described.name, described.summary, described.examples);
  addDeclared(added, described.arguments, described.flags);
  if (described.hasPassword) {
    added.option("--password-stdin", "read the password from standard input");
    added.option("--password-file <path>", "read the password from a file");
  }
  if (described.isTried) {
    added.option("--dry-run", "run all checks and show the result without changing anything");
  }
  if (described.isWatched) added.option("--watch", "repeat every 2 s until Ctrl-C");
  added.action(async (...given: unknown[]) => {
    const options = added.optsWithGlobals<Options>();
    const values = described.arguments.map(({ name }, index) => {
      const value = given[index];
      return [name, Array.isArray(value) ? value.join(" ") : value];
    });
    const call = {
      arguments: Object.fromEntries(values) as CommandArguments["arguments"],
      flags: options,
    };
    const terminal = await openTerminal(options);
    const { runFeatureCommand } = await import("./feature-command.ts");
    const { commandLists } = await import("./features.ts");
    const commands = await commandLists[described.list]();
    const command = commands.find(({ name }) => name === described.name);
    if (command === undefined) throw new Defect(`${described.name} is not in ${described.list}`);
    await runFeatureCommand(terminal, command, call);
  });
}
