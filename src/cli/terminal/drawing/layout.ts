import { gap } from "./width.ts";

/**
 * Lays out rows in columns that are as wide as their widest cells, with spaces and without borders, so that awk can split
 * them. A cell may have several lines.
 */
export async function layOut(rows: readonly (readonly string[])[]): Promise<string> {
  // It is loaded here, because the commands that print JSON or ids alone do not need it.
  const { default: Table } = await import("cli-table3");
  const none = Object.fromEntries(borders.map((name) => [name, ""]));
  const table = new Table({
    chars: { ...none, middle: " ".repeat(gap) },
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
