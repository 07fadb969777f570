import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { Defect } from "../../../kernel/errors.ts";
import type { Dialect, RawRow, Reader } from "../database.ts";
import { decodeRows, selectStatement } from "../schema/statements.ts";
import type { SqlValue } from "../schema/table.ts";

/** Properties of a statement's text, computed once. */
interface Statement {
  /** The text with SQLite's own `?1` for `$1`, which Sequelize does not copy for every run. */
  readonly sqliteText: string;
  /** The name under which PostgreSQL prepares it. */
  readonly name: string;
  /** The number of bound values. */
  readonly parameters: number;
  /** True if it starts with SELECT and so changes nothing. */
  readonly isSelect: boolean;
  /** True for a change that also returns rows. */
  readonly isReturning: boolean;
  /** The lower-case words of a SELECT, the names of its tables among them; empty for other statements. */
  readonly names: ReadonlySet<string>;
  /** The tables that it changes; empty for a SELECT. */
  readonly changedTables: readonly string[];
}

/** A connection as a transaction uses it. */
export interface Session {
  all(sql: string, values: readonly SqlValue[]): Promise<RawRow[]>;
  run(sql: string, values: readonly SqlValue[]): Promise<number>;
}

/**
 * The maximum number of cached statements. The program's statements are constant and few; generated texts must not
 * exhaust memory.
 */
const statementLimit = 4_000;
const statements = new LRUCache<string, Statement>({ max: statementLimit });

/** Returns the properties of a statement. Rejects a wrong number of values, which SQLite would bind as NULL. */
export function statementOf(sql: string, values: readonly SqlValue[]): Statement {
  let statement = statements.get(sql);
  if (statement === undefined) {
    statement = describe(sql);
    statements.set(sql, statement);
  }
  if (statement.parameters !== values.length) {
    throw new Defect(
      `${String(values.length)} values were given for ${String(statement.parameters)} in: ${sql}`,
    );
  }
  return statement;
}

function describe(sql: string): Statement {
  const numbers = Array.from(sql.matchAll(/\$(\d+)/g), ([, number]) => Number(number));
  // Sequelize would not run the first, and would change the second or take it for a name.
  if (/^\s*--/.test(sql)) throw new Defect(`a comment begins the statement: ${sql}`);
  if (numbers.length > 0 && /\$(?!\d)/.test(sql.replaceAll("'$.", "")))
    throw new Defect(`a $ that is not a parameter is in: ${sql}`);
  const isSelect = /^\s*SELECT\b/i.test(sql);
  const changes = isSelect ? [] : sql.matchAll(/\b(?:INTO|UPDATE|DELETE\s+FROM)\s+(\w+)/gi);
  return {
    sqliteText: sql.trim().replaceAll(/\$(\d+)/g, "?$1"),
    name: createHash("sha256").update(sql).digest("hex").slice(0, 32),
    parameters: Math.max(0, ...numbers),
    isSelect,
    isReturning: /\bRETURNING\b/i.test(sql),
    names: new Set(isSelect ? sql.toLowerCase().match(/\w+/g) : []),
    changedTables: Array.from(changes, ([, table = ""]) => table.toLowerCase()),
  };
}

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
