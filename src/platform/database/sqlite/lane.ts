import { performance } from "node:perf_hooks";
import { runAfterCommit } from "../after-commit.ts";
import { addRows, insertRows, type EncodedRows } from "../bulk-insert.ts";
import type { StoreLogger, Tx, WriteContext } from "../database.ts";
import type { Session } from "../statement.ts";
import { runWrite, type Outcome, type Place } from "../transaction.ts";
import { makeUsage } from "../usage.ts";
import { StatementFailed, tooManyWaiting } from "../errors.ts";
import { inWriter, type Writer } from "./writer.ts";

/** Writes that share one COMMIT, at most. */
const groupLimit = 128;
/** A group takes no further write after this long, so that its first is not kept waiting. */
const groupMilliseconds = 20;
/** Writes that may wait; more are refused at once. */
const waitingLimit = 20_000;

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
  /** Waits until all that were given are answered, and takes no more. */
  close(): Promise<void>;
}

/**
 * The one lane that all writes of this process go through, on one connection. Those that wait together share one
 * transaction and one COMMIT; each is answered after the COMMIT, when it is on disk. One that fails before it changed
 * anything is left out; one that fails later rolls the group back, and each of it runs again by itself, so that a bad
 * one fails alone.
 */
export function makeLane(writer: Writer, writeMilliseconds: number, logger: StoreLogger): Lane {
  const waiting: Item[] = [];
  let running: Promise<void> | null = null;
  const usage = makeUsage();

  function placeOf(session: Session): Place {
    return { dialect: "sqlite", session, writeMilliseconds };
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) await runGroup();
    running = null;
  }

  async function runGroup(): Promise<void> {
    const group: Item[] = [];
    const done: Done[] = [];
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
        const outcome = await runInGroup(item);
        if (outcome === null) group.pop();
        else done.push({ item, outcome });
      }
      await flush(writer, done);
    } catch (error) {
      await writer.rollBack();
      await runApart(group, error);
      return;
    }
    await commit(done);
  }

  /** Null when the write failed before it changed anything, and was answered; throws when the group is lost with it. */
  async function runInGroup(item: Item): Promise<Outcome<unknown> | null> {
    const session = inWriter(writer);
    try {
      return await runWrite(placeOf(session), item.context, item.fn);
    } catch (error) {
      if (session.hasChanged()) throw error;
      item.reject(error);
      return null;
    }
  }

  /** After a group has failed as a whole: each of it once more by itself, so that only the bad one fails. */
  async function runApart(group: readonly Item[], error: unknown): Promise<void> {
    if (group.length === 1) group[0]?.reject(error);
    else for (const item of group) await runAlone(item);
  }

  async function runAlone(item: Item): Promise<void> {
    let done: Done;
    try {
      await writer.begin();
    } catch (error) {
      item.reject(error);
      return;
    }
    try {
      done = { item, outcome: await runWrite(placeOf(inWriter(writer)), item.context, item.fn) };
      await flush(writer, [done]);
    } catch (error) {
      await writer.rollBack();
      item.reject(error);
      return;
    }
    await commit([done]);
  }

  async function commit(done: readonly Done[]): Promise<void> {
    try {
      await writer.exec("COMMIT");
    } catch (error) {
      await writer.rollBack();
      // A deferred constraint is the fault of one; a disk that fails is everybody's.
      if (error instanceof StatementFailed)
        await runApart(
          done.map(({ item }) => item),
          error,
        );
      else for (const { item } of done) item.reject(error);
      return;
    }
    for (const { item, outcome } of done) {
      item.resolve(outcome.result);
      runAfterCommit(outcome.afterCommit, logger);
    }
  }

  function enqueue<T>(context: WriteContext, fn: (tx: Tx) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (waiting.length >= waitingLimit) throw tooManyWaiting();
      waiting.push({ context, fn, resolve: resolve as (result: unknown) => void, reject });
      running ??= drain();
    });
  }

  return {
    write: (context, fn) => usage.during(() => enqueue(context, fn)),
    async close() {
      await usage.end();
      await running;
    },
  };
}

/** The appended rows of all writes of the group, together table by table. */
async function flush(writer: Writer, done: readonly Done[]): Promise<void> {
  const together: EncodedRows = new Map();
  for (const { outcome } of done) {
    for (const [table, rows] of outcome.appended) addRows(together, table, rows);
  }
  await insertRows("sqlite", writer, together);
}
