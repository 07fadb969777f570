import { Defect } from "../../kernel/errors.ts";
import type { RawRow } from "./database.ts";
import type { SqlValue } from "./table.ts";

/** What a text says about itself, found once. */
export interface Statement {
  /** The text for SQLite, which numbers its values `?1`. */
  readonly sqliteSql: string;
  /** How many values it binds. */
  readonly parameters: number;
  /** It starts with SELECT, so it changes nothing. */
  readonly isSelect: boolean;
  /** A change that also gives rows. */
  readonly isReturning: boolean;
}

/** One connection as a transaction uses it. */
export interface Session {
  all(sql: string, values: readonly SqlValue[]): Promise<RawRow[]>;
  run(sql: string, values: readonly SqlValue[]): Promise<number>;
}

/** Texts are fixed in the program, so they are few; a leak of made-up texts must not eat the memory. */
const statementLimit = 4_000;
const statements = new Map<string, Statement>();

/** What is known about a text; refuses a wrong number of values, which SQLite would bind as NULL. */
export function statementOf(sql: string, values: readonly SqlValue[]): Statement {
  let statement = statements.get(sql);
  if (statement === undefined) {
    statement = describe(sql);
    if (statements.size >= statementLimit) statements.clear();
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
  let parameters = 0;
  const sqliteSql = sql.replace(/\$(\d+)/g, (_, number: string) => {
    parameters = Math.max(parameters, Number(number));
    return `?${number}`;
  });
  return {
    sqliteSql,
    parameters,
    isSelect: /^\s*SELECT\b/i.test(sql),
    isReturning: /\bRETURNING\b/i.test(sql),
  };
}
