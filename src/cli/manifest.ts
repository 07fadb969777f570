import { readFile } from "node:fs/promises";
import type { Command } from "../api/declare/command.ts";
import { programFile } from "../platform/files.ts";
import type { CommandListName } from "./features.ts";

/** What the help, the completion and the parser need to know of a command before it runs. */
export interface DescribedCommand extends Pick<
  Command,
  "name" | "summary" | "arguments" | "flags" | "examples" | "isWatched"
> {
  /** The list of features.ts that has it. */
  readonly list: CommandListName;
  readonly hasPassword: boolean;
  /** Whether --dry-run tries it out. */
  readonly isTried: boolean;
}

/** Where the build keeps them: see .config/build.mjs. */
const file = programFile("cli/commands.json");

/**
 * Returns the commands of all features, as the build has written them; running from source, as they are declared, which
 * takes several times as long.
 */
export async function describedCommands(): Promise<readonly DescribedCommand[]> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return describeCommands();
  return JSON.parse(text) as readonly DescribedCommand[];
}

/** Returns the commands as they are declared, for the build. */
export async function describeCommands(): Promise<readonly DescribedCommand[]> {
  const { commandLists } = await import("./features.ts");
  const described = await Promise.all(
    Object.entries(commandLists).map(async ([list, { load }]) => {
      const commands: readonly Command[] = await load();
      return commands.map((command): DescribedCommand => ({
        list: list as CommandListName,
        name: command.name,
        summary: command.summary,
        arguments: command.arguments,
        flags: command.flags,
        examples: command.examples,
        isWatched: command.isWatched,
        hasPassword: command.password !== null,
        isTried: command.effect === "write",
      }));
    }),
  );
  return described.flat();
}
