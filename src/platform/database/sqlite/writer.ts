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

export interface SavedSession extends Session {
  /** Takes back what this write did; throws when the whole transaction is lost. */
  undo(): Promise<void>;
}

/**
 * One write on the writer. Its savepoint is opened with the first statement that may change anything: a write that is
 * refused before that has nothing to undo. The savepoint is left to the COMMIT: one of the same name nests, and
 * ROLLBACK TO takes the newest.
 */
export function inWriter(writer: Writer): SavedSession {
  let saved: Promise<void> | null = null;
  let lost: unknown = null;

  async function watched<T>(statement: Promise<T>): Promise<T> {
    try {
      return await statement;
    } catch (error) {
      // A full or failing disk may have made SQLite roll everything back by itself.
      if (error instanceof StoreUnavailable) lost ??= error;
      throw error;
    }
  }
  const save = () => (saved ??= writer.exec("SAVEPOINT item"));

  return {
    async all(sql, values) {
      if (!statementOf(sql, values).isSelect) await watched(save());
      return watched(writer.all(sql, values));
    },
    async run(sql, values) {
      await watched(save());
      return watched(writer.run(sql, values));
    },
    async undo() {
      if (lost !== null) throw lost as Error;
      if (saved !== null) await writer.exec("ROLLBACK TO item");
    },
  };
}
