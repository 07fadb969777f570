import { hour, second, type Clock, type Instant } from "../../kernel/clock.ts";
import type { IdSource } from "../../kernel/id.ts";
import {
  columns,
  decodeRows,
  type Database,
  type Dialect,
  type RowOf,
  type Tx,
  type WriteContext,
} from "../database/index.ts";
import { listed } from "../database/json-rows.ts";
import type { Logger } from "../logger/index.ts";
import type { Worker } from "./background.ts";
import { jobs } from "./table.ts";

/** Every queue there is; each is worked off by itself, so that one never waits behind another. */
export const queues = ["webhooks", "chain", "billing", "maintenance"] as const;
export type QueueName = (typeof queues)[number];

export interface NewJob {
  readonly queue: QueueName;
  /** Which handler does it. */
  readonly name: string;
  /** Anything that JSON can say; an empty object where there is nothing to say. */
  readonly payload: object | string | number | boolean;
  /** Not before this moment; at once without it. */
  readonly runAt?: Instant;
  /** At most one unfinished job of the queue has it: a second one is not added. */
  readonly dedupeKey?: string;
  readonly organizationId?: string;
}

export interface RunningJob {
  readonly id: string;
  readonly payload: unknown;
  /** This one included. */
  readonly attempts: number;
  /** Aborted when its time is up or the program stops. */
  readonly signal: AbortSignal;
}

/** Does one kind of job. It may be run again after it was done, when a process died between: it must bear that. */
export interface JobHandler {
  readonly name: string;
  readonly run: (job: RunningJob) => Promise<void>;
}

type JobRow = RowOf<typeof jobs>;

/** Jobs that are claimed together, and recorded together. */
const batchMax = 32;
/** Jobs of a queue that run at once in a process. */
const concurrencyMax = 8;
/** How long a claim lasts: a job begins in the first half of it and has the other, so that it ends before another's begins. */
const leaseMs = 60 * second;
const attemptsMax = 12;
const backoffBaseMs = 5 * second;
const backoffMaxMs = 1 * hour;
const reasonLengthMax = 2_000;
/** How often a queue is looked at without a nudge. */
const everyMs = 5 * second;

/** The background worker of a queue, by which it is nudged. */
export function queueWorkerName(queue: QueueName): string {
  return `queue ${queue}`;
}

export interface Jobs {
  /** Adds a job in the transaction that makes it necessary; false where its dedupeKey is taken. */
  enqueue(tx: Tx, at: Instant, job: NewJob): Promise<boolean>;
}

export function createJobs(deps: {
  readonly ids: IdSource;
  readonly nudge: (worker: string) => void;
}): Jobs {
  return {
    async enqueue(tx, at, { queue, name, payload, runAt, dedupeKey, organizationId }) {
      const isNew = await tx.insertIfAbsent(jobs, {
        id: deps.ids.next("job", at),
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
      if (isNew) {
        tx.afterCommit(() => {
          deps.nudge(queueWorkerName(queue));
        });
      }
      return isNew;
    },
  };
}

/** The delay before the next attempt after so many: doubling from 5 seconds to an hour. */
export function backoffMs(attempts: number): number {
  return Math.min(backoffMaxMs, backoffBaseMs * 2 ** Math.max(0, attempts - 1));
}

const skipTaken: Readonly<Record<Dialect, string>> = {
  sqlite: "",
  postgres: "FOR UPDATE SKIP LOCKED",
};

/**
 * Works a queue off: claims due jobs under a lease, runs them outside any transaction, and records what became of them
 * in one. A process that dies leaves its jobs to whoever looks when the lease has ended; one that comes back late finds
 * its token gone and changes nothing.
 */
export function createQueueWorker(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly context: WriteContext;
  readonly queue: QueueName;
  readonly handlers: readonly JobHandler[];
}): Worker {
  const { db, clock, ids, logger, context, queue } = deps;
  const handlers = new Map(deps.handlers.map((handler) => [handler.name, handler]));

  /** A claimed job is due again when its lease ends: its place in the index moves there. */
  function claim(tx: Tx, now: Instant, token: string): Promise<JobRow[]> {
    return tx
      .all(
        `UPDATE jobs SET attempts = attempts + 1, lease_token = $3, lease_until = $4, run_at = $4
         WHERE id IN (
           SELECT id FROM jobs WHERE queue = $1 AND state = 'ready' AND run_at <= $2
           ORDER BY run_at, id LIMIT ${String(batchMax)} ${skipTaken[tx.dialect]}
         ) RETURNING ${columns(jobs)}`,
        [queue, now, token, now + leaseMs],
      )
      .then((rows) => decodeRows(jobs, rows));
  }

  async function attempt(job: JobRow, stopping: AbortSignal): Promise<string | null> {
    const handler = handlers.get(job.name);
    if (handler === undefined) return `no handler is named ${job.name}`;
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(leaseMs / 2)]);
    try {
      await handler.run({ id: job.id, payload: job.payload, attempts: job.attempts, signal });
      return null;
    } catch (error) {
      logger.warn({ queue, job: job.id, name: job.name, err: error }, "a job failed");
      return error instanceof Error ? error.message : String(error);
    }
  }

  /** Jobs that were claimed and not begun are as they were before. */
  async function handBack(token: string, unbegun: readonly JobRow[]): Promise<void> {
    await db.write(context, (tx) =>
      tx.run(
        `UPDATE jobs SET attempts = attempts - 1, run_at = $3, lease_token = NULL, lease_until = NULL
         WHERE lease_token = $1 AND id IN ${listed(tx.dialect, 2)}`,
        [token, JSON.stringify(unbegun.map(({ id }) => id)), clock.now()],
      ),
    );
  }

  async function record(
    token: string,
    outcomes: readonly { readonly job: JobRow; readonly fault: string | null }[],
  ): Promise<void> {
    const done = outcomes.filter(({ fault }) => fault === null).map(({ job }) => job.id);
    const failed = outcomes.filter(({ fault }) => fault !== null);
    await db.write(context, async (tx) => {
      const now = clock.now();
      if (done.length > 0) {
        await tx.run(`DELETE FROM jobs WHERE lease_token = $1 AND id IN ${listed(tx.dialect, 2)}`, [
          token,
          JSON.stringify(done),
        ]);
      }
      // Failures are the exception, and each has a time and a reason of its own.
      for (const { job, fault } of failed) {
        const isLast = job.attempts >= job.maxAttempts;
        await tx.update(
          jobs,
          {
            state: isLast ? "failed" : "ready",
            runAt: isLast ? job.runAt : now + backoffMs(job.attempts),
            leaseUntil: null,
            leaseToken: null,
            failedReason: (fault ?? "").slice(0, reasonLengthMax),
            failedAt: isLast ? now : null,
          },
          "WHERE id = $1 AND lease_token = $2",
          [job.id, token],
        );
      }
    });
  }

  return {
    name: queueWorkerName(queue),
    everyMs,
    async run(stopping) {
      const [due] = await db.all(
        "SELECT 1 AS found FROM jobs WHERE queue = $1 AND state = 'ready' AND run_at <= $2 LIMIT 1",
        [queue, clock.now()],
      );
      if (due === undefined) return false;
      const token = ids.unguessable("jlt");
      const beginUntil = clock.now() + leaseMs / 2;
      const claimed = await db.write(context, (tx) => claim(tx, clock.now(), token));
      const waiting = [...claimed];
      const outcomes: { job: JobRow; fault: string | null }[] = [];
      async function work(): Promise<void> {
        while (!stopping.aborted && clock.now() < beginUntil) {
          const job = waiting.shift();
          if (job === undefined) return;
          outcomes.push({ job, fault: await attempt(job, stopping) });
        }
      }
      await Promise.all(Array.from({ length: concurrencyMax }, work));
      if (outcomes.length > 0) await record(token, outcomes);
      if (waiting.length > 0) await handBack(token, waiting);
      return claimed.length === batchMax;
    },
  };
}
