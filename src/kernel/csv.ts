/** A row of a CSV file. */
export interface CsvRow {
  /** The number of the line on which the row begins, from 1. Quoted fields may contain line breaks. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** A CSV file that cannot be divided into rows. */
export class CsvError extends Error {
  override readonly name = "CsvError";
  /** The number of the line, from 1. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

/**
 * A cell, with the separator or line break that ends it. A quoted cell doubles the quotes in it, and may have spaces
 * around its quotes, which are not a part of it.
 */
const cellPattern = /(?: *"([^"]*(?:""[^"]*)*)" *|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;

/**
 * Parses CSV (RFC 4180): commas, quoted fields, any line breaks, an optional byte order mark. Empty lines are skipped.
 * Stops after `rowsMax` rows. @throws CsvError
 */
export function parseCsv(text: string, rowsMax = Infinity): CsvRow[] {
  const rows: CsvRow[] = [];
  let cells: string[] = [];
  let line = 1;
  let start = 1;
  cellPattern.lastIndex = text.startsWith("\ufeff") ? 1 : 0;
  while (rows.length < rowsMax && (cellPattern.lastIndex < text.length || cells.length > 0)) {
    const found = cellPattern.exec(text);
    if (found === null) {
      throw new CsvError(
        line,
        "a quoted field does not end, or has text before or after its quotes",
      );
    }
    const [matched, quoted, plain = "", end = ""] = found;
    cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += matched.match(/\r\n|\n|\r/g)?.length ?? 0;
    if (end === ",") continue;
    if (cells.length > 1 || cells[0] !== "") rows.push({ line: start, cells });
    cells = [];
    start = line;
  }
  return rows;
}

/** A cell that is written; null is an empty one. */
export type CsvCell = string | null;

/** Spreadsheets take a cell that begins with one of these for a formula, which could send data elsewhere. */
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const plainNumber = /^-?\d+(\.\d+)?$/;

/**
 * The position in a text at which a program that separates cells otherwise, by semicolons or tabs, would find a formula. Such
 * a program takes the quotes within a line for letters, so that a line break ends a cell too.
 */
const formulaWithin =
  /(?:\r\n|[;\t\r\n])(?=[ "]*[=+\-@\uff1d\uff0b\uff0d\uff20])(?!-\d+(?:\.\d+)?(?:[;\t\r\n]|$))/g;
const needsQuotes = /[",;\t\r\n]/;

/**
 * Writes a row of CSV (RFC 4180) with its line break. A text that a spreadsheet would take for a formula gets an
 * apostrophe in front, as OWASP recommends, also within the text where another separator would begin a cell; numbers
 * stay numbers.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(cell: CsvCell): string {
  if (cell === null) return "";
  const isFormula = formulaStart.test(cell) && !plainNumber.test(cell);
  const text = `${isFormula ? "'" : ""}${cell.replace(formulaWithin, "$&'")}`;
  return needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
