import { setTimeout as delay } from "node:timers/promises";
import { once } from "../../once.ts";
import { runAfterCommit } from "../write/after-commit.ts";
import { insertRows } from "../write/bulk-insert.ts";
import type { Database, StoreLogger } from "../database.ts";
import { StoreUnavailable, busy } from "../errors.ts";
import type { StoreLimits } from "../limits.ts";
import type { Nesting } from "../write/nesting.ts";
import { makeReader } from "../query/reader.ts";
import { shareReads } from "../query/shared-reads.ts";
import { makeKeptRows } from "../write/kept-rows.ts";
import { runWrite } from "../write/transaction.ts";
import { makeUsage } from "../write/usage.ts";
import { RolledBackByServer } from "./errors.ts";
import { knock, makePool } from "./pool.ts";
import { openPrimary } from "./primary.ts";
import { makePulse } from "./pulse.ts";

/** The part of the connections that writes use. Reads have the others, so that they never wait for writes. */
const writersPart = 5 / 8;
/** The maximum number of attempts after a deadlock or a serialization failure. */
const attemptLimit = 10;
/** The maximum number of attempts while connections are lost: a statement that kills the server must not do so ten times. */
const attemptsAfterLoss = 3;
const retryMilliseconds = 5;

const settings = [
  // Compiling a plan takes some 20 ms, more than a page of a list may cost altogether.
  "jit = off",
  "statement_timeout = '30s'",
  "lock_timeout = '15s'",
  // The locks of a server that is paused in a transaction, which has no other reason to be idle for as long.
  "idle_in_transaction_session_timeout = '5s'",
];

/** Opens at most `connections` connections, at least one for writes and one for reads, and one to watch the server. */
export async function openPostgres(
  place: { readonly url: string; readonly connections: number; readonly schema: string | null },
  logger: StoreLogger,
  { writeMilliseconds }: StoreLimits,
  nesting: Nesting,
): Promise<Database> {
  const { url, connections, schema } = place;
  const all = [...settings, ...(schema === null ? [] : [`search_path = ${schema}`])];
  const writerConnections = Math.max(1, Math.floor(connections * writersPart));
  const primary = await openPrimary(url, logger);
  const pulse = makePulse(() => knock(primary.url()));
  const pools = { pulse, primary, settings: all };
  const writers = await makePool({
    ...pools,
    name: "till write",
    connections: writerConnections,
    mayWrite: true,
  });
  const readers = await makePool({
    ...pools,
    name: "till read",
    connections: connections - writerConnections,
    mayWrite: false,
  });
  const reading = makeUsage();
  const read = shareReads((sql, values, begin) => repeated(() => readers.read(sql, values, begin)));

  return {
    ...makeReader("postgres", async (sql, values) => {
      nesting.refuseRead(sql);
      return reading.during(() => read(sql, values));
    }),
    async write(context, fn) {
      nesting.refuseWrite();
      const bound = nesting.bind(fn);
      const outcome = await repeated(() =>
        writers.transaction(async (session) => {
          const kept = makeKeptRows();
          const place = { dialect: "postgres", session, kept, writeMilliseconds } as const;
          const written = await runWrite(place, context, bound);
          await insertRows("postgres", session, written.appended);
          return written;
        }),
      );
      runAfterCommit(outcome.afterCommit, logger);
      return outcome.result;
    },
    close: once(async () => {
      await Promise.all([writers.close(), reading.end().then(() => readers.close())]);
      pulse.stop();
      await primary.stop();
    }),
  };
}

async function repeated<T>(run: () => Promise<T>): Promise<T> {
  for (let count = 1; ; count += 1) {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof RolledBackByServer)) throw error;
      const isLost = error.cause instanceof StoreUnavailable;
      if (isLost && count >= attemptsAfterLoss) throw error.cause;
      if (count >= attemptLimit)
        throw busy("Too many concurrent writes changed the same rows", error);
      await delay(retryMilliseconds * count);
    }
  }
}
