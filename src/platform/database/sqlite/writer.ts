import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import type { StoreLogger } from "../database.ts";
import { statementOf, type Session } from "../statement.ts";
import { StoreUnavailable, unavailable } from "../errors.ts";
import type { Connection } from "./connection.ts";
import { isSqliteError, translate } from "./errors.ts";

const busyPollMilliseconds = 3;

/** The one connection that writes, with errors of ours; it is opened anew after it broke. */
export interface Writer extends Session {
  /** Takes the write lock, which another process may have. */
  begin(): Promise<void>;
  /** A text without values. */
  exec(sql: string): Promise<void>;
  /** Leaves no transaction open, whatever has happened. */
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

  /**
   * Another process that has the lock is asked for it again and again from here: SQLite's own waiting would hold one
   * of the few threads, and its long naps would rarely meet the gap between two groups.
   */
  async function begin(): Promise<void> {
    const started = performance.now();
    for (;;) {
      try {
        await (await opened()).exec("BEGIN IMMEDIATE");
        return;
      } catch (error) {
        if (!isSqliteError(error) || error.code !== "SQLITE_BUSY") {
          throw translate(error, "BEGIN IMMEDIATE");
        }
        if (performance.now() - started > busyMilliseconds) {
          throw unavailable("Another process has kept the store locked", error);
        }
        await delay(busyPollMilliseconds);
      }
    }
  }

  async function rollBack(): Promise<void> {
    const broken = connection;
    if (broken === null) return;
    try {
      await broken.exec("ROLLBACK");
    } catch (error) {
      // SQLite has done it by itself, which is all that is wanted.
      if (error instanceof Error && error.message.includes("no transaction is active")) return;
      logger.error({ err: error }, "the store's connection broke and is opened anew");
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

/** One write of a group on the writer. */
export interface ItemSession extends Session {
  /** Whether the write has changed anything, so that it cannot be left out of the group's transaction any more. */
  hasChanged(): boolean;
}

/**
 * One write on the writer. It has no savepoint of its own: a write is refused, where it is, before it changes
 * anything, and then there is nothing to undo. One that fails later takes the group's transaction with it, and each of
 * the group runs again by itself.
 */
export function inWriter(writer: Writer): ItemSession {
  let hasChanged = false;

  async function watched<T>(statement: Promise<T>): Promise<T> {
    try {
      return await statement;
    } catch (error) {
      // A full or failing disk may have made SQLite roll everything back by itself.
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
