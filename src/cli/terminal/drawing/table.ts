import type { AnyColumn } from "../../../api/declare/command.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { fieldOf, rawCellsOf, titleOf } from "../columns.ts";
import { fitTable, type TableColumn } from "./fit.ts";
import {
  alignDecimals,
  colored,
  isTime,
  kindOf,
  relativeTime,
  signed,
  timeWithDistance,
} from "./looks.ts";
import { layOut, wrap } from "./layout.ts";
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

export interface DrawnTable {
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
  return head.map((title, place) => {
    const cells = rows.map((row) => row[place] ?? "");
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
    const paint = (cell: string, place: number) =>
      kind === "status" && hasColor ? colored(cell, raw[place] ?? "") : cell;
    return [
      bold(hasColor)(breakWords(title, own)),
      ...shown.map((cell, place) => paint(breakWords(cell, own), place)),
    ];
  });
  const rows = (blocks[0] ?? []).map((_cell, place) => blocks.map((cells) => cells[place] ?? ""));
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
export const emptyRowsMin = 3;

/** Replaces stretches of rows whose numbers are all zero by one row each. */
export function skipEmptyRows(columns: readonly TableColumn[]): TableColumn[] {
  const numbers = columns.filter(({ kind }) => kind === "number" || kind === "amount");
  const count = columns[0]?.cells.length ?? 0;
  const isEmpty = (row: number) =>
    numbers.length > 0 && numbers.every(({ cells }) => /^0(\.0+)?( |$)/.test(cells[row] ?? ""));
  const kept: (number | { readonly skipped: number })[] = [];
  for (let row = 0; row < count;) {
    let end = row;
    while (end < count && isEmpty(end)) end += 1;
    const isSkipped = end - row >= emptyRowsMin;
    if (isSkipped) kept.push({ skipped: end - row });
    else kept.push(row);
    row = isSkipped ? end : row + 1;
  }
  return columns.map((column, place) => ({
    ...column,
    cells: kept.map((row) => {
      if (typeof row === "number") return column.cells[row] ?? "";
      return place === 0 ? `… ${String(row.skipped)} without any` : "";
    }),
  }));
}
