import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import {
  addRows,
  insertRows,
  runAfterCommit,
  runWrite,
  type EncodedRows,
  type OpenTransaction,
  type WriteResult,
} from "../write/transaction.ts";
import type { Foreseen, Reader, StoreLogger, Tx, WriteContext } from "../database.ts";
import { makeReader, statementOf, type Session } from "../query/statement.ts";
import { makeRowCache, type RowCache } from "../write/row-cache.ts";
import { makeUsage } from "../write/usage.ts";
import { StatementFailed, StoreUnavailable, tooManyWaiting } from "../errors.ts";
import type { Connection } from "./connection.ts";
import { isSqliteError, translate } from "./errors.ts";

/** The maximum number of writes per COMMIT. */
const groupLimit = 128;
/** The time after which a group takes no further write, in milliseconds, so that its first does not wait long. */
const groupMilliseconds = 20;
/** The maximum number of waiting writes; further ones are refused at once. */
const waitingLimit = 20_000;

interface Item {
  readonly context: WriteContext;
  readonly fn: (tx: Tx) => Promise<unknown>;
  readonly foreseen: Foreseen | null;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Done {
  readonly item: Item;
  readonly outcome: WriteResult<unknown>;
}

/** The connection of a queue, with what its writes need. */
interface Store {
  readonly writer: Writer;
  readonly reader: Reader;
  readonly writeMilliseconds: number;
  readonly logger: StoreLogger;
}

interface WriteQueue {
  write<T>(
    context: WriteContext,
    fn: (tx: Tx) => Promise<T>,
    foreseen: Foreseen | null,
  ): Promise<T>;
  /** Refuses new writes and waits until all others are answered. */
  close(): Promise<void>;
}

/**
 * Creates the write queue: all writes of this process go through it, on one connection. Waiting writes share a
 * transaction and a COMMIT; each is answered after the COMMIT, when it is on disk. A write that fails before it changed
 * anything is left out of the group. A write that fails later rolls the group back, and then every write of the group
 * runs again in a transaction of its own, so that only the failing one fails.
 */
export function makeWriteQueue(
  writer: Writer,
  writeMilliseconds: number,
  logger: StoreLogger,
): WriteQueue {
  const waiting: Item[] = [];
  let running: Promise<void> | null = null;
  const usage = makeUsage();
  const reader = makeReader("sqlite", (sql, values) => writer.all(sql, values));
  const store = { writer, reader, writeMilliseconds, logger };

  async function drain(): Promise<void> {
    while (waiting.length > 0) await runGroup(store, waiting);
    running = null;
  }

  function enqueue<T>(
    context: WriteContext,
    fn: (tx: Tx) => Promise<T>,
    foreseen: Foreseen | null,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (waiting.length >= waitingLimit) throw tooManyWaiting();
      waiting.push({
        context,
        fn,
        foreseen,
        resolve: resolve as (result: unknown) => void,
        reject,
      });
      running ??= drain();
    });
  }

  return {
    write: (context, fn, foreseen) => usage.during(() => enqueue(context, fn, foreseen)),
    async close() {
      await usage.end();
      await running;
    },
  };
}

/** Runs waiting writes in one transaction, and answers them. */
async function runGroup(store: Store, waiting: Item[]): Promise<void> {
  const { writer } = store;
  const group: Item[] = [];
  const done: Done[] = [];
  const cache = makeRowCache();
  try {
    await writer.begin();
  } catch (error) {
    for (const item of waiting.splice(0, groupLimit)) item.reject(error);
    return;
  }
  try {
    const started = performance.now();
    while (group.length < groupLimit && performance.now() - started < groupMilliseconds) {
      const item = waiting.shift();
      if (item === undefined) break;
      group.push(item);
      const behind = waiting.slice(0, groupLimit - group.length);
      await askAhead(store, [item, ...behind], cache);
      const outcome = await runInGroup(store, item, cache);
      if (outcome === null) group.pop();
      else done.push({ item, outcome });
    }
    await flush(writer, done);
  } catch (error) {
    await writer.rollBack();
    await runApart(store, group, error);
    return;
  }
  await commit(store, done);
}

/** Asks what the next write and those that wait behind it have foreseen, unless the answer for the next is known. */
async function askAhead({ reader }: Store, items: readonly Item[], cache: RowCache): Promise<void> {
  const next = items[0]?.foreseen ?? null;
  if (next === null || cache.isKnown(next.question, next.asked)) return;
  const asked = items.flatMap(({ foreseen }) =>
    foreseen?.question === next.question ? [foreseen.asked] : [],
  );
  await cache.answers(reader, next.question, asked);
}

/**
 * Returns null if the write failed before it changed anything; it is answered then. Throws if the group is lost with
 * it.
 */
async function runInGroup(
  store: Store,
  item: Item,
  cache: RowCache,
): Promise<WriteResult<unknown> | null> {
  const session = inWriter(store.writer);
  try {
    return await runWrite(transactionOn(store, session, cache), item.context, item.fn);
  } catch (error) {
    if (session.hasChanged()) throw error;
    item.reject(error);
    return null;
  }
}

/** Runs each write of a failed group again in its own transaction, so that only the failing one fails. */
async function runApart(store: Store, group: readonly Item[], error: unknown): Promise<void> {
  if (group.length === 1) group[0]?.reject(error);
  else for (const item of group) await runAlone(store, item);
}

async function runAlone(store: Store, item: Item): Promise<void> {
  const { writer } = store;
  let done: Done;
  try {
    await writer.begin();
  } catch (error) {
    item.reject(error);
    return;
  }
  try {
    const transaction = transactionOn(store, inWriter(writer), makeRowCache());
    done = { item, outcome: await runWrite(transaction, item.context, item.fn) };
    await flush(writer, [done]);
  } catch (error) {
    await writer.rollBack();
    item.reject(error);
    return;
  }
  await commit(store, [done]);
}

async function commit(store: Store, done: readonly Done[]): Promise<void> {
  const { writer, logger } = store;
  try {
    await writer.exec("COMMIT");
  } catch (error) {
    await writer.rollBack();
    // A deferred constraint concerns one write; a failing disk concerns all.
    const items = done.map(({ item }) => item);
    if (error instanceof StatementFailed) await runApart(store, items, error);
    else for (const item of items) item.reject(error);
    return;
  }
  for (const { item, outcome } of done) {
    item.resolve(outcome.result);
    runAfterCommit(outcome.afterCommit, logger);
  }
}

function transactionOn(
  { writeMilliseconds }: Store,
  session: Session,
  cache: RowCache,
): OpenTransaction {
  return { dialect: "sqlite", session, cache, writeMilliseconds };
}

/** Inserts the appended rows of all writes of the group, table by table. */
async function flush(writer: Writer, done: readonly Done[]): Promise<void> {
  const together: EncodedRows = new Map();
  for (const { outcome } of done) {
    for (const [table, rows] of outcome.appended) addRows(together, table, rows);
  }
  await insertRows("sqlite", writer, together);
}

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
interface Writer extends Session {
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
interface ItemSession extends Session {
  /** True if the write has changed anything, so that it can no longer be left out of the group's transaction. */
  hasChanged(): boolean;
}

/**
 * Creates the session of one write. It needs no savepoint: a write is normally refused before it changes anything, so
 * there is nothing to undo. A later failure rolls the group's transaction back, and every write of the group runs again
 * on its own.
 */
function inWriter(writer: Writer): ItemSession {
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
