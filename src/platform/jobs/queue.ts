import { hour, second, type Instant } from "../../kernel/clock.ts";
import type { IdSource } from "../../kernel/id.ts";
import type { Tx } from "../database/index.ts";
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
  /** Aborted when its lease is lost, its time is up or the program stops. */
  readonly signal: AbortSignal;
}

/** Does one kind of job. It may be run again after it was done, when a process died between: it must bear that. */
export interface JobHandler {
  readonly name: string;
  readonly run: (job: RunningJob) => Promise<void>;
}

const attemptsMax = 12;
const backoffBaseMs = 5 * second;
const backoffMaxMs = 1 * hour;

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
