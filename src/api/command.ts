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
  /** The last one: all that follows, which the call gives as one text with spaces between. */
  readonly isMany?: true;
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
  /** Its values, which are decimal numbers, are drawn as bars: the largest of the list is the longest. */
  readonly isBar?: true;
}

/** A list within a record, shown to people below its lines. */
export interface Section {
  readonly title: string;
  /** Decimal numbers in their order, drawn in one line. */
  readonly trend?: readonly string[];
  readonly items: readonly unknown[];
  readonly columns: readonly Column<never>[];
}

/** Declares a section, with the type of its items put away. */
export function section<Item>(declared: {
  readonly title: string;
  readonly trend?: readonly string[];
  readonly items: readonly Item[];
  readonly columns: readonly Column<Item>[];
}): Section {
  return declared;
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
  /** The new password that was asked for; only of a command that takes one. */
  password(): string;
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
  /** Where money or access is at stake: what is asked before it is done; null where it is not, after all. */
  readonly confirm?: (call: CommandCall) => string | null;
  /** It takes a new password, from a file or standard input; a person is asked for it by these words. */
  readonly password?: string;
  readonly handle: (service: Service, call: CommandCall) => Promise<Result>;
  /** The API's own record of the result. */
  readonly present: (result: Result) => Promise<Shown>;
  /** What people see of it: a line for each column, or for a list a line for each item. */
  readonly columns: readonly Column<ItemOf<Shown>>[];
  /** Lists within the record that people see below its lines. */
  readonly sections?: (shown: Shown) => readonly Section[];
  /** What --quiet prints of a record that has no `id`. */
  readonly identify?: (item: ItemOf<Shown>) => string;
  /** Looking again makes sense: it takes --watch. */
  readonly isWatched?: true;
  /** What one would do next. */
  readonly next?: (shown: Shown) => string;
  /** Where what was found and printed is bad news: the problem that the program ends with. */
  readonly fault?: (shown: Shown) => Promise<Error | null>;
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
  readonly confirm: ((call: CommandCall) => string | null) | null;
  readonly password: string | null;
  readonly handle: (service: Service, call: CommandCall) => Promise<unknown>;
  readonly present: (result: unknown) => Promise<unknown>;
  readonly columns: readonly Column<unknown>[];
  readonly sections: ((shown: unknown) => readonly Section[]) | null;
  readonly identify: ((item: unknown) => string) | null;
  readonly isWatched: boolean;
  readonly next: ((shown: unknown) => string) | null;
  readonly fault: ((shown: unknown) => Promise<Error | null>) | null;
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
      isWatched: declared.isWatched ?? false,
      confirm: declared.confirm ?? null,
      password: declared.password ?? null,
      // The program gives `present` what `handle` gave, and the columns what `present` gave.
      present: declared.present as Command["present"],
      columns: declared.columns as Command["columns"],
      sections: (declared.sections ?? null) as Command["sections"],
      identify: (declared.identify ?? null) as Command["identify"],
      next: (declared.next ?? null) as Command["next"],
      fault: (declared.fault ?? null) as Command["fault"],
    });
  };
}

/** The flags of every list. */
export const pageFlags: readonly CommandFlag[] = [
  { flags: "--limit <number>", description: "how many to show, 1 to 100 (20)" },
  { flags: "--cursor <text>", description: "go on where the last list ended: its nextCursor" },
];

/** Whose things are meant. An organization that is named has to be there: else the command ends with not found. */
export const organizationFlag: CommandFlag = {
  flags: "--organization <id>",
  description: "such as org_01h…",
};

/** The same where there is no doing without. */
export const neededOrganization: CommandFlag = {
  ...organizationFlag,
  ask: "The organization's id",
};
