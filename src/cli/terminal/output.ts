import type { AnyColumn, Section } from "../../api/declare/command.ts";
import { cellsOf, titleOf } from "./columns.ts";
import { drawTrend } from "./sparkline.ts";
import type { Terminal } from "./terminal.ts";

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
      else
        await printLines(
          terminal,
          columns.map((column) => [titleOf(column), cellsOf(column, [shown], ", ")[0] ?? ""]),
        );
      for (const section of sections?.(shown) ?? []) await printSection(terminal, section);
  }
}

/** Prints a list within a record after an empty line; skips it if it has no items. */
async function printSection(terminal: Terminal, section: Section): Promise<void> {
  const { title, trend, items, columns } = section;
  if (items.length === 0) return;
  const line = trend === undefined ? "" : `  ${drawTrend(trend)}`;
  terminal.data(`\n${emphasize(terminal, title)}${line}`);
  await printItems(terminal, columns, items);
}

/** Prints name-value lines with aligned values. */
export async function printLines(
  terminal: Terminal,
  lines: readonly (readonly [string, string])[],
): Promise<void> {
  const rows = lines.map(([name, value]) => [emphasize(terminal, name), value]);
  terminal.data(await layOut(rows));
}

/** Prints a table with a header. Cells are never truncated, so piped output is complete. */
export async function printTable(
  terminal: Terminal,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): Promise<void> {
  terminal.data(await layOut([head.map((title) => emphasize(terminal, title)), ...rows]));
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
): Promise<void> {
  // Lists are joined without a space, so that awk can split the columns.
  const shown = columns.map((column) => cellsOf(column, items, ","));
  await printTable(
    terminal,
    columns.map((column) => titleOf(column).toUpperCase()),
    items.map((_item, place) => shown.map((cells) => cells[place] ?? "")),
  );
}

/** Aligns columns with spaces and without borders, so that awk can split them. */
async function layOut(rows: readonly (readonly string[])[]): Promise<string> {
  const { default: Table } = await import("cli-table3");
  const none = Object.fromEntries(borders.map((name) => [name, ""]));
  const table = new Table({
    chars: { ...none, middle: "  " },
    style: { "padding-left": 0, "padding-right": 0, head: [], border: [], compact: true },
  });
  for (const row of rows) table.push([...row]);
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

const borders = [
  ...["top", "top-mid", "top-left", "top-right", "bottom", "bottom-mid", "bottom-left"],
  ...["bottom-right", "left", "left-mid", "mid", "mid-mid", "right", "right-mid"],
];

/** Makes text bold if the terminal supports it. */
function emphasize(terminal: Terminal, text: string): string {
  return terminal.hasColor ? `\u001b[1m${text}\u001b[22m` : text;
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
