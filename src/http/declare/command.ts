import type { z } from "zod";
import type { App } from "../../app.ts";
import type { Id, IdKind } from "../../kernel/id.ts";
import type { Progress } from "../../platform/progress.ts";
import type { WriteContext } from "../../platform/database/database.ts";

/**
 * Declaration of a CLI command. Commands and operations are the two ways into the functions of a feature. A command that
 * calls an operation is declared with it, under `cli`; a feature declares its other commands in `commands.ts`, which
 * import what they need when they run.
 */

/** Values that exist: objects of the store by their id, users by e-mail address, and entries of the networks' table. */
export type ValueSource = IdKind | "email" | "network" | "token";

/** The values of an argument or a flag, which shells complete and messages about a wrong value suggest. */
interface TakenValue {
  /** By default from the name: an argument `walletId` and a flag `--wallet-id` take wallets. */
  readonly takes?: readonly ValueSource[];
  /** All values, if they are few. */
  readonly choices?: readonly string[];
  /** The value is a list of choices, with commas between them. */
  readonly isList?: true;
  /** The field of the API in which the value is sent, if its name differs: messages then name the flag instead. */
  readonly field?: string;
}

/** A positional argument: `<organizationId>` in `till org approve <organizationId>`. */
export interface CommandArgument extends TakenValue {
  readonly name: string;
  readonly description: string;
  readonly isOptional?: true;
  /** Allowed on the last argument: takes all remaining words, joined by spaces. */
  readonly isMany?: true;
  /** Names an organization by its id or name; the command gets the id. */
  readonly isOrganization?: true;
}

export interface CommandFlag extends TakenValue {
  /** Syntax as the argument parser takes it: `--name <text>`, or `--drop` for a flag without a value. */
  readonly flags: string;
  readonly description: string;
  /** Prompt shown at a terminal if the flag is missing. Without a terminal, a missing flag is an error. */
  readonly ask?: string;
  /** The command needs an organization: without the flag, the one of TILL_ORGANIZATION or the only one of the store. */
  readonly isNeededOrganization?: true;
  /** With `isNeededOrganization`: whether a call needs one. */
  readonly isNeededIf?: (call: Pick<CommandCall, "flag" | "optionalArgument">) => boolean;
}

/** A value that a column shows: null as a dash, a boolean as yes or no, a list with commas. */
export type CellValue = string | number | boolean | null | readonly string[];

/** The fields of a record that a column can show. */
type Field<Item> = {
  [Name in keyof Item]: Item[Name] extends CellValue ? Name : never;
}[keyof Item] &
  string;

/** A field, or an amount followed by its unit: `amount tokenSymbol`. */
type Shown<Item> =
  | Field<Item>
  | `${Field<Item>} ${Field<Item> & ("currency" | "settlementCurrency" | "tokenSymbol")}`;

/**
 * One column of the output for people; scripts get the whole record as JSON. A column names a field, from whose name
 * the title is derived, or gives its own title. Titles are in sentence case; the head of a table is in capitals.
 */
export type Column<Item> =
  | Shown<Item>
  | readonly [shown: Shown<Item>, title: string]
  | ComputedColumn<Item>
  | Bar<Item>;

interface ComputedColumn<Item> {
  readonly title: string;
  readonly value: (item: Item) => CellValue;
}

/** Draws a field, which must be a decimal number, as a bar. The longest bar is the list's largest number. */
interface Bar<Item> {
  readonly bar: Field<Item>;
}

/** A column with its types erased, as the command line reads it. */
export type AnyColumn =
  | string
  | readonly [shown: string, title: string]
  | ComputedColumn<never>
  | { readonly bar: string };

/** A list within a record, printed below the record's own lines. */
export interface Section {
  readonly title: string;
  /** Decimal numbers in chronological order, drawn as a one-line chart. */
  readonly trend?: readonly string[];
  readonly items: readonly unknown[];
  readonly columns: readonly AnyColumn[];
}

/** The text and lists that people see of a result in place of its records. */
export interface Summary {
  readonly text: string;
  readonly sections: readonly Section[];
}

/** Declares a section and erases the type of its items. */
export function section<Item>(declared: {
  readonly title: string;
  readonly trend?: readonly string[];
  readonly items: readonly Item[];
  readonly columns: readonly Column<NoInfer<Item>>[];
}): Section {
  return declared;
}

/** The user pressed Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
}

/** The parsed command line. */
export interface CommandCall {
  readonly context: WriteContext;
  /** Returns a required argument. */
  argument(name: string): string;
  /** Returns an optional argument. */
  optionalArgument(name: string): string | undefined;
  /** Returns the value of a flag, by its name without dashes; undefined if it was not given. */
  flag(name: string): string | undefined;
  /** Returns the organization of --organization in words, with its id and status, for `Looked.subject`. */
  organization(): string;
  /** Whether a flag without a value was given. */
  isSet(name: string): boolean;
  /** Returns the new password that the user entered; only for commands that declare `password`. */
  password(): string;
  /** Reads a text file, or standard input if the path is `-`. */
  readText(path: string): Promise<string>;
  /** Reads any file, or standard input if the path is `-`. */
  readFile(path: string): Promise<Buffer>;
  /**
   * Writes a file, which appears under its name completely or not at all. Replaces another one only with --yes. The path
   * `-` is standard output, which then gets no record.
   */
  writeFile(path: string, text: string): Promise<void>;
  /**
   * Awaits one of several writes of a command. In a dry run, the write is rolled back and its result returned; a command
   * with a single write does not need this.
   */
  attempt<T>(write: Promise<T>): Promise<T>;
  /**
   * Runs work of several steps that asks before each step whether Ctrl-C was pressed, so that it can end with what it
   * has done. A second Ctrl-C ends the program.
   */
  interruptible<T>(work: (isInterrupted: () => boolean) => Promise<T>): Promise<T>;
  /** Shows how far a long work is, if somebody watches at a terminal. */
  readonly progress: Progress;
  /** Parses input by the same schema as the API; a problem names every wrong flag. */
  parse<S extends z.ZodType>(schema: S, input: unknown): z.output<S>;
}

/** The change of one value: its title, the value before and the value after. */
export type Change = readonly [title: string, before: CellValue, after: CellValue];

/** The subject of a write, as it is read before the question and before the write. */
export interface Looked<Shown = never> {
  /** Name, id and state in words: `Nook (org_01h…), pending_review`. */
  readonly subject: string;
  /** Further values that a person needs for the decision. Null values are not shown. */
  readonly facts?: readonly (readonly [title: string, value: CellValue])[];
  /** The record before the write; its columns are compared with those of the result. Absent if the write creates it. */
  readonly before?: ItemOf<Shown>;
  /** The changes, if the columns of the result do not show them. Without both, a question comes without a trial. */
  readonly changes?: (after: Shown) => readonly Change[];
  /**
   * The ids of the objects that the subject counts, of which others may appear at any time: `handle` must take no other
   * one. If there are none, the call changes nothing and needs no question.
   */
  readonly ids?: ReadonlySet<string>;
  /** Version of the subject, for `handle` to refuse a write of which the question described an earlier version. */
  readonly version?: number;
  /** The command that shows the subject again. */
  readonly again?: string;
}

/** Somebody at a terminal. */
export interface Person {
  /** Shows text beside the command's data. */
  say(text: string): void;
  /** Asks for one of several answers; returns its value. */
  choose<T extends string>(
    question: string,
    choices: readonly { readonly name: string; readonly value: T }[],
  ): Promise<T>;
}

interface CommandDeclaration<Result, Shown> {
  /** The words after `till`: `org approve`. */
  readonly name: string;
  readonly summary: string;
  readonly arguments?: readonly CommandArgument[];
  readonly flags?: readonly CommandFlag[];
  /** Two or more command lines, as a user would type them. */
  readonly examples: readonly [string, string, ...string[]];
  /**
   * A `write` supports --dry-run; a `write-without-trial` does not, because its result contains a secret or depends on
   * more than the store.
   */
  readonly effect: "read" | "write" | "write-without-trial";
  /**
   * Reads what the write is about. Runs before the question, so that nobody is asked about something unknown, and
   * before a dry run, which then shows the values before and after. Follows `present` in declarations with `changes`.
   */
  readonly look?: (
    app: App,
    call: CommandCall,
  ) => Looked<NoInfer<Shown>> | Promise<Looked<NoInfer<Shown>>>;
  /** Prompt for a new password, which can also come from a file or standard input. */
  readonly password?: string;
  /** `looked` is what the question described; null if there was none. */
  readonly handle: (app: App, call: CommandCall, looked: Looked<Shown> | null) => Promise<Result>;
  /** Converts the result to the API's record. */
  readonly present: (result: Result) => Shown | Promise<Shown>;
  /** Columns of the output for people: one line per column or, for a list, one line per item. */
  readonly columns: readonly Column<ItemOf<Shown>>[];
  /** Lists within the record, printed below its lines. */
  readonly sections?: (shown: Shown) => readonly Section[];
  /** Returns the summary that people see in place of many records; null to show the records, as --json and --quiet always do. */
  readonly summarize?: (result: Result, call: CommandCall, isTrial: boolean) => Summary | null;
  /** The text that --quiet prints for a record without `id`. */
  readonly identify?: (item: ItemOf<Shown>) => string;
  /** The text that a QR code shows to somebody beside the terminal; null for none. Only for a single record. */
  readonly code?: (shown: Shown) => string | null;
  /** Continues with a person at a terminal after the output; not with --json, --quiet, --list or in a pipe. */
  readonly interact?: (app: App, call: CommandCall, shown: Shown, person: Person) => Promise<void>;
  /** Allows --watch, which repeats the command. */
  readonly isWatched?: true;
  /** The result is a `CsvContent`, which is printed while it is read; the flag `output` names a file for it. */
  readonly isCsv?: true;
  /** Hint printed afterwards: the next command to run. */
  readonly next?: (shown: Shown, call: CommandCall) => string;
  /** Returns a warning that is printed to standard error after the output, in every form; null for none. */
  readonly warning?: (result: Result, app: App) => string | null | Promise<string | null>;
  /** Returns the problem with which the program exits if the printed result reports a failure; null otherwise. */
  readonly fault?: (shown: Shown, result: Result) => Error | null | Promise<Error | null>;
}

/** A command that asks before it acts: it must look first. */
interface Asking {
  readonly look: unknown;
  /**
   * Confirmation question for actions that affect money or access; null if this call needs none. The subject is that of
   * `look`, and empty while it is only asked whether there is a question.
   */
  readonly confirm: (call: CommandCall, subject: string) => string | null;
}

/** The items of a list's record, or the record itself. */
type ItemOf<Shown> = Shown extends { readonly data: readonly (infer Item)[] } ? Item : Shown;

/** A declared command with its types erased, as the command line reads it. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  readonly arguments: readonly CommandArgument[];
  readonly flags: readonly CommandFlag[];
  readonly examples: readonly string[];
  readonly effect: "read" | "write" | "write-without-trial";
  readonly look: ((app: App, call: CommandCall) => Looked | Promise<Looked>) | null;
  readonly confirm: ((call: CommandCall, subject: string) => string | null) | null;
  readonly password: string | null;
  readonly handle: (app: App, call: CommandCall, looked: Looked | null) => Promise<unknown>;
  readonly present: (result: unknown) => unknown;
  readonly columns: readonly AnyColumn[];
  readonly sections: ((shown: unknown) => readonly Section[]) | null;
  readonly summarize:
    | ((result: unknown, call: CommandCall, isTrial: boolean) => Summary | null)
    | null;
  readonly identify: ((item: unknown) => string) | null;
  readonly code: ((shown: unknown) => string | null) | null;
  readonly interact:
    | ((app: App, call: CommandCall, shown: unknown, person: Person) => Promise<void>)
    | null;
  readonly isWatched: boolean;
  readonly isCsv: boolean;
  readonly next: ((shown: unknown, call: CommandCall) => string) | null;
  readonly warning: ((result: unknown, app: App) => string | null | Promise<string | null>) | null;
  readonly fault:
    | ((shown: unknown, result: unknown) => Error | null | Promise<Error | null>)
    | null;
}

/** The parts of a flag that its declaration has in place of the words and the form that the field's schema gives. */
export interface OwnFlag extends Pick<
  CommandFlag & CommandArgument,
  "choices" | "isList" | "takes" | "isNeededIf" | "isMany"
> {
  /** Without dashes; by default the field's name. */
  readonly name?: string;
  readonly placeholder?: string;
  readonly description?: string;
  /** The prompt for a value, which then must be given; by default the description of one that the schema needs. */
  readonly ask?: string;
  /** The command always sends this value, and has no flag. */
  readonly value?: unknown;
  /** The value is an argument of the command instead, after those of the path. */
  readonly isArgument?: true;
  /** Returns the field's value from the text at the terminal, such as the content of a file. */
  readonly read?: (
    text: string,
    call: CommandCall,
    app: App,
    organizationId: Id<"organization"> | undefined,
  ) => unknown;
  /** A flag without a value that gives the field `value`: `--drop-logo`. */
  readonly alternative?: {
    readonly name: string;
    readonly description: string;
    readonly value: unknown;
  };
}

/**
 * The command line of an operation. Its arguments, flags and effect, the call and the record come from the operation:
 * `organizationId` is --organization, the other parameters of the path are arguments, and the fields of the query and
 * the body are flags, of which those that must be given are prompted for. A PATCH needs at least one of its flags.
 */
export type CommandLine<Result, Shown, Field extends string = string> = Pick<
  CommandDeclaration<Result, Shown>,
  | "name"
  | "examples"
  | "columns"
  | "sections"
  | "summarize"
  | "identify"
  | "code"
  | "interact"
  | "isWatched"
  | "next"
  | "warning"
  | "fault"
> & {
  /** By default that of the operation. */
  readonly summary?: string;
  /**
   * How the path's organization is given, if not by --organization or TILL_ORGANIZATION: as the first argument, or by
   * the object that the path names last, or the first argument if it names none. If it is `stated`, --organization may name the object's organization.
   */
  readonly organization?: "argument" | "found" | "stated";
  /** The fields of the query and the body that the command gives; by default all. */
  readonly fields?: readonly Field[];
  /** Parts of flags in place of the schemas' words, by field; null: the command does not have the flag. */
  readonly flags?: { readonly [Name in Field]?: OwnFlag | null };
  /** The subject of a write: see `Command`. */
  readonly look?: NonNullable<CommandDeclaration<Result, Shown>["look"]>;
} & (Asking | { readonly confirm?: undefined });

/** A declared command line with its types erased. */
export type DeclaredCommandLine = CommandLine<unknown, unknown>;

/** Declares a command. */
export function command<Result, Shown>(
  declared: CommandDeclaration<Result, Shown> & (Asking | { readonly confirm?: undefined }),
): Command {
  return Object.freeze({
    ...declared,
    arguments: declared.arguments ?? [],
    flags: declared.flags ?? [],
    isWatched: declared.isWatched ?? false,
    // The program passes the result of `look` only to this command's `handle`.
    look: (declared.look ?? null) as Command["look"],
    handle: declared.handle as Command["handle"],
    isCsv: declared.isCsv ?? false,
    confirm: declared.confirm ?? null,
    password: declared.password ?? null,
    // The program passes the result of `handle` to `present`, and that of `present` to the columns.
    present: declared.present as Command["present"],
    sections: (declared.sections ?? null) as Command["sections"],
    summarize: (declared.summarize ?? null) as Command["summarize"],
    identify: (declared.identify ?? null) as Command["identify"],
    interact: (declared.interact ?? null) as Command["interact"],
    code: (declared.code ?? null) as Command["code"],
    next: (declared.next ?? null) as Command["next"],
    warning: (declared.warning ?? null) as Command["warning"],
    fault: (declared.fault ?? null) as Command["fault"],
  });
}

/** The flags of every list command. */
export const pageFlags: readonly CommandFlag[] = [
  { flags: "--limit <number>", description: "number of items to show, 1 to 100 (default 20)" },
  { flags: "--cursor <text>", description: "continue after the previous list: its nextCursor" },
];

/** An organization as an argument. */
export const organizationArgument: CommandArgument = {
  name: "organizationId",
  description: "an organization's id, or its name",
  isOrganization: true,
};

/** Selects an organization. The command gets its id; an unknown or ambiguous name ends it. */
const organizationFlag: CommandFlag = {
  flags: "--organization <id|name>",
  description: "an organization's id, or its name",
  takes: ["organization"],
  field: "organizationId",
};

/**
 * For an operator's command about all organizations. It ignores TILL_ORGANIZATION, or an operator who has set it would
 * take a part for the whole.
 */
export const anyOrganization: CommandFlag = {
  ...organizationFlag,
  description: "only this one, by its id or name (default: all, whatever TILL_ORGANIZATION names)",
};

/** For a command whose meaning an organization changes. It ignores TILL_ORGANIZATION. */
export const statedOrganization: CommandFlag = {
  ...organizationFlag,
  description: "its id or name (default: none, whatever TILL_ORGANIZATION names)",
};

/** For an operator's decision about which the audit log says why. */
export const neededReason: CommandFlag = {
  flags: "--reason <text>",
  description: "why, for the audit log",
  ask: "The reason, for the audit log",
};

/** Returns the reason of a decision. Throws InvalidRequest if it has no visible characters, or several lines. */
export async function reasonOf(call: CommandCall): Promise<string> {
  const { DecisionReason } = await import("./record.ts");
  return call.parse(DecisionReason, { reason: call.flag("reason") }).reason;
}

/** For a command that works on one organization. */
export const neededOrganization: CommandFlag = {
  ...organizationFlag,
  description: "its id or name (default: TILL_ORGANIZATION, or the only organization)",
  isNeededOrganization: true,
};
