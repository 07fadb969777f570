import { performance } from "node:perf_hooks";
import { setTimeout as delay } from "node:timers/promises";
import { runAfterCommit } from "../after-commit.ts";
import type { StoreLogger, Tx, WriteContext } from "../database.ts";
import { statementOf, type Session } from "../statement.ts";
import { insertEncoded, runWrite, type EncodedRows, type Outcome } from "../transaction.ts";
import type { Table } from "../table.ts";
import type { Connection } from "./connection.ts";
import { isSqliteError, storeUnavailable, translate } from "./errors.ts";

/** Writes that share one COMMIT, at most. */
const groupLimit = 128;
/** A group takes no further write after this long, so that the first is not kept waiting. */
const groupMilliseconds = 20;
/** How long a group waits for another process to let the store go. */
const busyMilliseconds = 15_000;
const busyPollMilliseconds = 3;

interface Item {
  readonly context: WriteContext;
  readonly fn: (tx: Tx) => Promise<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Done {
  readonly item: Item;
  readonly outcome: Outcome<unknown>;
}

export interface Lane {
  write<T>(context: WriteContext, fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** Waits until all that were given are answered. */
  close(): Promise<void>;
}

/**
 * The one lane that all writes of this process go through, on one connection. Those that wait together share one
 * transaction and one COMMIT, each inside its own savepoint, so that a bad one fails alone; each is answered after
 * the COMMIT, when it is on disk.
 */
export function makeLane(connection: Connection, logger: StoreLogger): Lane {
  const waiting: Item[] = [];
  let running: Promise<void> | null = null;

  async function drain(): Promise<void> {
    while (waiting.length > 0) await runGroup();
    running = null;
  }

  async function runGroup(): Promise<void> {
    const done: Done[] = [];
    try {
      await begin(connection);
    } catch (error) {
      for (const item of waiting.splice(0, groupLimit)) item.reject(error);
      return;
    }
    const started = performance.now();
    let item: Item | undefined;
    try {
      while (done.length < groupLimit && performance.now() - started < groupMilliseconds) {
        item = waiting.shift();
        if (item === undefined) break;
        const outcome = await runInSavepoint(connection, item);
        if (outcome !== null) done.push({ item, outcome });
        item = undefined;
      }
      await flush(connection, done);
    } catch (error) {
      // The transaction is of no use any more, or an appended row was refused: find out whose fault it is.
      await rollBack(connection, logger);
      const group = done.map((each) => each.item);
      if (item !== undefined) group.push(item);
      if (group.length === 1) item?.reject(error);
      for (const each of group) await runAlone(each);
      return;
    }
    await commit(done);
  }

  async function runAlone(item: Item): Promise<void> {
    try {
      await begin(connection);
    } catch (error) {
      item.reject(error);
      return;
    }
    const done: Done[] = [];
    try {
      const session = translated(connection);
      done.push({ item, outcome: await runWrite("sqlite", session, item.context, item.fn) });
      await flush(connection, done);
    } catch (error) {
      await rollBack(connection, logger);
      item.reject(error);
      return;
    }
    await commit(done);
  }

  async function commit(done: readonly Done[]): Promise<void> {
    try {
      await connection.exec("COMMIT");
    } catch (error) {
      await rollBack(connection, logger);
      const answer = translate(error, "COMMIT");
      for (const { item } of done) item.reject(answer);
      return;
    }
    for (const { item, outcome } of done) {
      item.resolve(outcome.result);
      runAfterCommit(outcome.afterCommit, logger);
    }
  }

  return {
    write: (context, fn) =>
      new Promise((resolve, reject) => {
        waiting.push({ context, fn, resolve: resolve as (result: unknown) => void, reject });
        running ??= drain();
      }),
    async close() {
      while (running !== null) await running;
      await connection.close();
    },
  };
}

/**
 * Takes the write lock. Another process may have it: it is asked for again and again from here, since SQLite's own
 * waiting would hold one of the few threads, and its long naps would rarely meet the gap between two groups.
 */
async function begin(connection: Connection): Promise<void> {
  const started = performance.now();
  for (;;) {
    try {
      await connection.exec("BEGIN IMMEDIATE");
      return;
    } catch (error) {
      const isBusy = isSqliteError(error) && error.code === "SQLITE_BUSY";
      if (!isBusy) throw translate(error, "BEGIN IMMEDIATE");
      if (performance.now() - started > busyMilliseconds) {
        throw storeUnavailable("Another process has kept the store locked", error);
      }
      await delay(busyPollMilliseconds);
    }
  }
}

/** Null when the write failed and was undone and answered; throws when the whole transaction is lost. */
async function runInSavepoint(
  connection: Connection,
  item: Item,
): Promise<Outcome<unknown> | null> {
  const session = savepointed(translated(connection), connection);
  try {
    return await runWrite("sqlite", session, item.context, item.fn);
  } catch (error) {
    // After a full disk, SQLite may have rolled the transaction back by itself; then this fails.
    if (session.hasSavepoint()) await connection.exec("ROLLBACK TO item");
    item.reject(error);
    return null;
  }
}

/**
 * Opens the savepoint with the first statement that may change anything: a write that is refused before that has
 * nothing to undo. The savepoint is left to the COMMIT: one of the same name nests, and ROLLBACK TO takes the newest.
 */
function savepointed(
  session: Session,
  connection: Connection,
): Session & { hasSavepoint(): boolean } {
  let opened: Promise<void> | null = null;
  const open = () => (opened ??= connection.exec("SAVEPOINT item"));
  return {
    hasSavepoint: () => opened !== null,
    async all(sql, values) {
      if (!statementOf(sql, values).isSelect) await open();
      return session.all(sql, values);
    },
    async run(sql, values) {
      await open();
      return session.run(sql, values);
    },
  };
}

function translated(connection: Connection): Session {
  return {
    all: (sql, values) =>
      connection.all(sql, values).catch((error: unknown) => {
        throw translate(error, sql);
      }),
    run: (sql, values) =>
      connection.run(sql, values).catch((error: unknown) => {
        throw translate(error, sql);
      }),
  };
}

/** The appended rows of all writes of the group, one statement a table. */
async function flush(connection: Connection, done: readonly Done[]): Promise<void> {
  const together = new Map<Table, EncodedRows>();
  for (const { outcome } of done) {
    for (const [table, rows] of outcome.appended) {
      const collected = together.get(table);
      if (collected === undefined) together.set(table, [...rows]);
      else collected.push(...rows);
    }
  }
  const session = translated(connection);
  for (const [table, rows] of together) await insertEncoded("sqlite", session, table, rows);
}

async function rollBack(connection: Connection, logger: StoreLogger): Promise<void> {
  try {
    await connection.exec("ROLLBACK");
  } catch (error) {
    // SQLite has done it by itself, which is all that is wanted.
    const isDone = error instanceof Error && error.message.includes("no transaction is active");
    if (!isDone) logger.error({ err: error }, "the store could not roll back");
  }
}
