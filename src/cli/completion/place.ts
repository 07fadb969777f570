import type { Argument, Command as Program, Option } from "commander";
import { optionNamed } from "../known/takes.ts";

/** The part of a command line at the cursor. */
export interface Place {
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
export function placeOf(program: Program, words: readonly string[], current: string): Place | null {
  const [first, ...others] = words;
  if (first !== "help") return commandPlace(program, words, current);
  const described = commandPlace(program, others, current);
  return described === null ? null : { ...described, valueOf: null, takesFlags: false };
}

function commandPlace(program: Program, words: readonly string[], current: string): Place | null {
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
  const place = word.indexOf("=");
  return place < 0 ? [word] : [word.slice(0, place), word.slice(place + 1)];
}
