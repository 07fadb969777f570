import type { RawRow } from "../database.ts";
import { writeOutsideTransaction } from "../errors.ts";
import type { SqlValue } from "../schema/table.ts";
import { shareReads } from "../query/shared-reads.ts";
import { makeUsage } from "../write/usage.ts";
import type { Connection } from "./connection.ts";
import { isSqliteError, translate } from "./errors.ts";

export interface Readers {
  all(sql: string, values: readonly SqlValue[]): Promise<RawRow[]>;
  close(): Promise<void>;
}

/**
 * Creates the pool of read-only connections. A statement takes the connection that became idle last, whose cache is
 * warm; a slow statement occupies only one connection.
 */
export function makeReaders(connections: readonly Connection[]): Readers {
  const idle = [...connections];
  const waiting: ((connection: Connection) => void)[] = [];
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

  async function read(
    sql: string,
    values: readonly SqlValue[],
    begin: () => void,
  ): Promise<RawRow[]> {
    const connection =
      idle.pop() ?? (await new Promise<Connection>((resolve) => waiting.push(resolve)));
    begin();
    return readOn(connection, sql, values);
  }

  const shared = shareReads(read);
  return {
    all: (sql, values) => usage.during(() => shared(sql, values)),
    async close() {
      await usage.end();
      await Promise.all(connections.map((connection) => connection.close()));
    },
  };
}
