import type { CsvCell } from "../../kernel/csv.ts";

/** The columns of a CSV file, in order: their names and, for the reference, what they contain. */
export type CsvColumns = Readonly<Record<string, string>>;

/** The content of a CSV file, which is read page by page while it is sent. */
export interface CsvContent {
  /** The columns' names. */
  readonly head: readonly string[];
  /** Some rows at a time; each has a cell for every column. */
  readonly pages: AsyncIterable<readonly (readonly CsvCell[])[]>;
  /** Such as `invoices.csv`. */
  readonly fileName: string;
}
