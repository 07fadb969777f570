import { open as openFile } from "node:fs/promises";
import { resolve } from "node:path";
import { once } from "../../../kernel/memo.ts";
import type { Database, RawRow, StoreLimits, StoreLogger } from "../database.ts";
import { unavailable, writeOutsideTransaction } from "../errors.ts";
import { shareReads } from "../query/shared-reads.ts";
import type { SqlValue } from "../schema/table.ts";
import type { Nesting } from "../open.ts";
import { makeReader } from "../query/statement.ts";
import { makeUsage } from "../write/usage.ts";
import { connect, type Connection } from "./connection.ts";
import { isSqliteError, translate } from "./errors.ts";
import { execWhenFree, makeWriteQueue, makeWriter } from "./write-queue.ts";

/** The number of read connections. Each running statement occupies a thread of libuv's pool. */
const readerCount = 3;
/** How long a statement waits for a lock of another process, in milliseconds. */
const busyTimeoutMilliseconds = 15_000;
/** The maximum size of the write-ahead log after a checkpoint, in bytes. */
const journalBytes = 64 * 1024 * 1024;

const writerPragmas = [
  `busy_timeout = ${String(busyTimeoutMilliseconds)}`,
  "journal_mode = WAL",
  "synchronous = FULL",
  "foreign_keys = ON",
  `journal_size_limit = ${String(journalBytes)}`,
  // Rollback data of a statement is kept in memory, not in a file.
  "temp_store = MEMORY",
  // In kibibytes. A transaction of many rows revisits its pages; unused cache takes no memory.
  "cache_size = -16384",
  // From here on the writer polls for the lock itself.
  "busy_timeout = 0",
];

// No ANALYZE and no `PRAGMA optimize`: connections stay open for months and read statistics only when they are opened,
// so a table that was small then would be scanned whole all that time. Without statistics SQLite chooses the index that
// matches most of a condition, and every list has one that matches all of it.
const readerPragmas = [`busy_timeout = ${String(busyTimeoutMilliseconds)}`, "query_only = ON"];

export async function openSqlite(
  { sqliteFile, isScratch = false }: { readonly sqliteFile: string; readonly isScratch?: boolean },
  logger: StoreLogger,
  limits: StoreLimits,
  nesting: Nesting,
): Promise<Database> {
  const path = resolve(sqliteFile);
  await createPrivately(path);
  const pragmas = isScratch ? [...writerPragmas, "synchronous = OFF"] : writerPragmas;
  const opened = new Set<Connection>();

  async function open(pragmas: readonly string[]): Promise<Connection> {
    const connection = await connect(path);
    opened.add(connection);
    for (const pragma of pragmas) {
      await execWhenFree(connection, `PRAGMA ${pragma}`, busyTimeoutMilliseconds);
    }
    return connection;
  }

  try {
    const writer = await makeWriter(() => open(pragmas), limits.busyMilliseconds, logger);
    const readers = makeReaders(
      await Promise.all(Array.from({ length: readerCount }, () => open(readerPragmas))),
    );
    const queue = makeWriteQueue(writer, limits.writeMilliseconds, logger);
    return {
      ...makeReader("sqlite", async (sql, values) => {
        nesting.refuseRead(sql);
        return readers.all(sql, values);
      }),
      async write(context, fn, foreseen = null) {
        nesting.refuseWrite();
        return queue.write(context, nesting.bind(fn), foreseen);
      },
      close: once(async () => {
        await queue.close();
        await readers.close();
        // The writer closes last: only then does SQLite move the write-ahead log into the file.
        await writer.close();
      }),
    };
  } catch (error) {
    await Promise.allSettled([...opened].map((connection) => connection.close()));
    throw translate(error, `opening ${path}`);
  }
}

/** Creates the store's file with access for its owner only; SQLite gives `-wal` and `-shm` the same mode. */
async function createPrivately(path: string): Promise<void> {
  try {
    const file = await openFile(path, "a", 0o600);
    await file.close();
  } catch (error) {
    throw unavailable(`The store's file ${path} cannot be opened or created`, error);
  }
}

interface Readers {
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
