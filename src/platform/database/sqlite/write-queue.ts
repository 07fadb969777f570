import { performance } from "node:perf_hooks";
import { runAfterCommit } from "../write/after-commit.ts";
import { addRows, insertRows, type EncodedRows } from "../write/bulk-insert.ts";
import type { Foreseen, Reader, StoreLogger, Tx, WriteContext } from "../database.ts";
import { makeReader } from "../query/reader.ts";
import type { Session } from "../query/statement.ts";
import { makeKeptRows, type KeptRows } from "../write/kept-rows.ts";
import { runWrite, type WriteResult, type Place } from "../write/transaction.ts";
import { makeUsage } from "../write/usage.ts";
import { StatementFailed, tooManyWaiting } from "../errors.ts";
import { inWriter, type Writer } from "./writer.ts";

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

export interface WriteQueue {
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
  const kept = makeKeptRows();
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
      await askAhead(store, [item, ...behind], kept);
      const outcome = await runInGroup(store, item, kept);
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
async function askAhead({ reader }: Store, items: readonly Item[], kept: KeptRows): Promise<void> {
  const next = items[0]?.foreseen ?? null;
  if (next === null || kept.isKnown(next.question, next.asked)) return;
  const asked = items.flatMap(({ foreseen }) =>
    foreseen?.question === next.question ? [foreseen.asked] : [],
  );
  await kept.answers(reader, next.question, asked);
}

/**
 * Returns null if the write failed before it changed anything; it is answered then. Throws if the group is lost with
 * it.
 */
async function runInGroup(
  store: Store,
  item: Item,
  kept: KeptRows,
): Promise<WriteResult<unknown> | null> {
  const session = inWriter(store.writer);
  try {
    return await runWrite(placeOf(store, session, kept), item.context, item.fn);
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
    const place = placeOf(store, inWriter(writer), makeKeptRows());
    done = { item, outcome: await runWrite(place, item.context, item.fn) };
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

function placeOf({ writeMilliseconds }: Store, session: Session, kept: KeptRows): Place {
  return { dialect: "sqlite", session, kept, writeMilliseconds };
}

/** Inserts the appended rows of all writes of the group, table by table. */
async function flush(writer: Writer, done: readonly Done[]): Promise<void> {
  const together: EncodedRows = new Map();
  for (const { outcome } of done) {
    for (const [table, rows] of outcome.appended) addRows(together, table, rows);
  }
  await insertRows("sqlite", writer, together);
}
