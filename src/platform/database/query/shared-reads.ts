import type { RawRow } from "../database.ts";
import type { SqlValue } from "../schema/table.ts";

/** Runs a statement; calls `begin` just before the statement is sent to the database. */
type Run = (
  sql: string,
  values: readonly SqlValue[],
  begin: () => void,
) => Promise<readonly RawRow[]>;

interface Waiting {
  readonly rows: Promise<readonly RawRow[]>;
  isShared: boolean;
}

/**
 * Returns a function that runs identical statements once if they arrive in one turn of the event loop, or while the
 * first of them waits for a connection. The statement begins after each of them arrived, so its result is as fresh as
 * their own would be.
 */
export function shareReads(
  run: Run,
): (sql: string, values: readonly SqlValue[]) => Promise<RawRow[]> {
  /** Statements that have not begun, by text and values. */
  const waiting = new Map<string, Waiting>();

  async function inNextTurn(key: string, sql: string, values: readonly SqlValue[]) {
    await new Promise((resolve) => setImmediate(resolve));
    return run(sql, values, () => waiting.delete(key));
  }

  return async (sql, values) => {
    const key = `${sql}\n${JSON.stringify(values)}`;
    let read = waiting.get(key);
    if (read === undefined) {
      read = { rows: inNextTurn(key, sql, values), isShared: false };
      waiting.set(key, read);
    } else read.isShared = true;
    try {
      const rows = await read.rows;
      // Each caller gets its own copies, because it may modify them.
      return read.isShared ? rows.map((row) => ({ ...row })) : [...rows];
    } finally {
      // A statement that fails before it begins, for want of a connection, must not answer later callers.
      if (waiting.get(key) === read) waiting.delete(key);
    }
  };
}
