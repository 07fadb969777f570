import { isNode, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { suggestion } from "./did-you-mean.ts";

/** A problem in a file: its entry, such as `plans.growth.price` (empty: the whole file), its line, and what to do. */
export interface FileProblem {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

export type ParsedFile<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

/** Reports a problem at an entry. The message continues its name: `must be …`. */
export type Report = (path: readonly (string | number)[], message: string) => void;

/**
 * Parses the text of a YAML file by a schema and reports every problem at once. `read` makes the result of what the
 * schema accepts, and reports what a schema cannot express; it also reads a file whose only problem for the schema are
 * unknown entries.
 */
export function parseYaml<S extends z.ZodType, T>(
  text: string,
  schema: S,
  read: (parsed: z.output<S>, report: Report) => T,
): ParsedFile<T> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const problems: FileProblem[] = document.errors.map(({ code, pos, message }) => ({
    path: "",
    line: lines.linePos(pos[0]).line,
    message: `is not valid YAML: ${message}${code === "BLOCK_AS_IMPLICIT_KEY" ? '; a text with ": " must be in quotes' : ""}`,
  }));
  if (problems.length > 0) return { ok: false, problems };
  /** Returns the line of an entry, or of the nearest one that contains it if the entry is missing. */
  function lineOf(path: readonly (string | number)[]): number {
    for (let depth = path.length; depth > 0; depth -= 1) {
      const node = document.getIn(path.slice(0, depth), true);
      if (isNode(node) && node.range != null) return lines.linePos(node.range[0]).line;
    }
    return 1;
  }
  const report: Report = (path, message) =>
    problems.push({ path: path.join("."), line: lineOf(path), message });
  let entries: unknown;
  try {
    // An empty file is an empty mapping.
    entries = document.toJS() ?? {};
  } catch {
    report([], "uses too many YAML aliases");
    return { ok: false, problems };
  }
  let parsed = schema.safeParse(entries, { error: messageOf });
  if (!parsed.success) {
    const { issues } = parsed.error;
    for (const issue of issues) reportIssue(issue, report);
    for (const issue of issues) {
      if (issue.code !== "unrecognized_keys") return { ok: false, problems };
      let holder = entries as Record<PropertyKey, unknown>;
      for (const step of issue.path) holder = holder[step] as typeof holder;
      for (const key of issue.keys) Reflect.deleteProperty(holder, key);
    }
    parsed = schema.safeParse(entries);
    if (!parsed.success) return { ok: false, problems };
  }
  const value = read(parsed.data, report);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value };
}

type Issue = z.core.$ZodIssue;

function reportIssue(issue: Issue, report: Report): void {
  const path = issue.path.map((each) => (typeof each === "symbol" ? String(each) : each));
  if (issue.code === "unrecognized_keys") {
    const known = JSON.parse(issue.message) as string[];
    for (const key of issue.keys) {
      report([...path, key], `is not a known entry${suggestion(key, known)}`);
    }
  } else {
    const message = issue.code === "invalid_key" ? issue.issues[0]?.message : undefined;
    report(path, message ?? issue.message);
  }
}

/** Words the problems for which a schema has no message of its own; for an unknown entry, the known ones as JSON. */
function messageOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "unrecognized_keys":
      return JSON.stringify(knownKeys(issue.inst));
    case "invalid_type":
      return issue.input === undefined ? "is missing" : `must be ${kindOf(issue.expected)}`;
    case "too_small":
      return `must be at least ${String(issue.minimum)}${unitOf(issue.origin)}`;
    case "too_big":
      return `must be at most ${String(issue.maximum)}${unitOf(issue.origin)}`;
    case "invalid_value":
      return `must be ${issue.values.map(String).join(" or ")}`;
    default:
      return undefined;
  }
}

function knownKeys(schema: unknown): string[] {
  const { shape } = schema as { readonly shape?: object };
  return Object.keys(shape ?? {});
}

const kinds: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a mapping",
  record: "a mapping",
};

function kindOf(expected: string): string {
  return kinds[expected] ?? expected;
}

function unitOf(origin: string): string {
  if (origin === "string") return " characters";
  return origin === "array" ? " entries" : "";
}
