import type { RawRow } from "../database.ts";
import { writeOutsideTransaction } from "../errors.ts";
import type { SqlValue } from "../table.ts";
import { makeUsage } from "../usage.ts";
import type { Connection } from "./connection.ts";
import { isSqliteError, translate } from "./errors.ts";

export interface Readers {
  all(sql: string, values: readonly SqlValue[]): Promise<RawRow[]>;
  close(): Promise<void>;
}

/**
 * A few connections that cannot write. A statement takes the one that was idle last, whose pages are warm; one slow
 * statement holds up no other while there is another connection.
 */
export function makeReaders(connections: readonly Connection[]): Readers {
  const idle = [...connections];
  const waiting: ((connection: Connection) => void)[] = [];
  const usage = makeUsage();

  function take(): Promise<Connection> {
    const connection = idle.pop();
    if (connection !== undefined) return Promise.resolve(connection);
    return new Promise((resolve) => waiting.push(resolve));
  }

  function give(connection: Connection): void {
    const next = waiting.shift();
    if (next === undefined) idle.push(connection);
    else next(connection);
  }

  async function read(sql: string, values: readonly SqlValue[]): Promise<RawRow[]> {
    const connection = await take();
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

  return {
    all: (sql, values) => usage.during(() => read(sql, values)),
    async close() {
      await usage.end();
      await Promise.all(connections.map((connection) => connection.close()));
    },
  };
}
