import type { RawRow } from "../database.ts";
import { writeOutsideTransaction } from "../errors.ts";
import type { SqlValue } from "../schema/table.ts";
import { makeUsage } from "../write/usage.ts";
import type { Connection } from "./connection.ts";
import { isSqliteError, translate } from "./errors.ts";

export interface Readers {
  all(sql: string, values: readonly SqlValue[]): Promise<RawRow[]>;
  close(): Promise<void>;
}

/**
 * Creates the pool of read-only connections. A statement takes the connection that became idle last, whose cache is
 * warm; a slow statement occupies only one connection. If all are busy, identical waiting statements run once: that run
 * starts after each of them arrived, so its result is as fresh as their own would be.
 */
export function makeReaders(connections: readonly Connection[]): Readers {
  const idle = [...connections];
  const waiting: ((connection: Connection) => void)[] = [];
  /** Statements that wait for a connection, by text and values. */
  const unbegun = new Map<string, Promise<RawRow[]>>();
  const usage = makeUsage();

  function give(connection: Connection): void {
    const next = waiting.shift();
    if (next === undefined) idle.push(connection);
    else next(connection);
  }

  async function readOn(
    connection: Connection,
    sql: string,
    values: readonly SqlValue[],
  ): Promise<RawRow[]> {
    try {
      return await connection.all(sql, values);
    } catch (error) {
      if (isSqliteError(error) && error.code === "SQLITE_READONLY") {
        throw writeOutsideTransaction(sql);
      }
      throw translate(error, sql);
    } finally {
      give(connection);
    }
  }

  async function readInTurn(
    key: string,
    sql: string,
    values: readonly SqlValue[],
  ): Promise<RawRow[]> {
    const connection = await new Promise<Connection>((resolve) => waiting.push(resolve));
    unbegun.delete(key);
    return readOn(connection, sql, values);
  }

  async function read(sql: string, values: readonly SqlValue[]): Promise<RawRow[]> {
    const connection = idle.pop();
    if (connection !== undefined) return readOn(connection, sql, values);
    const key = `${sql}\n${JSON.stringify(values)}`;
    const waiting = unbegun.get(key);
    // Each caller gets its own copies, because it may modify them.
    if (waiting !== undefined) return (await waiting).map((row) => ({ ...row }));
    const reading = readInTurn(key, sql, values);
    unbegun.set(key, reading);
    return reading;
  }

  return {
    all: (sql, values) => usage.during(() => read(sql, values)),
    async close() {
      await usage.end();
      await Promise.all(connections.map((connection) => connection.close()));
    },
  };
}
