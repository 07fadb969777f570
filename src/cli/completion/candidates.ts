import type { Command as Program } from "commander";
import type { LoadOptions } from "../../platform/config/load.ts";
import { declarationOf } from "../command-words.ts";
import type { Known } from "../known/known-values.ts";
import { takesOf, type Takes } from "../known/takes.ts";
import type { Place } from "./place.ts";
import { isTypable } from "./shell-line.ts";
import { readSources } from "./store-values.ts";

/** The offer of a shell for the word at the cursor. */
export interface Candidates {
  /** Whether the shell offers its own files. */
  readonly isFile: boolean;
  readonly known: readonly Known[];
}

/**
 * Returns what the word at the cursor can be.
 * @throws if it is in the store or the settings, and they cannot be read
 */
export async function candidatesAt(
  place: Place,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Candidates> {
  const { valueOf, before, typed } = place;
  if (valueOf === null) return { isFile: false, known: beginning(typed, namesAt(place)) };
  const takes = takesOf(valueOf);
  const values = await valuesOf(takes, place, env);
  const known = beginning(
    typed,
    // The choices of --sort begin with a dash.
    values.filter(({ value }) => takes.choices !== null || isTypable(value)),
  ).map(({ value, description }) => ({ value: before + value, description }));
  return { isFile: takes.isFile, known };
}

/** Returns the commands or, if there are none or a dash was typed, the flags that were not given yet. */
function namesAt({ command, typed, takesFlags, given }: Place): readonly Known[] {
  const isCommand = command.commands.length > 0 && !typed.startsWith("-");
  if (isCommand) {
    return command.commands.map((one) => ({ value: one.name(), description: one.description() }));
  }
  if (!takesFlags) return [];
  const flags = flagsOf(command).filter((flag) => !given.has(flag.attributeName()));
  return flags.map(({ long, description }) => ({ value: long ?? "", description }));
}

/** Returns the flags of a command, and then those of its parents. */
function flagsOf(command: Program): Program["options"] {
  const parents = command.parent === null ? [] : flagsOf(command.parent);
  return [...command.options, ...parents];
}

async function valuesOf(
  { choices, isList, sources }: Takes,
  { command, typed, given }: Place,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Known[]> {
  if (choices !== null) {
    const others = isList ? typed.slice(0, typed.lastIndexOf(",") + 1) : "";
    const chosen = others.split(",");
    return choices
      .filter((one) => !chosen.includes(one))
      .map((one) => ({ value: others + one, description: "" }));
  }
  if (sources.length === 0) return [];
  const [dataDir, config] = [given.get("dataDir"), given.get("config")];
  const options: LoadOptions = { mode: "cli", flags: { dataDir, config }, env };
  const declared = command.options.map(declarationOf);
  return readSources(options, {
    sources,
    typed,
    organization: given.get("organization") ?? null,
    needsOrganization: declared.some((one) => one !== undefined && "isNeededOrganization" in one),
  });
}

/**
 * Returns the values that begin as typed; without one, the only value that does so if case is ignored. With several,
 * the shell would replace the typed letters.
 */
function beginning(typed: string, known: readonly Known[]): readonly Known[] {
  const exact = known.filter(({ value }) => value.startsWith(typed));
  if (exact.length > 0) return exact;
  const folded = typed.toLowerCase();
  const similar = known.filter(({ value }) => value.toLowerCase().startsWith(folded));
  return similar.length === 1 ? similar : [];
}
