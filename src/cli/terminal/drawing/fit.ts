import { gap, longestWord, widthOf } from "./width.ts";

/** The kind of a column's values, which decides how it is drawn and how early it is dropped. */
export type ColumnKind =
  | "id"
  | "status"
  | "amount"
  | "number"
  | "time"
  | "text"
  | "word"
  | "code"
  | "bar";

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
export function fitTable<Column extends TableColumn>(columns: readonly Column[], width: number) {
  const left = [...columns];
  while (total(left.map(leastWidth)) > width) {
    if (left.length <= 1) return null;
    const ranks = left.map((column, place) => (place === 0 ? -1 : rankOf(column)));
    const place = ranks.lastIndexOf(Math.max(...ranks));
    left.splice(place, 1);
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
  for (const [place, { wish, need }] of byNeed.entries()) {
    const given = Math.min(need, Math.floor(rest / (byNeed.length - place)));
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
