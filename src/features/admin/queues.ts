import type { Clock } from "../../kernel/clock.ts";
import { defineProblem, notFound } from "../../kernel/errors.ts";
import type { Auditor } from "../../platform/audit/index.ts";
import type { Database, WriteContext } from "../../platform/database/index.ts";
import type { FailedJob, QueueDepth } from "../../platform/jobs/inspection.ts";
import { queueWorkerName } from "../../platform/jobs/queue.ts";
import { jobs } from "../../platform/jobs/table.ts";
import { deliveryBacklog } from "../webhooks/index.ts";
import { readBacklogs } from "./probes.ts";

export const JobNotFailed = defineProblem({
  code: "job_not_failed",
  status: 409,
  title: "The job has not failed",
});
export const JobWaiting = defineProblem({
  code: "job_waiting",
  status: 409,
  title: "The same job is waiting already",
});
export const DeadLetter = defineProblem({
  code: "dead_letter",
  status: 409,
  title: "This is a webhook delivery that was given up",
});

/** What operators do with the queues. */
export interface QueueService {
  /** Every queue and what of it waits, runs, waits for its time, and was given up. */
  list(): Promise<readonly QueueDepth[]>;
  /** Lets a failed job run again, with all of its attempts; gives it as it had failed. */
  retry(context: WriteContext, jobId: string): Promise<FailedJob>;
}

export function makeQueueService(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly auditor: Auditor;
  readonly nudge: (worker: string) => void;
}): QueueService {
  const { db, clock, auditor } = deps;
  return {
    async list() {
      return (await readBacklogs(db, clock.now(), deliveryBacklog)).queues;
    },

    retry(context, jobId) {
      if (jobId.startsWith("whd_")) {
        throw new DeadLetter(`Send it once more with: till webhook replay ${jobId}`);
      }
      return db.write(context, async (tx) => {
        const job = await tx.lockOne(jobs, "WHERE id = $1", [jobId]);
        if (job === null) throw notFound();
        const { queue, name, dedupeKey, failedAt } = job;
        if (failedAt === null || job.state !== "failed") {
          throw new JobNotFailed("It waits for its next attempt, or is in work: leave it be.");
        }
        const twins = await tx.all(
          "SELECT id FROM jobs WHERE queue = $1 AND dedupe_key = $2 AND state = 'ready' LIMIT 1",
          [queue, dedupeKey],
        );
        if (twins.length > 0) {
          throw new JobWaiting("One of its kind was added since and will do the same.");
        }
        const at = clock.now();
        await tx.update(
          jobs,
          { state: "ready", runAt: at, attempts: 0, failedReason: null, failedAt: null },
          "WHERE id = $1",
          [jobId],
        );
        auditor.record(tx, at, {
          action: "job.retried",
          organizationId: null,
          targetType: "job",
          targetId: jobId,
          changes: { queue, name, failedReason: job.failedReason },
        });
        tx.afterCommit(() => {
          deps.nudge(queueWorkerName(queue as Parameters<typeof queueWorkerName>[0]));
        });
        return {
          ...{ id: job.id, queue: queue as FailedJob["queue"], name, attempts: job.attempts },
          ...{ failedReason: job.failedReason ?? "", organizationId: job.organizationId },
          ...{ createdAt: job.createdAt, failedAt },
        };
      });
    },
  };
}
