import { hour, second, type Instant } from "../../kernel/clock.ts";
import type { IdSource } from "../../kernel/id.ts";
import type { Tx } from "../database/database.ts";
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

export interface RunningJob {
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
