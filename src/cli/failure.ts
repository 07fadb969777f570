import { notFound, Problem, type FieldPlace } from "../kernel/errors.ts";
import { exitCodes, outcomeOf, type Outcome } from "./exit-codes.ts";
import { UsageError } from "./refusals.ts";
import { printable, type Terminal } from "./terminal.ts";

/** A command that did not come to its end: how it is told, and what the program ends with. */
interface Failure {
  readonly outcome: Outcome;
  readonly code: string;
  readonly status: number;
  readonly title: string;
  /** Why, and what to do next. */
  readonly detail: string;
  readonly errors: Problem["errors"] | readonly SettingError[];
}

/** A wrong setting, by the name under which it was given. */
interface SettingError {
  readonly setting: string;
  readonly code: "wrong_setting";
  readonly message: string;
}

/** Tells what went wrong on standard error, and gives the exit code. */
export function tellFailure(error: unknown, terminal: Terminal): number {
  const { form, isVerbose, requestId, surroundings } = terminal;
  const { stderr } = surroundings;
  const failure = understand(isParserError(error) ? asUsageError(error) : error);
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
  return error instanceof Error && error.name === "CommanderError";
}

/** The words of the parser of arguments, which begin with "error: " and end without a full stop. */
function asUsageError(error: Error & { readonly code: string }): Error {
  if (error.code === "commander.help") return new UsageError("Name a command: those above.");
  const [first = "", ...suggestions] = error.message.replace(/^error: /, "").split("\n");
  const sentence = first.charAt(0).toUpperCase() + first.slice(1);
  return new UsageError([`${sentence}.`, ...suggestions].join(" "));
}

function textOf({ outcome, title, detail }: Failure): string {
  if (outcome === "declined" || outcome === "settings") return detail;
  return `${title}. ${detail}`;
}

function understand(error: unknown): Failure {
  if (error instanceof Problem) return understandProblem(error);
  const { name, message, code } = describe(error);
  const none = { errors: [] };
  switch (name) {
    case "ConfigError":
      return {
        ...{ outcome: "settings", code: "wrong_settings", status: 500 },
        ...{ title: "Settings are wrong", detail: message, errors: problemsOf(error) },
      };
    case "Declined":
      return { ...none, ...declined, detail: message };
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
    ...{ outcome: "failed", code: "internal_error", status: 500 },
    title: "Something went wrong inside Till",
    detail: `${message} (run the command again with --verbose to see where)`,
  };
}

const declined = { outcome: "declined", code: "declined", status: 500, title: "Declined" } as const;

/** What the operating system refuses, by its own names. */
const systemErrors: Readonly<Record<string, readonly [Outcome, string]>> = {
  EACCES: ["notAllowed", "The operating system does not allow it"],
  EPERM: ["notAllowed", "The operating system does not allow it"],
  EROFS: ["notAllowed", "The disk is read-only"],
  ENOSPC: ["failed", "The disk is full"],
  EDQUOT: ["failed", "The disk's quota is used up"],
  EMFILE: ["failed", "Too many files are open"],
  ENOTDIR: ["failed", "A folder was expected where there is none"],
};

function understandProblem(problem: Problem): Failure {
  const { code, status, title, errors } = problem;
  const shared = { outcome: outcomeOf(problem), code, status, title, errors };
  // What says itself what is not there is repeated; the words for an id are those of the API, which knows credentials.
  if (code === "not_found" && problem.message === notFound().message) {
    return {
      ...shared,
      detail: "The store has nothing with this id. Check it: ids are case-sensitive.",
    };
  }
  if (code === "invalid_request" && errors.length > 0) {
    const lines = errors.map((error) => `  ${flagOf(error)} ${error.message}`);
    const title = errors.length === 1 ? "A value is wrong" : "Some values are wrong";
    return { ...shared, title, detail: `Correct and try again:\n${lines.join("\n")}` };
  }
  return { ...shared, detail: problem.message };
}

/** The flag of a body's field or of a query parameter: /expiresAt → --expires-at */
function flagOf({ pointer, parameter }: FieldPlace): string {
  const name = parameter ?? pointer?.split("/")[1] ?? "";
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** ConfigError by its name, so that telling of a failure does not load the settings. */
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
