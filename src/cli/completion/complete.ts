import type { Argument, Command as Program, Option } from "commander";
import type { ValueSource } from "../../http/declare/command.ts";
import { within } from "../../kernel/clock.ts";
import type { LoadOptions } from "../../platform/config/load.ts";
import type { Reader } from "../../platform/database/database.ts";
import { declarationOf } from "../command-words.ts";
import { idsThatBegin, kindsOf, namesThatBegin, type Known } from "../known/known-values.ts";
import { optionNamed, takesOf, type Takes } from "../known/takes.ts";
import { findNamed } from "../organization.ts";
import { printable, type TerminalEnvironment } from "../terminal/terminal.ts";
import { isTypable, quoted, readLine, type Quote } from "./shell-line.ts";

/** The time for reading the store and the settings, in milliseconds. A completion that takes longer offers nothing. */
const completionMs = 2_000;
/** The characters of a description that shells show. */
const descriptionMax = 60;
/** Bash's COMP_TYPE when it only lists the values, which can then be followed by descriptions. */
const listing = "63";

/** The question of a shell: the words after `till` before the cursor, and the word at the cursor. */
interface Question {
  readonly words: readonly string[];
  readonly current: string;
  readonly write: (known: readonly Known[]) => readonly string[];
}

/**
 * Answers the script that `till completion` prints: a first line, `files` or `values`, and then a value in each line.
 * It prints nothing if anything goes wrong, because it would be printed into a line that somebody is typing.
 * @param given the name of the shell, and what its script passes
 */
export async function complete(
  given: readonly string[],
  { stdout, env }: TerminalEnvironment,
  makeProgram: (words: readonly string[]) => Promise<Program>,
): Promise<void> {
  const question = questionOf(given);
  if (question === null) return;
  const { words, current, write } = question;
  const position = positionOf(await makeProgram(words), words, current);
  if (position === null) return;
  const none: Candidates = { isFile: false, known: [] };
  const { isFile, known } = await within(completionMs, candidatesAt(position, env), () => none);
  const lines = [isFile ? "files" : "values", ...write(known)];
  stdout.write(lines.map((line) => `${line}\n`).join(""));
}

function questionOf([shell, ...rest]: readonly string[]): Question | null {
  switch (shell) {
    case "bash": {
      const [type = "", breaks = "", line = ""] = rest;
      const { words, current, quote, prefix } = readLine(line, breaks);
      if (prefix === null) return null;
      const write = (known: readonly Known[]) => forBash(known, quote, prefix, type === listing);
      return { words: words.slice(1), current, write };
    }
    case "zsh":
      return { words: rest.slice(0, -1), current: rest.at(-1) ?? "", write: withDescriptions };
    case "fish": {
      // The word at the cursor comes with its quotes.
      const { current } = readLine(rest.at(-1) ?? "", "");
      return { words: rest.slice(0, -1), current, write: withDescriptions };
    }
    default:
      return null;
  }
}

/** Bash inserts a value as it is, after the part of the word that it keeps. */
function forBash(
  known: readonly Known[],
  quote: Quote,
  prefix: string,
  isListing: boolean,
): readonly string[] {
  return known.flatMap(({ value, description }) => {
    const written = quoted(value.slice(prefix.length), quote);
    if (written === null) return [];
    const isDescribed = isListing && known.length > 1 && description !== "";
    return [isDescribed ? `${written}  (${shortened(description)})` : written];
  });
}

/** The other shells quote values themselves, and show descriptions. */
function withDescriptions(known: readonly Known[]): readonly string[] {
  return known.map(({ value, description }) =>
    description === "" ? value : `${value}\t${shortened(description)}`,
  );
}

function shortened(description: string): string {
  const line = printable(description).replaceAll("\n", " ");
  const letters = Array.from(line);
  if (letters.length <= descriptionMax) return line;
  return `${letters.slice(0, descriptionMax - 1).join("")}…`;
}

/** The part of a command line at the cursor. */
interface Position {
  /** The command that the words before the cursor name. */
  readonly command: Program;
  /** The argument or flag of which the word is the value; null if it is a command or the name of a flag. */
  readonly valueOf: Argument | Option | null;
  /** The part of the word before the value: `--status=`, or nothing. */
  readonly before: string;
  /** The part of the word that the completion continues. */
  readonly typed: string;
  /** Whether flags can follow: not after `--`. */
  readonly takesFlags: boolean;
  /** The flags given before the cursor, by their property names, with their values. */
  readonly given: ReadonlyMap<string, string>;
}

/** Finds the part of a command line at the cursor; null if the words before it do not begin one. */
function positionOf(program: Program, words: readonly string[], current: string): Position | null {
  const [first, ...others] = words;
  if (first !== "help") return commandPosition(program, words, current);
  const described = commandPosition(program, others, current);
  return described === null ? null : { ...described, valueOf: null, takesFlags: false };
}

function commandPosition(
  program: Program,
  words: readonly string[],
  current: string,
): Position | null {
  const given = new Map<string, string>();
  let command = program;
  let position = 0;
  let awaited: Option | null = null;
  let takesFlags = true;
  for (const word of words) {
    if (awaited !== null) {
      given.set(awaited.attributeName(), word);
      awaited = null;
    } else if (takesFlags && word === "--") {
      takesFlags = false;
    } else if (takesFlags && word.startsWith("-") && word !== "-") {
      const [name, value] = splitFlag(word);
      const option = optionNamed(command, name);
      if (option === null) continue;
      given.set(option.attributeName(), value ?? "");
      if (value === undefined && option.required) awaited = option;
    } else if (command.commands.length > 0) {
      const next = command.commands.find((one) => one.name() === word);
      if (next === undefined) return null;
      command = next;
    } else {
      position += 1;
    }
  }
  const shared = { command, takesFlags, given };
  if (awaited !== null) return { ...shared, valueOf: awaited, before: "", typed: current };
  if (takesFlags && current.startsWith("-")) {
    const [name, typed] = splitFlag(current);
    const option = typed === undefined ? null : optionNamed(command, name);
    if (typed === undefined || option?.required !== true) {
      return { ...shared, valueOf: null, before: "", typed: current };
    }
    return { ...shared, valueOf: option, before: `${name}=`, typed };
  }
  return { ...shared, valueOf: argumentAt(command, position), before: "", typed: current };
}

/** Returns the argument at a position; the last one may take several words. */
function argumentAt({ registeredArguments }: Program, position: number): Argument | null {
  const last = registeredArguments.at(-1);
  return registeredArguments[position] ?? (last?.variadic === true ? last : null);
}

function splitFlag(word: string): readonly [string, string?] {
  const index = word.indexOf("=");
  return index < 0 ? [word] : [word.slice(0, index), word.slice(index + 1)];
}

/** The offer of a shell for the word at the cursor. */
interface Candidates {
  /** Whether the shell offers its own files. */
  readonly isFile: boolean;
  readonly known: readonly Known[];
}

/**
 * Returns what the word at the cursor can be.
 * @throws if it is in the store or the settings, and they cannot be read
 */
async function candidatesAt(
  position: Position,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Candidates> {
  const { valueOf, before, typed } = position;
  if (valueOf === null) return { isFile: false, known: beginning(typed, namesAt(position)) };
  const takes = takesOf(valueOf);
  const values = await valuesOf(takes, position, env);
  const known = beginning(
    typed,
    // The choices of --sort begin with a dash.
    values.filter(({ value }) => takes.choices !== null || isTypable(value)),
  ).map(({ value, description }) => ({ value: before + value, description }));
  return { isFile: takes.isFile, known };
}

/** Returns the commands or, if there are none or a dash was typed, the flags that were not given yet. */
function namesAt({ command, typed, takesFlags, given }: Position): readonly Known[] {
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
  { command, typed, given }: Position,
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

/** The number of objects of a kind that a completion offers. */
const offeredMax = 50;

/** The values to look for. */
interface Wanted {
  readonly sources: readonly ValueSource[];
  /** The beginning of the value. */
  readonly typed: string;
  /** The id or name in --organization, whose objects are offered. */
  readonly organization: string | null;
  /** Whether the command works on the organization of the settings if none is given. */
  readonly needsOrganization: boolean;
}

/**
 * Returns the values of some sources that begin as typed.
 * @throws if the store or the settings cannot be read
 */
async function readSources(options: LoadOptions, wanted: Wanted): Promise<readonly Known[]> {
  const { sources, typed, organization, needsOrganization } = wanted;
  if (sources.includes("network") || sources.includes("token")) {
    return networkValues(options, sources);
  }
  const { readKnown } = await import("../known/read-known.ts");
  const found = await readKnown(options, async (reader, setting) => {
    const named = organization ?? (needsOrganization ? setting : null);
    const owner = named === null ? null : (await findNamed(reader, named)).id;
    const known: Known[] = [];
    if (sources.includes("email")) {
      known.push(...(await namesThatBegin(reader, "email", typed, offeredMax)));
    }
    if (sources.includes("organization")) known.push(...(await organizations(reader, typed)));
    for (const kind of kindsOf(sources)) {
      // They are offered by name.
      if (kind === "organization" && typed === "") continue;
      known.push(...(await idsThatBegin(reader, kind, typed, owner, offeredMax)));
    }
    return known;
  });
  return found ?? [];
}

/** Returns organizations by their names, and those by their ids whose name several have or nobody can type. */
async function organizations(reader: Reader, typed: string): Promise<readonly Known[]> {
  const named = await namesThatBegin(reader, "organization", typed, offeredMax);
  const count = new Map<string, number>();
  for (const { name } of named) {
    const folded = name.toLowerCase();
    count.set(folded, (count.get(folded) ?? 0) + 1);
  }
  return named.map((one) =>
    isTypable(one.name) && count.get(one.name.toLowerCase()) === 1
      ? { value: one.name, description: one.value }
      : one,
  );
}

async function networkValues(
  options: LoadOptions,
  sources: readonly ValueSource[],
): Promise<readonly Known[]> {
  const { loadConfig } = await import("../../platform/config/load.ts");
  const { networks } = (await loadConfig(options)).config;
  if (sources.includes("network")) {
    return networks.map(({ id, title }) => ({ value: id, description: title }));
  }
  const symbols = new Set(networks.flatMap(({ tokens }) => tokens.map(({ symbol }) => symbol)));
  return [...symbols].map((value) => ({ value, description: "" }));
}
