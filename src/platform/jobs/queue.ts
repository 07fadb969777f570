import { hour, second, type Instant } from "../../kernel/clock.ts";
import type { IdSource } from "../../kernel/id.ts";
import type { Reader, Tx } from "../database/database.ts";
import { jobs } from "./table.ts";

/** The queues. Each has a worker of its own, so that no queue delays another. */
export const queues = ["webhooks", "chain", "billing", "maintenance"] as const;
export type QueueName = (typeof queues)[number];

export interface NewJob {
  readonly queue: QueueName;
  /** The name of the handler. */
  readonly name: string;
  /** Any JSON value except null; an empty object if there is nothing to pass. */
  readonly payload: object | string | number | boolean;
  /** The earliest time to run; by default at once. */
  readonly runAt?: Instant;
  /** While an unfinished job of the queue has this key, no second one is added. */
  readonly dedupeKey?: string;
  readonly organizationId?: string;
}

interface RunningJob {
  readonly id: string;
  readonly payload: unknown;
  /** Including the current attempt. */
  readonly attempts: number;
  /** Aborted if the lease is lost, the time limit is reached, or the program stops. */
  readonly signal: AbortSignal;
}

/**
 * Handles one kind of job. It must be idempotent: a job runs again if the process dies before its outcome is recorded.
 */
export interface JobHandler {
  readonly name: string;
  /** The time limit in milliseconds, after which the job is aborted and retried; 15 minutes by default. */
  readonly timeMax?: number;
  readonly run: (job: RunningJob) => Promise<void>;
}

const attemptsMax = 12;
const backoffBaseMs = 5 * second;
const backoffMaxMs = 1 * hour;

/** Returns the name of a queue's worker, by which it is woken. */
export function queueWorkerName(queue: QueueName): string {
  return `queue ${queue}`;
}

/** The parts of the program that a new job needs. */
export interface Enqueuing {
  readonly ids: IdSource;
  /** The background work of this process, whose worker is woken; null without any. */
  readonly running: { wake(worker: string): void } | null;
}

/** Adds a job in the transaction that requires it; false if its dedupeKey is in use. */
export async function enqueueJob(
  tx: Tx,
  { ids, running }: Enqueuing,
  at: Instant,
  { queue, name, payload, runAt, dedupeKey, organizationId }: NewJob,
): Promise<boolean> {
  const isNew = await tx.insertIfAbsent(jobs, {
    id: ids.next("job", at),
    queue,
    name,
    payload,
    dedupeKey: dedupeKey ?? null,
    organizationId: organizationId ?? null,
    state: "ready",
    runAt: runAt ?? at,
    attempts: 0,
    maxAttempts: attemptsMax,
    leaseUntil: null,
    leaseToken: null,
    failedReason: null,
    failedAt: null,
    createdAt: at,
  });
  if (isNew) tx.afterCommit(() => running?.wake(queueWorkerName(queue)));
  return isNew;
}

/** Returns the delay after a number of attempts, in milliseconds: doubling from 5 seconds up to an hour. */
export function backoffMs(attempts: number): number {
  return Math.min(backoffMaxMs, backoffBaseMs * 2 ** Math.max(0, attempts - 1));
}

/** Failed work of another table. It is listed among its queue's failed jobs while it waits. */
interface ParkedWork {
  /** The job id, always the same for this work. */
  readonly id: string;
  readonly queue: QueueName;
  /** The handler that runs it at once when an operator retries it. */
  readonly name: string;
  readonly payload: object;
  readonly organizationId: string | null;
  readonly attempts: number;
  readonly reason: string;
}

const reasonLengthMax = 2_000;

/** Lists failed work. A repeated failure replaces the entry, with the latest reason. */
export async function listParked(tx: Tx, at: Instant, work: ParkedWork): Promise<void> {
  await delistParked(tx, work.id);
  const { id, queue, name, payload, organizationId, attempts } = work;
  await tx.insert(jobs, {
    id,
    queue,
    name,
    payload,
    organizationId,
    attempts,
    dedupeKey: id,
    state: "failed",
    runAt: at,
    maxAttempts: attemptsMax,
    leaseUntil: null,
    leaseToken: null,
    // PostgreSQL cannot store NUL characters.
    failedReason: work.reason.replaceAll("\0", "").slice(0, reasonLengthMax),
    failedAt: at,
    createdAt: at,
  });
}

/** Removes work that was completed from the list. */
export async function delistParked(tx: Tx, id: string): Promise<void> {
  await tx.run("DELETE FROM jobs WHERE id = $1", [id]);
}

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
export interface FailurePosition {
  readonly failedAt: Instant;
  readonly id: string;
}

/** The position before the newest possible failure. */
export const firstFailure: FailurePosition = { failedAt: Number.MAX_SAFE_INTEGER, id: "" };

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
  after: FailurePosition,
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
