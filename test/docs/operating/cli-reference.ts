import type { Command as Program, Option } from "commander";
import { exitCodes } from "../../../src/cli/failures/exit-codes.ts";
import { allOptions, commonOptions } from "../../../src/platform/config/settings.ts";

/** Renders docs/operating/cli.md from the tree of commands. */
export function cliReference(program: Program): string {
  const settings = new Set(allOptions().map(({ flags }) => flags));
  const common = new Set(commonOptions().map(({ flags }) => flags));
  const sections = program.commands
    .filter((command) => command.name() !== "help")
    .flatMap((command) =>
      command.commands.length === 0
        ? section(`till ${command.name()}`, command, settings)
        : command.commands.flatMap((verb) =>
            section(`till ${command.name()} ${verb.name()}`, verb, settings),
          ),
    );
  return [
    "# Commands",
    "",
    "<!-- Made from the command line's own declarations by `npm run docs`. -->",
    "",
    "`till help COMMAND` shows the same with examples. Every command finds its store by `till.yaml`, the environment or flags ([settings](../settings.md)), and works while servers run, unless it says otherwise.",
    "",
    "## Flags of every command",
    "",
    ...flagTable(program.options.filter(({ flags }) => !settings.has(flags) || common.has(flags))),
    "## Exit codes",
    "",
    "| code | means |",
    "| --- | --- |",
    ...Object.values(exitCodes).map(({ code, means }) => `| ${String(code)} | ${means} |`),
    "",
    "Scripts should test for 0, and retry after 75 only. `till help exit-codes --json` prints this table.",
    "",
    "## All commands",
    "",
    ...sections,
  ].join("\n");
}

function section(name: string, command: Program, settings: ReadonlySet<string>): string[] {
  const words = command.registeredArguments.map((argument) => {
    const text = `${argument.name()}${argument.variadic ? "..." : ""}`;
    return argument.required ? `<${text}>` : `[${text}]`;
  });
  const own = command.options.filter(({ flags }) => !settings.has(flags));
  const takesSettings = own.length < command.options.length;
  return [
    `### ${name}`,
    "",
    `${command.description()}.`,
    "",
    ...(words.length === 0 ? [] : [`Arguments: \`${words.join(" ")}\``, ""]),
    ...flagTable(own),
    ...(takesSettings ? ["Takes every [setting](../settings.md) as a flag.", ""] : []),
  ];
}

function flagTable(options: readonly Option[]): string[] {
  if (options.length === 0) return [];
  // A bar ends a cell, even in code.
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const rows = options.map(
    ({ flags, description }) => `| \`${cell(flags)}\` | ${cell(description)} |`,
  );
  return ["| flag | purpose |", "| --- | --- |", ...rows, ""];
}
