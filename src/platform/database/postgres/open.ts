import { setTimeout as delay } from "node:timers/promises";
import { Defect } from "../../../kernel/errors.ts";
import { runAfterCommit } from "../after-commit.ts";
import type { Database, StoreLogger, Tx, WriteContext } from "../database.ts";
import { makeNesting } from "../nesting.ts";
import { makeReader } from "../reader.ts";
import { insertEncoded, runWrite, type Outcome } from "../transaction.ts";
import { isRetried, isServerError, storeUnavailable } from "./errors.ts";
import { makePool, type Lent } from "./pool.ts";

/** Writes at the same time; PostgreSQL shares their flushes to disk among them. */
const writerConnections = 10;
/** Reads have connections of their own, so that they never queue behind writes. */
const readerConnections = 6;
/** How often a write runs again after a deadlock or a serialization failure. */
const attemptLimit = 10;
const retryMilliseconds = 5;

const timeouts = [
  "SET statement_timeout = '30s'",
  "SET lock_timeout = '15s'",
  "SET idle_in_transaction_session_timeout = '30s'",
];

export async function openPostgres(url: string, logger: StoreLogger): Promise<Database> {
  const writers = await makePool({
    url,
    name: "till write",
    connections: writerConnections,
    settings: timeouts,
  });
  const readers = await makePool({
    url,
    name: "till read",
    connections: readerConnections,
    settings: [...timeouts, "SET default_transaction_read_only = on"],
  });
  const nesting = makeNesting();

  async function attempt<T>(
    context: WriteContext,
    fn: (tx: Tx) => Promise<T>,
  ): Promise<Outcome<T>> {
    return writers.use(async (connection) => {
      await connection.exec("BEGIN");
      let outcome: Outcome<T>;
      try {
        outcome = await runWrite("postgres", connection, context, fn);
        for (const [table, rows] of outcome.appended)
          await insertEncoded("postgres", connection, table, rows);
      } catch (error) {
        await connection.exec("ROLLBACK").catch(() => undefined);
        throw error;
      }
      await commit(connection);
      return outcome;
    });
  }

  return {
    ...makeReader("postgres", (sql, values) =>
      readers.use((connection) => connection.all(sql, values)),
    ),
    async write(context, fn) {
      nesting.refuse();
      const bound = nesting.bind(fn);
      for (let count = 1; ; count += 1) {
        try {
          const outcome = await attempt(context, bound);
          runAfterCommit(outcome.afterCommit, logger);
          return outcome.result;
        } catch (error) {
          if (!isRetried(error)) throw error;
          if (count >= attemptLimit)
            throw storeUnavailable("Too many writes met on the same rows", error);
          await delay(retryMilliseconds * count);
        }
      }
    },
    async close() {
      await Promise.all([writers.close(), readers.close()]);
    },
  };
}

/** A COMMIT that was not answered may have happened: it is never taken for done, and never run again by itself. */
async function commit(connection: Lent): Promise<void> {
  let command: string;
  try {
    command = await connection.exec("COMMIT");
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (isRetried(error) || (isServerError(cause) && !/^(08|57P)/.test(cause.code))) throw error;
    throw storeUnavailable(
      "The connection was lost while the change was being kept, so it may or may not have happened: " +
        "repeat it with the same Idempotency-Key, or look before you repeat it",
      error,
    );
  }
  if (command !== "COMMIT")
    throw new Defect("PostgreSQL rolled back a transaction that had been taken for good");
}
