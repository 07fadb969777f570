import type { Dialect } from "./database.ts";

/** Column types as a migration writes them. */
export interface ColumnTypes {
  /** Text, compared byte by byte. */
  readonly text: string;
  readonly integer: string;
  readonly time: string;
  /** 0 or 1. */
  readonly flag: string;
  readonly json: string;
  /** The type of an amount with its check, which needs the column's name: `` `total ${types.amount("total")} NOT NULL` ``. */
  readonly amount: (column: string) => string;
}

export const columnTypes: Readonly<Record<Dialect, ColumnTypes>> = {
  sqlite: {
    text: "TEXT",
    integer: "INTEGER",
    time: "INTEGER",
    flag: "INTEGER",
    json: "TEXT",
    amount: (column) => `TEXT CHECK (length(${column}) = 78 AND ${column} NOT GLOB '*[^0-9]*')`,
  },
  postgres: {
    text: 'TEXT COLLATE "C"',
    integer: "BIGINT",
    time: "BIGINT",
    flag: "SMALLINT",
    json: 'TEXT COLLATE "C"',
    amount: (column) => `TEXT COLLATE "C" CHECK (${column} ~ '^[0-9]{78}$')`,
  },
};
