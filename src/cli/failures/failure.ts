import type { Command as Program } from "commander";
import { notFound, Problem } from "../../kernel/errors.ts";
import { exitCodes, exitReasonOf, type ExitReason } from "./exit-codes.ts";
import { UsageError } from "./refusals.ts";
import { fieldOf, inWordsOf, nameOf, wordOf } from "./words.ts";
import { printable, type Terminal } from "../terminal/terminal.ts";

/** A failed command as it is reported. */
interface Failure {
  readonly outcome: ExitReason;
  readonly code: string;
  readonly status: number;
  readonly title: string;
  /** Cause and remedy. */
  readonly detail: string;
  readonly errors: Problem["errors"] | readonly SettingError[];
}

/** An invalid setting, under the name with which it was given. */
interface SettingError {
  readonly setting: string;
  readonly code: "wrong_setting";
  readonly message: string;
}

/**
 * Reports a failure on standard error and returns the exit code.
 * @param command the command that failed, in whose words the fields of the API are named, or the noun that has no such verb; null
 * if none was recognized
 */
export function printError(error: unknown, terminal: Terminal, command: Program | null): number {
  const { form, isVerbose, requestId, surroundings } = terminal;
  const { stderr } = surroundings;
  const failure = understand(isParserError(error) ? asUsageError(error, command) : error, command);
  const { outcome, code, status, title, detail, errors } = failure;
  if (form === "json") {
    const type = `/docs/problems#${code}`;
    const document = { type, title, status, detail, code, requestId, errors };
    stderr.write(`${JSON.stringify(document)}\n`);
  } else {
    stderr.write(`${printable(textOf(failure))}\n`);
    if (isVerbose && error instanceof Error) stderr.write(`${printable(error.stack ?? "")}\n`);
  }
  return exitCodes[outcome].code;
}

function isParserError(error: unknown): error is Error & { readonly code: string } {
  if (!(error instanceof Error) || !("code" in error)) return false;
  // A bundle may rename the class.
  return typeof error.code === "string" && error.code.startsWith("commander.");
}

/** Converts an error of the argument parser, which starts with "error: " and has no full stop. */
function asUsageError(error: Error & { readonly code: string }, noun: Program | null): Error {
  if (error.code === "commander.help") return new UsageError("Give one of the commands above.");
  if (error.code === "commander.excessArguments" && noun !== null) {
    return new UsageError(tooMany(noun));
  }
  const [first = "", ...suggestions] = error.message.replace(/^error: /, "").split("\n");
  const sentence = first.charAt(0).toUpperCase() + first.slice(1);
  if (error.code === "commander.unknownCommand" && suggestions.length === 0) {
    const words = noun === null || noun.parent === null ? "till" : `till ${noun.name()}`;
    suggestions.push(`${words} --help lists the commands.`);
  }
  return new UsageError([`${sentence}.`, ...suggestions].join(" "));
}

/** Names the first argument that a command does not take, which is often the second word of an unquoted value. */
function tooMany(command: Program): string {
  const { parent, args, registeredArguments } = command;
  const words = parent?.parent == null ? command.name() : `${parent.name()} ${command.name()}`;
  const taken = registeredArguments.map(nameOf).join(" ") || "no arguments";
  const extra = args[registeredArguments.length] ?? "";
  return `Too many arguments: till ${words} takes ${taken}, and "${extra}" is one more. Put a value with spaces in quotes.`;
}

function textOf({ outcome, code, title, detail }: Failure): string {
  if (outcome === "declined" || outcome === "settings" || code === "usage") return detail;
  return `${title}. ${detail}`;
}

function understand(error: unknown, command: Program | null): Failure {
  if (error instanceof Problem) return understandProblem(error, command);
  const { name, message, code } = describe(error);
  const none = { errors: [] };
  switch (name) {
    case "ConfigError":
      return {
        outcome: "settings",
        code: "wrong_settings",
        status: 500,
        title: "Invalid settings",
        detail: message,
        errors: problemsOf(error),
      };
    case "Declined":
      return { ...none, ...declined, detail: message };
    case "Interrupted":
      return { ...none, ...interrupted, detail: message };
    case "ExitPromptError":
      return { ...none, ...declined, outcome: "interrupted", detail: "Interrupted." };
  }
  const known = systemErrors[code];
  if (known !== undefined) {
    const [outcome, title] = known;
    return { ...none, outcome, code: code.toLowerCase(), status: 500, title, detail: message };
  }
  return {
    ...none,
    outcome: "failed",
    code: "internal_error",
    status: 500,
    title: "Something went wrong inside Till",
    detail: `${message} (run the command again with --verbose for the stack trace)`,
  };
}

const interrupted = {
  outcome: "interrupted",
  code: "interrupted",
  status: 500,
  title: "Interrupted",
} as const;
const declined = { outcome: "declined", code: "declined", status: 500, title: "Declined" } as const;

/** Error codes of the operating system. */
const systemErrors: Readonly<Record<string, readonly [ExitReason, string]>> = {
  EACCES: ["notAllowed", "Permission denied by the operating system"],
  EPERM: ["notAllowed", "Permission denied by the operating system"],
  EROFS: ["notAllowed", "The disk is read-only"],
  ENOSPC: ["failed", "The disk is full"],
  EDQUOT: ["failed", "The disk's quota is used up"],
  EMFILE: ["failed", "Too many files are open"],
  ENOTDIR: ["failed", "Part of the path is not a folder"],
};

function understandProblem(problem: Problem, command: Program | null): Failure {
  const { code, status, title } = problem;
  const inWords = (text: string) => (command === null ? text : inWordsOf(command, text));
  const errors = problem.errors.map((one) => ({ ...one, message: inWords(one.message) }));
  const shared = { outcome: exitReasonOf(problem), code, status, title, errors };
  // Repeats errors that already name what is missing. Rewords the API's generic 404, which mentions credentials.
  if (code === "not_found" && problem.message === notFound().message) {
    return {
      ...shared,
      detail: "Nothing in the store has this id. Check it; ids are case-sensitive.",
    };
  }
  if (code === "invalid_request" && errors.length > 0) {
    const lines = linesOf(errors, command).map((line) => `  ${line}`);
    const title = errors.length === 1 ? "Invalid value" : "Invalid values";
    return { ...shared, title, detail: `Correct the input and try again:\n${lines.join("\n")}` };
  }
  return { ...shared, detail: inWords(problem.message) };
}

/** Returns a line for each message: the flags that it is about, and the message. */
function linesOf(errors: Problem["errors"], command: Program | null): string[] {
  const wordsOf = (field: string) => (command === null ? null : wordOf(command, field)) ?? field;
  const about = new Map<string, string[]>();
  for (const error of errors) {
    about.set(error.message, [...(about.get(error.message) ?? []), fieldOf(error)]);
  }
  return Array.from(about, ([message, fields]) => {
    const named = fields.map(wordsOf);
    if (fields.length === 1) return `${named.join("")} ${message}`;
    // A message about several fields names them: "give either address or xpub".
    const words = message.replaceAll(/\w+/g, (word) =>
      fields.includes(word) ? wordsOf(word) : word,
    );
    return `${named.join(", ")}: ${words}`;
  });
}

/** Reads a ConfigError by its shape, so that this module need not load the settings. */
function problemsOf(error: unknown): readonly SettingError[] {
  const { problems } = error as {
    readonly problems: readonly { readonly name: string; readonly message: string }[];
  };
  return problems.map(({ name, message }) => ({ setting: name, code: "wrong_setting", message }));
}

function describe(error: unknown): { name: string; message: string; code: string } {
  if (!(error instanceof Error)) return { name: "", message: String(error), code: "" };
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return { name: error.name, message: error.message, code };
}
