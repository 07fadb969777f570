import { Defect } from "../../kernel/errors.ts";
import type { Dialect, RawRow, Tx, WriteContext } from "./database.ts";
import { makeReader } from "./reader.ts";
import {
  bulkInsertStatement,
  decodeRows,
  encodeRow,
  insertIfAbsentStatement,
  insertStatement,
  selectStatement,
  updateStatement,
} from "./shape.ts";
import type { Session } from "./statement.ts";
import type { SqlValue, Table } from "./table.ts";

/** Rows in the order of their table's columns, ready to be bound. */
export type EncodedRows = SqlValue[][];

/** What a write leaves behind for its commit. */
export interface Outcome<T> {
  readonly result: T;
  readonly appended: ReadonlyMap<Table, EncodedRows>;
  readonly afterCommit: readonly (() => void)[];
}

const none: readonly SqlValue[] = [];

/** Rows bound in one statement: keeps one parameter below a few megabytes. */
const bulkLimit = 1_000;

export async function insertEncoded(
  dialect: Dialect,
  session: Session,
  table: Table,
  rows: EncodedRows,
): Promise<void> {
  const sql = bulkInsertStatement(table, dialect);
  for (let start = 0; start < rows.length; start += bulkLimit) {
    await session.run(sql, [JSON.stringify(rows.slice(start, start + bulkLimit))]);
  }
}

/**
 * Runs one write on an open transaction: `fn`, then the context's `finish`. A statement that fails fails the write,
 * even when `fn` caught its error: PostgreSQL cannot go on after one, so neither does SQLite.
 */
export async function runWrite<T>(
  dialect: Dialect,
  session: Session,
  context: WriteContext,
  fn: (tx: Tx) => Promise<T>,
): Promise<Outcome<T>> {
  const appended = new Map<Table, EncodedRows>();
  const afterCommit: (() => void)[] = [];
  let isOpen = true;
  let pending = 0;
  let allSettled: (() => void) | null = null;
  let failure: { readonly error: unknown } | null = null;

  function mustBeOpen(): void {
    if (!isOpen) throw new Defect("a tx was used after its write had ended");
  }

  async function guarded<R>(statement: () => Promise<R>): Promise<R> {
    mustBeOpen();
    pending += 1;
    try {
      return await statement();
    } catch (error) {
      failure ??= { error };
      throw error;
    } finally {
      pending -= 1;
      if (pending === 0) allSettled?.();
    }
  }

  /** Statements that were started and not awaited end before the next write starts on this connection. */
  async function end(): Promise<void> {
    isOpen = false;
    if (pending > 0) await new Promise<void>((resolve) => (allSettled = resolve));
  }

  const all = (sql: string, values: readonly SqlValue[]): Promise<RawRow[]> =>
    guarded(() => session.all(sql, values));
  const run = (sql: string, values: readonly SqlValue[]): Promise<number> =>
    guarded(() => session.run(sql, values));
  const locked = (rest: string) => (dialect === "postgres" ? `${rest} FOR UPDATE` : rest);

  const tx: Tx = {
    ...makeReader(dialect, all),
    context,
    run: (sql, values = none) => run(sql, values),
    lock: async (table, rest, values = none) =>
      decodeRows(table, await all(selectStatement(table, locked(rest)), values)),
    lockOne: async (table, rest, values = none) =>
      decodeRows(table, await all(selectStatement(table, locked(rest)), values))[0] ?? null,
    insert: async (table, row) => {
      await run(insertStatement(table), encodeRow(table, row));
    },
    insertMany: (table, rows) =>
      guarded(() =>
        insertEncoded(
          dialect,
          session,
          table,
          rows.map((row) => encodeRow(table, row)),
        ),
      ),
    insertIfAbsent: async (table, row) =>
      (await run(insertIfAbsentStatement(table), encodeRow(table, row))) === 1,
    update: async (table, set, where, values = none) => {
      const statement = updateStatement(table, set, where, values);
      return run(statement.sql, statement.values);
    },
    append: (table, row) => {
      mustBeOpen();
      const rows = appended.get(table);
      if (rows === undefined) appended.set(table, [encodeRow(table, row)]);
      else rows.push(encodeRow(table, row));
    },
    afterCommit: (action) => {
      mustBeOpen();
      afterCommit.push(action);
    },
  };

  try {
    const result = await fn(tx);
    await context.finish?.(tx, result);
    await end();
    if (failure !== null) throw (failure as { readonly error: unknown }).error;
    return { result, appended, afterCommit };
  } finally {
    await end();
  }
}
