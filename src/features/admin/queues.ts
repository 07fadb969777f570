import type { App } from "../../app.ts";
import { defineProblem, invalidField, notFound } from "../../kernel/errors.ts";
import { parsePage, toPageBy, type Page, type PageQuery } from "../../kernel/page.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import type { RowOf } from "../../platform/database/schema/table.ts";
import {
  failedJobs,
  firstFailure,
  isQueue,
  queues,
  queueWorkerName,
  type FailedJob,
  type FailurePosition,
  type QueueDepth,
} from "../../platform/jobs/queue.ts";
import { jobs } from "../../platform/jobs/table.ts";
import { deadLetters } from "../webhooks/delivery/store.ts";
import { readBacklogs } from "./status/stored-status.ts";

const JobNotFailed = defineProblem({
  code: "job_not_failed",
  status: 409,
  title: "The job has not failed",
});
const JobWaiting = defineProblem({
  code: "job_waiting",
  status: 409,
  title: "The same job is already waiting",
});
const DeadLetter = defineProblem({
  code: "dead_letter",
  status: 409,
  title: "This id belongs to a failed webhook delivery",
});

/** Returns every queue with its counts of waiting, active, delayed and failed jobs. */
export async function listQueues(app: App): Promise<readonly QueueDepth[]> {
  return (await readBacklogs(app.db, app.clock.now())).queues;
}

/** Returns the failed jobs of a queue, or of all, latest failure first; 404 if there is no such queue. */
export async function listFailedJobs(
  { db }: App,
  queue: string | null,
  query: PageQuery,
): Promise<Page<FailedJob>> {
  if (queue !== null && !isQueue(queue)) throw notFound();
  const page = parsePage(query, "admin_failed_jobs", { queue });
  const after = page.after === null ? firstFailure : readPosition(page.after);
  const named = queue === null ? queues : [queue];
  const found = await Promise.all([
    ...named.map((each) => failedJobs(db, each, after, page.fetch)),
    named.includes("webhooks") ? deadLetters(db, after, page.fetch) : [],
  ]);
  return toPageBy(found.flat().sort(latestFirst), page, positionOf);
}

/** Returns a failed job. 409 `job_not_failed`, `dead_letter`. */
export async function getFailedJob(app: App, jobId: string): Promise<FailedJob> {
  return failedJob(jobId, await app.db.findOne(jobs, "WHERE id = $1", [jobId]));
}

/** Reschedules a failed job with a full set of attempts; returns the job as it had failed. */
export function retryJob(app: App, context: WriteContext, jobId: string): Promise<FailedJob> {
  return app.db.write(context, async (tx) => {
    const job = await tx.lockOne(jobs, "WHERE id = $1", [jobId]);
    const failed = failedJob(jobId, job);
    const { queue, name } = failed;
    const waiting = await tx.all(
      "SELECT id FROM jobs WHERE queue = $1 AND dedupe_key = $2 AND state = 'ready' LIMIT 1",
      [queue, job?.dedupeKey ?? null],
    );
    if (waiting.length > 0) {
      throw new JobWaiting("An identical job was added later and will do the same work.");
    }
    const at = app.clock.now();
    await tx.update(
      jobs,
      { state: "ready", runAt: at, attempts: 0, failedReason: null, failedAt: null },
      "WHERE id = $1",
      [jobId],
    );
    app.journal.record(tx, at, {
      action: "job.retried",
      organizationId: null,
      subjectType: "job",
      subjectId: jobId,
      changes: { queue, name, failedReason: failed.failedReason },
    });
    tx.afterCommit(() => app.running?.wake(queueWorkerName(queue)));
    return failed;
  });
}

/** Returns a stored job as a failed one. */
function failedJob(jobId: string, job: RowOf<typeof jobs> | null): FailedJob {
  if (jobId.startsWith("whd_")) {
    throw new DeadLetter(`Replay it with: till webhook replay ${jobId}`);
  }
  if (job === null) throw notFound();
  const { id, name, attempts, organizationId, createdAt, failedAt } = job;
  if (failedAt === null) {
    throw new JobNotFailed(
      "It is waiting for its next attempt or running now. No action is needed.",
    );
  }
  return {
    id,
    queue: job.queue as FailedJob["queue"],
    name,
    attempts,
    failedReason: job.failedReason ?? "",
    organizationId,
    createdAt,
    failedAt,
  };
}

function latestFirst(one: FailedJob, other: FailedJob): number {
  return other.failedAt - one.failedAt || (one.id < other.id ? 1 : -1);
}

function positionOf({ failedAt, id }: FailedJob): string {
  return `${String(failedAt)}.${id}`;
}

function readPosition(position: string): FailurePosition {
  const [, failedAt = "", id = ""] = /^(\d{1,15})\.(\w+)$/.exec(position) ?? [];
  if (id === "") {
    const message = "must be the nextCursor of this list; omit it to start over";
    throw invalidField({ parameter: "cursor" }, "invalid_cursor", message);
  }
  return { failedAt: Number(failedAt), id };
}
