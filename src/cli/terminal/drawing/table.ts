import Table from "cli-table3";
import type { AnyColumn } from "../../../http/declare/command.ts";
import { day, hour, minute, second, type Instant } from "../../../kernel/clock.ts";
import { fieldOf, rawCellsOf, titleOf } from "../columns.ts";
import { drawBars } from "./sparkline.ts";
import { bold, breakWords, gap, longestWord, widthOf } from "./width.ts";

// Drawing for people at a terminal. It is loaded only if standard output is one.

/** The look of text on a terminal. */
export interface Style {
  /** Columns of the terminal. */
  readonly width: number;
  readonly hasColor: boolean;
  readonly now: Instant;
}

interface DrawnTable {
  readonly text: string;
  /** Titles of the columns for which there is no space. */
  readonly dropped: readonly string[];
}

/** Returns the columns of items as a terminal draws them. */
export function columnsOf(columns: readonly AnyColumn[], items: readonly unknown[]): TableColumn[] {
  return columns.map((column) => {
    const cells = rawCellsOf(column, items, ", ");
    const isBar = typeof column === "object" && "bar" in column;
    return {
      title: titleOf(column).toUpperCase(),
      kind: isBar ? "bar" : kindOf(fieldOf(column), cells),
      cells,
    };
  });
}

/** Returns the columns of a table that is given as text. */
export function columnsOfTexts(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): TableColumn[] {
  return head.map((title, index) => {
    const cells = rows.map((row) => row[index] ?? "");
    return { title, kind: kindOf(title.toLowerCase(), cells), cells };
  });
}

/**
 * Draws a table for a terminal: no line is wider than the terminal, and no id, amount or time is cut. If the terminal is
 * narrower than the first column, each row is drawn as a record.
 */
export function drawTable(columns: readonly TableColumn[], style: Style): DrawnTable {
  const { width, hasColor, now } = style;
  const drawn = columns.map((column) => ({
    ...column,
    cells: cellsFor(column, now),
    raw: column.cells,
  }));
  const fitted = fitTable(drawn, width);
  if (fitted === null) return { text: drawRecords(columns, style), dropped: [] };
  const blocks = fitted.columns.map(({ column: { cells, raw, title, kind }, width: own }) => {
    const shown = kind === "bar" ? drawBars(cells, own) : cells;
    const paint = (cell: string, index: number) =>
      kind === "status" && hasColor ? colored(cell, raw[index] ?? "") : cell;
    return [
      bold(hasColor)(breakWords(title, own)),
      ...shown.map((cell, index) => paint(breakWords(cell, own), index)),
    ];
  });
  const rows = (blocks[0] ?? []).map((_cell, index) => blocks.map((cells) => cells[index] ?? ""));
  const text = layOut(rows, {
    colWidths: fitted.columns.map(({ width: own, isNarrow }) => (isNarrow ? own : null)),
    colAligns: fitted.columns.map(({ column: { kind } }) =>
      kind === "amount" || kind === "number" ? "right" : "left",
    ),
  });
  return { text, dropped: fitted.dropped };
}

/** Draws each row of a table as a record, without its bars. */
function drawRecords(columns: readonly TableColumn[], style: Style): string {
  const shown = columns.filter(({ kind }) => kind !== "bar");
  return (columns[0]?.cells ?? [])
    .map((_cell, row) =>
      drawLines(
        shown.map(({ title, kind, cells }) => ({
          name: title,
          value: cells[row] ?? "",
          field: kind === "status" ? kind : "",
        })),
        style,
      ).join("\n"),
    )
    .join("\n\n");
}

/** Returns the cells of a column as a terminal shows them. Bars are drawn once their width is known. */
function cellsFor({ kind, cells }: TableColumn, now: Instant): readonly string[] {
  switch (kind) {
    case "time":
      return cells.map((cell) => (isTime(cell) ? relativeTime(cell, now) : cell));
    case "status":
      return cells.map(signed);
    case "amount":
    case "number":
      return alignDecimals(cells);
    default:
      return cells;
  }
}

/** A line of a single record: a name with its value. */
export interface RecordLine {
  readonly name: string;
  readonly value: string;
  /** The field that it shows; empty if it shows none. */
  readonly field: string;
}

/**
 * Draws the lines of a record for a terminal. Values are aligned and wrapped between words. A value with a word that is
 * too long for its place, such as a URL, stands on lines of its own.
 */
export function drawLines(lines: readonly RecordLine[], { width, hasColor, now }: Style): string[] {
  const names = Math.max(0, ...lines.map(({ name }) => widthOf(name)));
  const nameWidth = Math.min(names, Math.floor(width / 2));
  const valueWidth = width - nameWidth - gap;
  return lines.flatMap(({ name, value, field }) => {
    const isStatus = kindOf(field, []) === "status";
    const shown = isTime(value) ? timeWithDistance(value, now) : isStatus ? signed(value) : value;
    const title = bold(hasColor)(name);
    const paint = (text: string) => (isStatus && hasColor ? colored(text, value) : text);
    const isOwn = widthOf(name) > nameWidth || longestWord(shown) > valueWidth;
    if (isOwn)
      return [title, ...wrap(shown, width - gap).map((line) => " ".repeat(gap) + paint(line))];
    const text = paint(breakWords(shown, valueWidth));
    return layOut([[title, text]], { colWidths: [nameWidth, valueWidth] });
  });
}

/** Rows without any number are shown as one if there are at least so many after one another. */
const emptyRowsMin = 3;

/** Replaces stretches of rows whose numbers are all zero by one row each. */
export function skipEmptyRows(columns: readonly TableColumn[]): TableColumn[] {
  const numbers = columns.filter(({ kind }) => kind === "number" || kind === "amount");
  const count = columns[0]?.cells.length ?? 0;
  const isEmpty = (row: number) =>
    numbers.length > 0 && numbers.every(({ cells }) => /^0(\.0+)?( |$)/.test(cells[row] ?? ""));
  const rows: (number | { readonly skipped: number })[] = [];
  for (let row = 0; row < count;) {
    let end = row;
    while (end < count && isEmpty(end)) end += 1;
    const isSkipped = end - row >= emptyRowsMin;
    if (isSkipped) rows.push({ skipped: end - row });
    else rows.push(row);
    row = isSkipped ? end : row + 1;
  }
  return columns.map((column, index) => ({
    ...column,
    cells: rows.map((row) => {
      if (typeof row === "number") return column.cells[row] ?? "";
      return index === 0 ? `… ${String(row.skipped)} without any` : "";
    }),
  }));
}

/** The kind of a column's values, which decides how it is drawn and how early it is dropped. */
type ColumnKind = "id" | "status" | "amount" | "number" | "time" | "text" | "word" | "code" | "bar";

/** A column of a table, with a text for each row. */
export interface TableColumn {
  readonly title: string;
  readonly kind: ColumnKind;
  readonly cells: readonly string[];
}

/** Texts are wrapped to this width before any column is dropped. */
const textLeast = 24;
/** Longer codes, which are hashes, addresses and URLs, are dropped before shorter ones, which are mostly ids. */
const longCode = 30;
const barLeast = 8;

/**
 * Fits a table into a width: it first narrows texts and bars, then drops columns, the least important first. Ids, hashes,
 * addresses, amounts and times are never narrowed, so that they remain whole. Null if not even the first column fits.
 */
function fitTable<Column extends TableColumn>(columns: readonly Column[], width: number) {
  const left = [...columns];
  while (total(left.map(leastWidth)) > width) {
    if (left.length <= 1) return null;
    const ranks = left.map((column, index) => (index === 0 ? -1 : rankOf(column)));
    const index = ranks.lastIndexOf(Math.max(...ranks));
    left.splice(index, 1);
  }
  const dropped = columns.filter((column) => !left.includes(column)).map(({ title }) => title);
  return { columns: shareOut(left, width), dropped };
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, gap * (widths.length - 1));
}

/**
 * Gives each column its least width, and shares what remains among those that want more, the modest first. A column that
 * is narrower than its cells must be wrapped.
 */
function shareOut<Column extends TableColumn>(columns: readonly Column[], width: number) {
  const wishes = columns.map((column) => ({ column, width: leastWidth(column), isNarrow: false }));
  let rest = width - total(wishes.map((wish) => wish.width));
  const byNeed = wishes
    .map((wish) => ({ wish, need: fullWidth(wish.column) - wish.width }))
    .sort((one, other) => one.need - other.need);
  for (const [index, { wish, need }] of byNeed.entries()) {
    const given = Math.min(need, Math.floor(rest / (byNeed.length - index)));
    wish.width += given;
    wish.isNarrow = given < need;
    rest -= given;
  }
  return wishes;
}

function fullWidth({ title, cells }: TableColumn): number {
  return Math.max(widthOf(title), ...cells.map(widthOf));
}

function leastWidth(column: TableColumn): number {
  const full = fullWidth(column);
  const title = longestWord(column.title);
  switch (column.kind) {
    case "bar":
      return Math.min(full, barLeast);
    case "text":
      return Math.min(full, Math.max(title, textLeast));
    default:
      return Math.min(full, Math.max(title, ...column.cells.map(widthOf)));
  }
}

/** The order in which columns are dropped: the largest first, and the last one of several. */
function rankOf(column: TableColumn): number {
  switch (column.kind) {
    case "id":
    case "status":
    case "amount":
      return 1;
    case "text":
    case "time":
      return 2;
    case "number":
    case "word":
      return 3;
    case "code":
      return Math.max(...column.cells.map(widthOf)) > longCode ? 5 : 4;
    case "bar":
      return 6;
  }
}

const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const decimal = /^-?\d+(\.\d+)?( \p{L}[\p{L}\p{N}.]*)?$/u;
const amount = /\.| /;
const word = /^\S+$/;
/** Longer texts without spaces are not words but ids, addresses, hashes and URLs. */
const wordMost = 20;
const statusField = /^(status|state|condition)$|(Status|State)$/;
const nothing = "-";

/** Returns the kind of a column, from its field and the values of its cells. */
function kindOf(field: string, cells: readonly string[]): ColumnKind {
  if (field === "id") return "id";
  if (statusField.test(field)) return "status";
  const values = cells.filter((cell) => cell !== nothing);
  const are = (pattern: RegExp) =>
    values.length > 0 && values.every((value) => pattern.test(value));
  if (are(isoTime)) return "time";
  if (are(decimal)) return values.some((value) => amount.test(value)) ? "amount" : "number";
  if (!are(word)) return "text";
  return values.some((value) => value.length > wordMost) ? "code" : "word";
}

/** From this age on, a date says more than a number of days. */
const datesFrom = 60 * day;

/** Returns a time as people say it: `3 h ago`, `in 2 d`, or its date if it is more than 60 days away. */
export function relativeTime(iso: string, now: Instant): string {
  const distance = Date.parse(iso) - now;
  const length = Math.abs(distance);
  if (length >= datesFrom) return iso.slice(0, "2031-01-31".length);
  if (length < second) return "now";
  const amountText = lengthOf(length);
  return distance > 0 ? `in ${amountText}` : `${amountText} ago`;
}

function lengthOf(length: number): string {
  if (length < minute) return `${String(Math.floor(length / second))} s`;
  if (length < hour) return `${String(Math.floor(length / minute))} min`;
  if (length < 2 * day) return `${String(Math.floor(length / hour))} h`;
  return `${String(Math.floor(length / day))} d`;
}

/** Returns a time in full, followed by its distance from now. */
function timeWithDistance(iso: string, now: Instant): string {
  const distance = relativeTime(iso, now);
  return iso.startsWith(distance) ? iso : `${iso} (${distance})`;
}

function isTime(text: string): boolean {
  return isoTime.test(text);
}

/** Fills decimal numbers, with or without a unit, so that their decimal points are below each other. */
export function alignDecimals(cells: readonly string[]): string[] {
  const parts = cells.map((cell) => {
    const [number = "", ...unit] = cell.split(" ");
    const point = number.indexOf(".");
    const whole = point === -1 ? number : number.slice(0, point);
    return { whole, fraction: number.slice(whole.length), unit: unit.join(" ") };
  });
  const longest = (texts: readonly string[]) => Math.max(0, ...texts.map((text) => text.length));
  const wholes = longest(parts.map(({ whole }) => whole));
  const fractions = longest(parts.map(({ fraction }) => fraction));
  const units = longest(parts.map(({ unit }) => unit));
  return parts.map(({ whole, fraction, unit }) => {
    const number = whole.padStart(wholes) + fraction.padEnd(fractions);
    return units === 0 ? number : `${number} ${unit.padEnd(units)}`;
  });
}

/** The meaning of a status for the reader, with its sign for terminals without color, and its color (ANSI SGR). */
const tones = {
  good: { sign: "✓", color: 32 },
  waiting: { sign: "~", color: 36 },
  attention: { sign: "!", color: 33 },
  bad: { sign: "✗", color: 31 },
  over: { sign: "–", color: 90 },
} as const;
type Tone = keyof typeof tones;

/** Every status of the API, by its meaning. A test compares this with the OpenAPI document. */
const wordsByTone: Readonly<Record<Tone, string>> = {
  good: "accepted active approved available confirmed credited enabled fixed fresh invoiced matched ok overpaid paid paid_late succeeded",
  waiting:
    "awaiting confirming delayed draft in_progress in_review open pending pending_review requested sent trialing unknown unverified waiting",
  attention:
    "behind canceled_review cannot_check changes_requested degraded expired_partly_paid late_review partially_paid partly_paid past_due reverted review stale unmatched",
  bad: "dead_letter down exhausted failed missing refused rejected silent_logs suspended wrong_chain",
  over: "archived canceled consumed disabled expired expired_unpaid ignored revoked void",
};
const toneOfWord = new Map(
  Object.entries(wordsByTone).flatMap(([tone, words]) =>
    words.split(" ").map((word) => [word, tone as Tone] as const),
  ),
);

/** Returns the tone of a status; null if the word is unknown. */
export function toneOf(status: string): Tone | null {
  return toneOfWord.get(status) ?? null;
}

/** Returns a status with the sign of its tone, so that it can be told apart without color. */
function signed(status: string): string {
  const tone = toneOf(status);
  return tone === null ? status : `${tones[tone].sign} ${status}`;
}

/** Colors a drawn status by the tone of its word. */
function colored(drawn: string, status: string): string {
  const tone = toneOf(status);
  return tone === null ? drawn : `\u001b[${String(tones[tone].color)}m${drawn}\u001b[39m`;
}

const borders = [
  ...["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left"],
  ...["bottom-right", "left", "left-mid", "mid", "mid-mid", "right", "right-mid"],
];

/**
 * Draws rows in columns without borders, with spaces between them, so that awk can split them. A cell may have several
 * lines. In a column with a width, no word may be wider: see `breakWords`.
 */
export function layOut(
  rows: readonly (readonly string[])[],
  options: Pick<Table.TableConstructorOptions, "colAligns" | "colWidths"> = {},
): string {
  const none = Object.fromEntries(borders.map((name) => [name, ""]));
  const table = new Table({
    ...options,
    chars: { ...none, middle: " ".repeat(gap) },
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [], compact: true },
    wordWrap: true,
  });
  for (const row of rows) table.push([...row]);
  const lines = table.toString().split("\n");
  return lines.map((line) => line.trimEnd()).join("\n");
}

/** Breaks a text into lines of at most `width` columns: between words, and within a word that is longer. */
export function wrap(text: string, width: number): string[] {
  return layOut([[breakWords(text, width)]], { colWidths: [width] }).split("\n");
}
