import type { Argument, Command as Program, Option } from "commander";
import type { FieldLocation } from "../../kernel/errors.ts";
import { declarationOf } from "../command-words.ts";

/** Returns how a command takes a field of the API: `--wallet-id`, or `<amount>` for an argument; null if it does not. */
export function wordOf(command: Program, field: string): string | null {
  const found = [...command.options, ...command.registeredArguments].find(
    (one) => (declarationOf(one)?.field ?? propertyOf(one)) === field,
  );
  return found === undefined ? null : nameOf(found);
}

/** Returns an argument or a flag as messages name it. */
export function nameOf(taken: Argument | Option): string {
  return "flags" in taken ? (taken.long ?? taken.flags) : `<${taken.name()}>`;
}

/** Returns the field of a wrong value, or its first part: the pointer /expiresAt is the field expiresAt. */
export function fieldOf({ pointer, parameter }: FieldLocation): string {
  return parameter ?? pointer?.split("/")[1] ?? "";
}

/** Replaces the fields of the API in a message by the flags and arguments of the command that take them. */
export function inWordsOf(command: Program, message: string): string {
  return message
    .replaceAll(/\?([a-z][A-Za-z]*)=/g, (text, field: string) => wordOf(command, field) ?? text)
    .replaceAll(/\b[a-z]+(?:[A-Z][a-z]*)+\b/g, (field) => wordOf(command, field) ?? field);
}

function propertyOf(taken: Argument | Option): string {
  return "flags" in taken ? taken.attributeName() : taken.name();
}
