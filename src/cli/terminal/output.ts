import type { AnyColumn, Section } from "../../http/declare/command.ts";
import { systemClock } from "../../kernel/clock.ts";
import { cellsOf, fieldOf, titleOf } from "./columns.ts";
import type { RecordLine, Style, TableColumn } from "./drawing/table.ts";
import { drawTrend, fitTrend } from "./drawing/sparkline.ts";
import type { Terminal } from "./terminal.ts";
import { bold, gap, widthOf } from "./drawing/width.ts";

/** A list record of the API. */
interface List {
  readonly data: readonly unknown[];
  readonly nextCursor: string | null;
}

/** Output shape of a record: see Command. */
interface Shape {
  readonly columns: readonly AnyColumn[];
  readonly sections: ((shown: unknown) => readonly Section[]) | null;
  readonly identify: ((item: unknown) => string) | null;
}

/** Prints an API record in the selected output form. */
export async function printRecord(
  terminal: Terminal,
  shown: unknown,
  { columns, sections, identify }: Shape,
): Promise<void> {
  switch (terminal.form) {
    case "json":
      terminal.data(JSON.stringify(shown, null, isForPeople(terminal) ? 2 : undefined));
      return;
    case "quiet":
      for (const id of idsOf(shown, identify)) terminal.data(id);
      return;
    case "people":
      if (isList(shown)) await printList(terminal, shown, columns);
      else await printRecordLines(terminal, shown, columns);
      for (const section of sections?.(shown) ?? []) await printSection(terminal, section);
  }
}

/** Prints a list within a record after an empty line; skips it if it has no items. */
export async function printSection(terminal: Terminal, section: Section): Promise<void> {
  const { title, trend, items, columns } = section;
  if (items.length === 0) return;
  const line = trend === undefined ? "" : trendLine(terminal, title, trend);
  terminal.data(`\n${bold(terminal.hasColor)(title)}${line}`);
  await printItems(terminal, columns, items, trend !== undefined);
}

function trendLine({ width }: Terminal, title: string, trend: readonly string[]): string {
  const space = width === null ? null : width - widthOf(title) - gap;
  return " ".repeat(gap) + (space === null ? drawTrend(trend) : fitTrend(trend, space));
}

async function printRecordLines(
  terminal: Terminal,
  shown: unknown,
  columns: readonly AnyColumn[],
): Promise<void> {
  const lines = columns.map((column) => {
    const value = cellsOf(column, [shown], ", ")[0] ?? "";
    return { name: titleOf(column), value, field: fieldOf(column) };
  });
  await print(terminal, lines);
}

/** Prints name-value lines with aligned values. */
export async function printLines(
  terminal: Terminal,
  lines: readonly (readonly [name: string, value: string])[],
): Promise<void> {
  await print(
    terminal,
    lines.map(([name, value]) => ({ name, value, field: "" })),
  );
}

async function print(terminal: Terminal, lines: readonly RecordLine[]): Promise<void> {
  const style = styleOf(terminal);
  if (style === null) {
    const rows = lines.map(({ name, value }) => [name, value]);
    await printPlain(terminal, rows, (_line, index) => index === 0);
    return;
  }
  const { drawLines } = await import("./drawing/table.ts");
  terminal.data(drawLines(lines, style).join("\n"));
}

/** Prints a table with a header. Without a terminal, cells are never shortened, so piped output is complete. */
export async function printTable(
  terminal: Terminal,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  const style = styleOf(terminal);
  if (style === null) {
    await printPlain(terminal, [head, ...rows], (line) => line === 0);
    return;
  }
  const { columnsOfTexts } = await import("./drawing/table.ts");
  await printColumns(terminal, style, columnsOfTexts(head, rows));
}

async function printColumns(
  terminal: Terminal,
  style: Style,
  columns: readonly TableColumn[],
): Promise<void> {
  const { drawTable } = await import("./drawing/table.ts");
  const { text, dropped } = drawTable(columns, style);
  terminal.data(text);
  const titles = dropped.filter((title) => title !== "").map((title) => title.toLowerCase());
  if (titles.length > 0) {
    const { wrap } = await import("./drawing/table.ts");
    const note = `No space for ${titles.join(", ")}: widen the terminal, or use --json.`;
    terminal.talk(wrap(note, style.width).join("\n"));
  }
}

/** Prints rows with aligned columns, of which none is shortened. */
async function printPlain(
  terminal: Terminal,
  rows: readonly (readonly string[])[],
  isTitle: (line: number, index: number) => boolean,
): Promise<void> {
  const emphasize = bold(terminal.hasColor);
  const { layOut } = await import("./drawing/table.ts");
  const shown = rows.map((row, line) =>
    row.map((cell, index) => (isTitle(line, index) ? emphasize(cell) : cell)),
  );
  terminal.data(layOut(shown));
}

/** Returns how to draw for a terminal; null if the output is a file or a pipe, which gets plain and complete text. */
function styleOf({ width, hasColor }: Terminal): Style | null {
  return width === null ? null : { width, hasColor, now: systemClock.now() };
}

async function printList(
  terminal: Terminal,
  list: List,
  columns: readonly AnyColumn[],
): Promise<void> {
  if (list.data.length === 0) {
    terminal.talk("No results.");
    return;
  }
  await printItems(terminal, columns, list.data);
  if (list.nextCursor !== null) terminal.talk(`More results: --cursor ${list.nextCursor}`);
}

async function printItems(
  terminal: Terminal,
  columns: readonly AnyColumn[],
  items: readonly unknown[],
  isSeries = false,
): Promise<void> {
  const style = styleOf(terminal);
  if (style === null) {
    // Lists are joined without a space, so that awk can split the columns.
    const shown = columns.map((column) => cellsOf(column, items, ","));
    const rows = items.map((_item, index) => shown.map((cells) => cells[index] ?? ""));
    const head = columns.map((column) => titleOf(column).toUpperCase());
    await printPlain(terminal, [head, ...rows], (line) => line === 0);
    return;
  }
  const { columnsOf, skipEmptyRows } = await import("./drawing/table.ts");
  const drawn = columnsOf(columns, items);
  await printColumns(terminal, style, isSeries ? skipEmptyRows(drawn) : drawn);
}

/** JSON is indented on a terminal and one line in a pipe. */
function isForPeople(terminal: Terminal): boolean {
  return terminal.surroundings.stdout.isTTY === true;
}

function isList(shown: unknown): shown is List {
  return (
    typeof shown === "object" && shown !== null && "data" in shown && Array.isArray(shown.data)
  );
}

function idsOf(shown: unknown, identify: Shape["identify"]): string[] {
  const items = isList(shown) ? shown.data : [shown];
  if (identify !== null) return items.map(identify).filter((id) => id !== "");
  return items.flatMap((item) => {
    if (typeof item !== "object" || item === null || !("id" in item)) return [];
    return typeof item.id === "string" ? [item.id] : [];
  });
}
