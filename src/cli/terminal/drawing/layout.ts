import Table from "cli-table3";
import { breakWords, gap } from "./width.ts";

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
