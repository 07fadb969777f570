import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  parseDocument,
  Parser,
  visit,
  type Document,
} from "yaml";
import type { z } from "zod";
import { suggestion } from "./did-you-mean.ts";
import { moreProblems, problemsMax, type FileProblem } from "../config.ts";

export type ParsedFile<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly FileProblem[] };

/** Reports a problem at an entry. The message continues its name: `must be …`. */
export type Report = (path: readonly (string | number)[], message: string) => void;

/** The entries of a YAML file, or the mistakes that leave it without any. */
interface ReadFile {
  readonly entries: unknown;
  readonly mistakes: readonly {
    readonly message: string;
    readonly line: number;
    /** Null if the file is faulty as a whole. */
    readonly column: number | null;
  }[];
  /** Returns the line of an entry, or of the nearest one that contains it if the entry is missing. */
  readonly lineOf: (path: readonly (string | number)[]) => number;
}

/**
 * How deep entries may be nested; those of Till's files are at most ten deep. The package makes entries by recursion, and
 * V8 ends the process if it compiles a regular expression near the end of the stack.
 */
const depthMax = 100;

/** Returns true if entries are nested too deeply to be read. */
function isTooDeep(text: string): boolean {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    Array.from(parser.next(lexeme));
    if (parser.stack.length > depthMax) return true;
  }
  return false;
}

/** Reads the text of a YAML file. An empty file is an empty mapping. */
export function readYaml(text: string): ReadFile {
  if (isTooDeep(text)) {
    const message = `is nested more than ${String(depthMax)} levels deep`;
    return { entries: undefined, mistakes: [{ message, line: 1, column: null }], lineOf: () => 1 };
  }
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    // The package compares each key with all others, which takes most of a minute for a large mapping.
    uniqueKeys: false,
  });
  const found: Found[] = document.errors.map(({ code, pos, message }) => ({
    offset: pos[0],
    message: `is not valid YAML: ${message}${code === "BLOCK_AS_IMPLICIT_KEY" ? '; a text with ": " must be in quotes' : ""}`,
  }));
  let entries: unknown;
  try {
    if (found.length === 0) found.push(...findMistakes(document));
    if (found.length === 0) entries = document.toJS() ?? {};
  } catch (error) {
    found.push({ offset: null, message: wordFailure(error) });
  }
  const mistakes = found.map(({ offset, message }) => {
    if (offset === null) return { message, line: 1, column: null };
    const { line, col: column } = lines.linePos(offset);
    return { message, line, column };
  });
  function lineOf(path: readonly (string | number)[]): number {
    for (let depth = path.length; depth > 0; depth -= 1) {
      const node = document.getIn(path.slice(0, depth), true);
      if (isNode(node) && node.range != null) return lines.linePos(node.range[0]).line;
    }
    return 1;
  }
  return { entries, mistakes, lineOf };
}

/** A mistake at a place of the text, or of the whole. */
interface Found {
  readonly offset: number | null;
  readonly message: string;
}

/** Returns the entries that a mapping has twice, and the aliases of nothing, in the order of the text. */
function findMistakes(document: Document): readonly Found[] {
  const found: Found[] = [];
  const anchors = new Set<string>();
  visit(document, (_key, node) => {
    if (isAlias(node) && !anchors.has(node.source)) {
      const { range, source } = node;
      const message = `uses the alias *${source}, but nothing before it is named &${source}: a text that begins with * must be in quotes`;
      found.push({ offset: range?.[0] ?? null, message });
    }
    if ((isScalar(node) || isCollection(node)) && node.anchor !== undefined) {
      anchors.add(node.anchor);
    }
    if (!isMap(node)) return;
    const keys = new Set<unknown>();
    for (const { key } of node.items) {
      const name = isScalar(key) ? key.value : key;
      if (keys.has(name)) {
        const offset = isNode(key) ? (key.range?.[0] ?? null) : null;
        found.push({ offset, message: "is not valid YAML: Map keys must be unique" });
      }
      keys.add(name);
    }
  });
  return found;
}

/** Says why entries cannot be made of a valid text. */
function wordFailure(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  return error.message.startsWith("Excessive alias count")
    ? "uses too many YAML aliases"
    : `is not valid YAML: ${error.message}`;
}

/**
 * Parses the text of a YAML file by a schema and reports its problems at once, up to `problemsMax` of them. `read` makes
 * the result of what the schema accepts, and reports what a schema cannot express; it also reads a file whose only
 * problem for the schema are unknown entries.
 */
export function parseYaml<S extends z.ZodType, T>(
  text: string,
  schema: S,
  read: (parsed: z.output<S>, report: Report) => T,
): ParsedFile<T> {
  const { entries, mistakes, lineOf } = readYaml(text);
  const problems: FileProblem[] = [];
  let count = 0;
  /** Adds a problem, which is worked out only if it is one of those that are listed. */
  function add(problemOf: () => FileProblem): void {
    if (count < problemsMax) problems.push(problemOf());
    count += 1;
  }
  function faulty(): ParsedFile<never> {
    const more = moreProblems(count);
    return {
      ok: false,
      problems: problems.concat(more.map((message) => ({ path: "", line: 1, message }))),
    };
  }
  const reportLater = (path: readonly (string | number)[], messageOf: () => string) => {
    add(() => ({ path: path.join("."), line: lineOf(path), message: messageOf() }));
  };
  const report: Report = (path, message) => {
    reportLater(path, () => message);
  };
  for (const { line, message } of mistakes) add(() => ({ path: "", line, message }));
  if (count > 0) return faulty();
  let parsed = schema.safeParse(entries, { error: messageOf });
  if (!parsed.success) {
    const { issues } = parsed.error;
    for (const issue of issues) reportIssue(issue, reportLater);
    for (const issue of issues) {
      if (issue.code !== "unrecognized_keys") return faulty();
      let holder = entries as Record<PropertyKey, unknown>;
      for (const step of issue.path) holder = holder[step] as typeof holder;
      for (const key of issue.keys) Reflect.deleteProperty(holder, key);
    }
    parsed = schema.safeParse(entries);
    if (!parsed.success) return faulty();
  }
  const value = read(parsed.data, report);
  return count > 0 ? faulty() : { ok: true, value };
}

type Issue = z.core.$ZodIssue;

function reportIssue(
  issue: Issue,
  report: (path: readonly (string | number)[], messageOf: () => string) => void,
): void {
  const path = issue.path.map((each) => (typeof each === "symbol" ? String(each) : each));
  if (issue.code === "unrecognized_keys") {
    const known = JSON.parse(issue.message) as string[];
    for (const key of issue.keys) {
      report([...path, key], () => `is not a known entry${suggestion(key, known)}`);
    }
  } else {
    const message = issue.code === "invalid_key" ? issue.issues[0]?.message : undefined;
    report(path, () => message ?? issue.message);
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
