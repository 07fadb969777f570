import { setTimeout as delay } from "node:timers/promises";
import { Defect } from "../../../kernel/errors.ts";
import { once } from "../../once.ts";
import { runAfterCommit } from "../write/after-commit.ts";
import { insertRows } from "../write/bulk-insert.ts";
import type { Database, StoreLogger, Tx, WriteContext } from "../database.ts";
import { StatementFailed, UniqueViolation, busy, outcomeUnknown } from "../errors.ts";
import type { StoreLimits } from "../limits.ts";
import type { Nesting } from "../write/nesting.ts";
import { makeReader } from "../query/reader.ts";
import { shareReads } from "../query/shared-reads.ts";
import { makeKeptRows } from "../write/kept-rows.ts";
import { runWrite, type WriteResult } from "../write/transaction.ts";
import { makeUsage } from "../write/usage.ts";
import type { BorrowedConnection } from "./client.ts";
import { flushesCommits } from "./durability.ts";
import { RolledBackByServer } from "./errors.ts";
import { knock, makePool } from "./pool.ts";
import { makePulse } from "./pulse.ts";

/** The part of the connections that writes use. Reads have the others, so that they never wait for writes. */
const writersPart = 5 / 8;
/** The maximum number of attempts after a deadlock or a serialization failure. */
const attemptLimit = 10;
const retryMilliseconds = 5;

const settings = [
  // Compiling a plan takes some 20 ms, more than a page of a list may cost altogether.
  "SET jit = off",
  "SET statement_timeout = '30s'",
  "SET lock_timeout = '15s'",
  // The locks of a server that is paused in a transaction, which has no other reason to be idle for as long.
  "SET idle_in_transaction_session_timeout = '5s'",
];

/** Opens at most `connections` connections, at least one for writes and one for reads. */
export async function openPostgres(
  place: { readonly url: string; readonly connections: number; readonly schema: string | null },
  logger: StoreLogger,
  { writeMilliseconds }: StoreLimits,
  nesting: Nesting,
): Promise<Database> {
  const { url, connections, schema } = place;
  const all = [...settings, ...(schema === null ? [] : [`SET search_path = ${schema}`])];
  const writerConnections = Math.max(1, Math.floor(connections * writersPart));
  const pulse = makePulse(() => knock(url));
  const writers = await makePool({
    url,
    pulse,
    name: "till write",
    connections: writerConnections,
    mayWrite: true,
    settings: [...all, flushesCommits],
  });
  const readers = await makePool({
    url,
    pulse,
    name: "till read",
    connections: connections - writerConnections,
    mayWrite: false,
    settings: all,
  });
  const reading = makeUsage();
  const read = shareReads((sql, values, begin) =>
    readers.use((connection) => {
      begin();
      return connection.all(sql, values);
    }),
  );

  return {
    ...makeReader("postgres", async (sql, values) => {
      nesting.refuseRead(sql);
      return reading.during(() => read(sql, values));
    }),
    async write(context, fn) {
      nesting.refuseWrite();
      const bound = nesting.bind(fn);
      const outcome = await repeated(() =>
        writers.use((connection) => attempt({ connection, writeMilliseconds }, context, bound)),
      );
      runAfterCommit(outcome.afterCommit, logger);
      return outcome.result;
    },
    close: once(async () => {
      await Promise.all([writers.close(), reading.end().then(() => readers.close())]);
      pulse.stop();
    }),
  };
}

async function repeated<T>(run: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof RolledBackByServer)) throw error;
      if (count >= attemptLimit)
        throw busy("Too many concurrent writes changed the same rows", error);
      await delay(retryMilliseconds * count);
    }
  }
}

async function attempt<T>(
  { connection, writeMilliseconds }: { connection: BorrowedConnection; writeMilliseconds: number },
  context: WriteContext,
  fn: (tx: Tx) => Promise<T>,
): Promise<WriteResult<T>> {
  let outcome: WriteResult<T>;
  await begin(connection);
  try {
    outcome = await runWrite(
      { dialect: "postgres", session: connection, kept: makeKeptRows(), writeMilliseconds },
      context,
      fn,
    );
    await insertRows("postgres", connection, outcome.appended);
  } catch (error) {
    if (connection.isUsable()) await connection.exec("ROLLBACK").catch(() => undefined);
    // `fn` may have replaced the error.
    throw connection.wasRolledBack()
      ? new RolledBackByServer("the server rolled back", error)
      : error;
  }
  await commit(connection);
  return outcome;
}

/**
 * BEGIN detects a connection that broke while idle in the pool; nothing has happened yet, so the write may be retried.
 */
async function begin(connection: BorrowedConnection): Promise<void> {
  try {
    await connection.exec("BEGIN");
  } catch (error) {
    throw connection.isUsable() ? error : new RolledBackByServer("the connection was lost", error);
  }
}

/** A COMMIT without a response may have succeeded: the write is neither reported as done nor retried automatically. */
async function commit(connection: BorrowedConnection): Promise<void> {
  let command: string;
  try {
    command = await connection.exec("COMMIT");
  } catch (error) {
    // The server reported that a deferred constraint or another transaction prevented the commit.
    const wasRefused = error instanceof UniqueViolation || error instanceof StatementFailed;
    if (wasRefused || error instanceof RolledBackByServer) throw error;
    throw outcomeUnknown(error);
  }
  if (command !== "COMMIT") throw new Defect("the server rolled back instead of committing");
}
