import { day, type Instant } from "../../kernel/clock.ts";
import type { Database, WriteContext } from "../database/database.ts";
import { listed } from "../database/query/json-rows.ts";
import { queues } from "./queue.ts";

/** Deletes one batch of expired rows, or all of them until the signal; returns whether more may be left. */
export type Prune = (
  db: Database,
  now: Instant,
  context: WriteContext,
  signal: AbortSignal,
) => Promise<boolean>;

/** How long failed jobs are kept, in milliseconds. */
export const failedJobKeptFor = 30 * day;
/** The number of failed jobs that are kept per queue, latest first. */
export const failedJobsKeptMax = 5_000;
/** Rows deleted per transaction. */
const pruneBatch = 1_000;

/** Deletes failed jobs beyond the age or number limit, oldest first. Returns true if there may be more. */
export async function pruneFailedJobs(
  db: Database,
  now: Instant,
  context: WriteContext,
): Promise<boolean> {
  const over = await Promise.all(
    queues.map(async (queue) => {
      const [latestLeft] = await db.all<{ failedAt: Instant; id: string }>(
        `SELECT failed_at AS "failedAt", id AS "id" FROM jobs WHERE queue = $1 AND state = 'failed'
         ORDER BY failed_at DESC, id DESC LIMIT 1 OFFSET ${String(failedJobsKeptMax)}`,
        [queue],
      );
      return db.all<{ id: string }>(
        `SELECT id AS "id" FROM jobs WHERE queue = $1 AND state = 'failed'
           AND (failed_at < $2 OR failed_at < $3 OR (failed_at = $3 AND id <= $4))
         ORDER BY failed_at, id LIMIT ${String(pruneBatch)}`,
        [queue, now - failedJobKeptFor, latestLeft?.failedAt ?? 0, latestLeft?.id ?? ""],
      );
    }),
  );
  const ids = over
    .flat()
    .slice(0, pruneBatch)
    .map(({ id }) => id);
  if (ids.length === 0) return false;
  await db.write(context, (tx) =>
    tx.run(`DELETE FROM jobs WHERE state = 'failed' AND id IN ${listed(tx.dialect, 1)}`, [
      JSON.stringify(ids),
    ]),
  );
  return over.flat().length > ids.length || over.some((each) => each.length === pruneBatch);
}
