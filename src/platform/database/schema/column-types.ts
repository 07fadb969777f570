import type { Dialect } from "../database.ts";

/** Column types for migrations. */
export interface ColumnTypes {
  /** Text, compared byte by byte. */
  readonly text: string;
  readonly integer: string;
  readonly time: string;
  /** 0 or 1. */
  readonly flag: string;
  readonly json: string;
  /**
   * Returns the type of an amount with its CHECK constraint, which needs the column's name: `` `total
   * ${types.amount("total")} NOT NULL` ``.
   */
  readonly amount: (column: string) => string;
  /** `amount` for amounts that may be negative. */
  readonly signedAmount: (column: string) => string;
  /** A suffix for tables whose key is all or most of the row: SQLite then stores no second copy of the key. */
  readonly keyAlone: string;
  /** Returns statements that forbid updating and deleting rows of a table. */
  readonly appendOnly: (table: string) => readonly string[];
}

export const columnTypes: Readonly<Record<Dialect, ColumnTypes>> = {
  sqlite: {
    text: "TEXT",
    integer: "INTEGER",
    time: "INTEGER",
    flag: "INTEGER",
    json: "TEXT",
    keyAlone: "WITHOUT ROWID",
    amount: (column) => `TEXT CHECK (length(${column}) = 78 AND ${column} NOT GLOB '*[^0-9]*')`,
    signedAmount: (column) =>
      `TEXT CHECK (length(${column}) = 79 AND substr(${column}, 1, 1) IN ('-', '0') AND substr(${column}, 2) NOT GLOB '*[^0-9]*')`,
    appendOnly: (table) =>
      ["UPDATE", "DELETE"].map(
        (change) =>
          `CREATE TRIGGER ${table}_no_${change.toLowerCase()} BEFORE ${change} ON ${table}
           BEGIN SELECT RAISE(ABORT, 'rows of ${table} are never changed'); END`,
      ),
  },
  postgres: {
    text: 'TEXT COLLATE "C"',
    integer: "BIGINT",
    time: "BIGINT",
    flag: "SMALLINT",
    json: 'TEXT COLLATE "C"',
    keyAlone: "",
    amount: (column) => `TEXT COLLATE "C" CHECK (${column} ~ '^[0-9]{78}$')`,
    signedAmount: (column) => `TEXT COLLATE "C" CHECK (${column} ~ '^[-0][0-9]{78}$')`,
    appendOnly: (table) => [
      `CREATE FUNCTION ${table}_refuse_change() RETURNS trigger LANGUAGE plpgsql AS
       'BEGIN RAISE EXCEPTION ''rows of ${table} are never changed''; END'`,
      `CREATE TRIGGER ${table}_no_change BEFORE UPDATE OR DELETE ON ${table}
       FOR EACH ROW EXECUTE FUNCTION ${table}_refuse_change()`,
    ],
  },
};
