import type { Dialect, RawRow, Reader } from "../database.ts";
import { decodeRows, selectStatement } from "../schema/statements.ts";
import type { SqlValue } from "../schema/table.ts";

type All = (sql: string, values: readonly SqlValue[]) => Promise<RawRow[]>;

const none: readonly SqlValue[] = [];

/** Creates a Reader from a function that runs a statement. */
export function makeReader(dialect: Dialect, all: All): Reader {
  return {
    dialect,
    all: <R>(sql: string, values = none) => all(sql, values) as Promise<R[]>,
    find: async (table, rest, values = none) =>
      decodeRows(table, await all(selectStatement(table, rest), values)),
    findOne: async (table, rest, values = none) =>
      decodeRows(table, await all(selectStatement(table, rest), values))[0] ?? null,
  };
}
