import { printable } from "../terminal/terminal.ts";

/** The quote that is open at the cursor, if any. */
export type Quote = "" | "'" | '"';

/** A line up to the cursor, as a shell takes it apart. */
interface ShellLine {
  /** The words before the one at the cursor, without their quotes. */
  readonly words: readonly string[];
  /** The word at the cursor, without its quotes. */
  readonly current: string;
  readonly quote: Quote;
  /**
   * The part of the word that a completion of Bash leaves in place, without its quotes: everything up to the last
   * character at which Bash breaks words, such as the `=` in `--status=open`. Null if the word has a part that Bash
   * expands, or a quoted part that was closed: its own rules for them are too many.
   */
  readonly prefix: string | null;
}

/** Takes apart one command of a POSIX shell, without expanding anything. */
export function readLine(line: string, breaks: string): ShellLine {
  const words: string[] = [];
  let current: string | null = null;
  let prefix: string | null = "";
  let quote: Quote = "";
  for (let index = 0; index < line.length; index += 1) {
    const letter = line.charAt(index);
    const next = line.charAt(index + 1);
    if (quote === "" && /\s/.test(letter)) {
      if (current !== null) words.push(current);
      [current, prefix] = [null, ""];
      continue;
    }
    current ??= "";
    if (letter === quote) {
      [quote, prefix] = ["", null];
    } else if (quote === "" && (letter === "'" || letter === '"')) {
      quote = letter;
      if (prefix !== null) prefix = current;
    } else if (letter === "\\" && quote !== "'" && isEscaped(quote, next)) {
      current += next;
      index += 1;
    } else {
      current += letter;
      if (quote !== "'" && (letter === "$" || letter === "`")) prefix = null;
      // Bash breaks words at "@" too, but replaces it with what follows.
      const before = letter === "@" ? current.slice(0, -1) : current;
      if (quote === "" && breaks.includes(letter) && prefix !== null) prefix = before;
    }
  }
  return { words, current: current ?? "", quote, prefix };
}

/** Within double quotes, a backslash stands before few letters only. */
function isEscaped(quote: Quote, next: string): boolean {
  return quote === "" || '$`"\\'.includes(next);
}

/**
 * Writes a value so that Bash takes every character as it is, within the quote that is open at the cursor. Null if it
 * cannot be written there.
 */
export function quoted(value: string, quote: Quote): string | null {
  switch (quote) {
    case "'":
      return value.replaceAll("'", "'\\''");
    case '"':
      // Bash replaces "!" by a former command even there, and keeps the backslash that would prevent it.
      return value.includes("!") ? null : value.replaceAll(/[$`"\\]/g, "\\$&");
    case "":
      return value.replaceAll(/[^\w\-.,/:=@%+\u0080-\u{10ffff}]/gu, "\\$&");
  }
}

/** Writes a value as a word of its own, for any POSIX shell. */
export function inQuotes(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

/** The characters of the longest value that is offered. */
const typableMax = 200;

/** Whether a value can be typed on one line of a terminal, and is shown as what it is. */
export function isTypable(value: string): boolean {
  const isVisible = printable(value) === value && !value.includes("\n") && value.trim() === value;
  return isVisible && value !== "" && !value.startsWith("-") && value.length <= typableMax;
}
