import type { Instant } from "../../kernel/clock.ts";
import type { Reader } from "../database/database.ts";
import { queues, type QueueName } from "./queue.ts";

/** The number of jobs of a queue that are due, running, scheduled for later, and failed. */
export interface QueueDepth {
  readonly queue: QueueName;
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
  readonly failed: number;
}

/** A failed job, or failed work of another table that is listed as one. */
export interface FailedJob {
  readonly id: string;
  readonly queue: QueueName;
  readonly name: string;
  readonly attempts: number;
  readonly failedReason: string;
  readonly organizationId: string | null;
  readonly createdAt: Instant;
  readonly failedAt: Instant;
}

/**
 * A position in a list of failures, newest first. The rows after it failed earlier, or at the same time with a smaller
 * id.
 */
export interface FailurePlace {
  readonly failedAt: Instant;
  readonly id: string;
}

/** The position before the newest possible failure. */
export const firstFailure: FailurePlace = { failedAt: Number.MAX_SAFE_INTEGER, id: "" };

/** True if the name is that of a queue. */
export function isQueue(name: string): name is QueueName {
  return (queues as readonly string[]).includes(name);
}

/** Returns the depth of every queue, in the order of `queues`, including empty ones. */
export async function jobDepths(reader: Reader, now: Instant): Promise<QueueDepth[]> {
  const [ready, failed] = await Promise.all([
    reader.all<Omit<QueueDepth, "failed">>(
      `SELECT queue AS "queue",
         COUNT(CASE WHEN lease_until > $1 THEN 1 END) AS "active",
         COUNT(CASE WHEN run_at > $1 AND (lease_until IS NULL OR lease_until <= $1) THEN 1 END) AS "delayed",
         COUNT(CASE WHEN run_at <= $1 AND (lease_until IS NULL OR lease_until <= $1) THEN 1 END) AS "waiting"
       FROM jobs WHERE state = 'ready' GROUP BY queue`,
      [now],
    ),
    reader.all<{ queue: QueueName; total: number }>(
      `SELECT queue AS "queue", COUNT(*) AS "total" FROM jobs WHERE state = 'failed' GROUP BY queue`,
    ),
  ]);
  return queues.map((queue) => ({
    waiting: 0,
    active: 0,
    delayed: 0,
    ...ready.find((row) => row.queue === queue),
    queue,
    failed: failed.find((row) => row.queue === queue)?.total ?? 0,
  }));
}

/** Returns the jobs of a queue that have no attempts left, latest failure first. */
export function failedJobs(
  reader: Reader,
  queue: QueueName,
  after: FailurePlace,
  limit: number,
): Promise<FailedJob[]> {
  return reader.all<FailedJob>(
    `SELECT id AS "id", queue AS "queue", name AS "name", attempts AS "attempts",
       COALESCE(failed_reason, '') AS "failedReason", organization_id AS "organizationId",
       created_at AS "createdAt", failed_at AS "failedAt"
     FROM jobs
     WHERE queue = $1 AND state = 'failed' AND failed_at <= $2 AND (failed_at < $2 OR id < $3)
     ORDER BY failed_at DESC, id DESC LIMIT $4`,
    [queue, after.failedAt, after.id, limit],
  );
}
