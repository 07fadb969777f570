import type { z } from "zod";
import type { WriteContext } from "../platform/database/index.ts";

/**
 * What a command of the command line is: the second way to a service, beside operations. A feature declares its
 * commands in `commands.ts`, which loads nothing when it is read: the help of all commands must come at once. What a
 * command needs is imported when it runs.
 */

/** Text between the words of a command: `till org approve <organizationId>`. */
export interface CommandArgument {
  readonly name: string;
  readonly description: string;
  readonly isOptional?: true;
}

export interface CommandFlag {
  /** As the parser of arguments takes it: `--name <text>`, or `--drop` alone. */
  readonly flags: string;
  readonly description: string;
  /** What a person at a terminal is asked where the flag is missing. Elsewhere the flag is then an error. */
  readonly ask?: string;
}

/** One thing that is shown of a record to people; scripts get the whole record. */
export interface Column<Item> {
  readonly title: string;
  readonly value: (item: Item) => string | number | boolean | null;
}

/** What the terminal gave. */
export interface CommandCall {
  readonly context: WriteContext;
  /** An argument that must be there. */
  argument(name: string): string;
  /** One that may be left out. */
  optionalArgument(name: string): string | undefined;
  /** The value of a flag, by its name without dashes; undefined where it was not given. */
  flag(name: string): string | undefined;
  /** Whether a flag without a value was given. */
  isSet(name: string): boolean;
  /** Input by the schema that the API parses the same with; a problem names every flag that is wrong. */
  parse<S extends z.ZodType>(schema: S, input: unknown): z.output<S>;
}

interface CommandDeclaration<Service, Result, Shown> {
  /** The words behind `till`: `org approve`. */
  readonly name: string;
  readonly summary: string;
  readonly arguments?: readonly CommandArgument[];
  readonly flags?: readonly CommandFlag[];
  /** Two or more, as they would be typed. */
  readonly examples: readonly [string, string, ...string[]];
  /** A write may be tried out with --dry-run, unless its answer holds a secret or tells of more than the store. */
  readonly effect: "read" | "write" | "write-without-trial";
  /** Where money or access is at stake: what is asked before it is done. */
  readonly confirm?: (call: CommandCall) => string;
  readonly handle: (service: Service, call: CommandCall) => Promise<Result>;
  /** The API's own record of the result. */
  readonly present: (result: Result) => Promise<Shown>;
  /** What people see of it: a line for each column, or for a list a line for each item. */
  readonly columns: readonly Column<ItemOf<Shown>>[];
  /** What one would do next. */
  readonly next?: (shown: Shown) => string;
}

/** The items of a list's record, or the record itself. */
type ItemOf<Shown> = Shown extends { readonly data: readonly (infer Item)[] } ? Item : Shown;

/** A declared command, with its types put away: what the command line reads. */
export interface Command<Service = never> {
  readonly name: string;
  readonly summary: string;
  readonly arguments: readonly CommandArgument[];
  readonly flags: readonly CommandFlag[];
  readonly examples: readonly string[];
  readonly effect: "read" | "write" | "write-without-trial";
  readonly confirm: ((call: CommandCall) => string) | null;
  readonly handle: (service: Service, call: CommandCall) => Promise<unknown>;
  readonly present: (result: unknown) => Promise<unknown>;
  readonly columns: readonly Column<unknown>[];
  readonly next: ((shown: unknown) => string) | null;
}

/** Declares commands of one service. */
export function commandsOf<Service>() {
  return function command<Result, Shown>(
    declared: CommandDeclaration<Service, Result, Shown>,
  ): Command<Service> {
    return Object.freeze({
      ...declared,
      arguments: declared.arguments ?? [],
      flags: declared.flags ?? [],
      confirm: declared.confirm ?? null,
      // The program gives `present` what `handle` gave, and the columns what `present` gave.
      present: declared.present as Command["present"],
      columns: declared.columns as Command["columns"],
      next: (declared.next ?? null) as Command["next"],
    });
  };
}

/** The flags of every list. */
export const pageFlags: readonly CommandFlag[] = [
  { flags: "--limit <number>", description: "how many to show, 1 to 100 (20)" },
  { flags: "--cursor <text>", description: "go on where the last list ended: its nextCursor" },
];
