import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import type { StoreLogger } from "../database.ts";
import { statementOf, type Session } from "../query/statement.ts";
import { StoreUnavailable } from "../errors.ts";
import type { Connection } from "./connection.ts";
import { isSqliteError, translate } from "./errors.ts";

const busyPollMilliseconds = 3;

/**
 * Runs a statement that needs a lock, and polls while another process has it. SQLite's own busy handler would block one
 * of libuv's few threads, its long sleeps would rarely hit the gap between two groups of that process, and it is not
 * called at all where SQLite fears a deadlock, such as when two processes switch a new file to the write-ahead log.
 * Throws the driver's error.
 */
export async function execWhenFree(
  connection: Connection,
  sql: string,
  busyMilliseconds: number,
): Promise<void> {
  const started = performance.now();
  for (;;) {
    try {
      await connection.exec(sql);
      return;
    } catch (error) {
      const isBusy = isSqliteError(error) && error.code === "SQLITE_BUSY";
      if (!isBusy || performance.now() - started > busyMilliseconds) throw error;
      await delay(busyPollMilliseconds);
    }
  }
}

/** The connection that writes. It throws the store's errors, and is reopened after it broke. */
export interface Writer extends Session {
  /** Takes the write lock, which another process may hold. */
  begin(): Promise<void>;
  /** Runs a statement without values. */
  exec(sql: string): Promise<void>;
  /** Ends any open transaction. */
  rollBack(): Promise<void>;
  close(): Promise<void>;
}

export async function makeWriter(
  connect: () => Promise<Connection>,
  busyMilliseconds: number,
  logger: StoreLogger,
): Promise<Writer> {
  let connection: Connection | null = await connect();

  async function opened(): Promise<Connection> {
    connection ??= await connect();
    return connection;
  }

  async function translated<T>(sql: string, run: (on: Connection) => Promise<T>): Promise<T> {
    try {
      return await run(await opened());
    } catch (error) {
      throw translate(error, sql);
    }
  }

  async function begin(): Promise<void> {
    const sql = "BEGIN IMMEDIATE";
    try {
      await execWhenFree(await opened(), sql, busyMilliseconds);
    } catch (error) {
      throw translate(error, sql);
    }
  }

  async function rollBack(): Promise<void> {
    const broken = connection;
    if (broken === null) return;
    try {
      await broken.exec("ROLLBACK");
    } catch (error) {
      // SQLite has already rolled back.
      if (error instanceof Error && error.message.includes("no transaction is active")) return;
      logger.error({ err: error }, "the store's connection broke and is reopened");
      connection = null;
      await broken.close().catch(() => undefined);
    }
  }

  return {
    begin,
    rollBack,
    all: (sql, values) => translated(sql, (on) => on.all(sql, values)),
    run: (sql, values) => translated(sql, (on) => on.run(sql, values)),
    exec: (sql) => translated(sql, (on) => on.exec(sql)),
    close: async () => connection?.close(),
  };
}

/** The session of one write in a group. */
export interface ItemSession extends Session {
  /** True if the write has changed anything, so that it can no longer be left out of the group's transaction. */
  hasChanged(): boolean;
}

/**
 * Creates the session of one write. It needs no savepoint: a write is normally refused before it changes anything, so
 * there is nothing to undo. A later failure rolls the group's transaction back, and every write of the group runs again
 * on its own.
 */
export function inWriter(writer: Writer): ItemSession {
  let hasChanged = false;

  async function watched<T>(statement: Promise<T>): Promise<T> {
    try {
      return await statement;
    } catch (error) {
      // With a full or failing disk, SQLite may have rolled everything back.
      if (error instanceof StoreUnavailable) hasChanged = true;
      throw error;
    }
  }

  return {
    async all(sql, values) {
      const rows = await watched(writer.all(sql, values));
      if (rows.length > 0 && !statementOf(sql, values).isSelect) hasChanged = true;
      return rows;
    },
    async run(sql, values) {
      const count = await watched(writer.run(sql, values));
      if (count > 0) hasChanged = true;
      return count;
    },
    hasChanged: () => hasChanged,
  };
}
