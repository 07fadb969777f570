import { integer, json, table, text, time } from "../database/schema/table.ts";

/**
 * A `ready` job is waiting, or running while `leaseUntil` is in the future. A `failed` job has no attempts left and is
 * kept for inspection. A completed job is deleted.
 */
type JobState = "ready" | "failed";

export const jobs = table(
  "jobs",
  {
    id: text(),
    queue: text(),
    name: text(),
    payload: json<unknown>(),
    /** Unique among the unfinished jobs of a queue. */
    dedupeKey: text().nullable(),
    organizationId: text().nullable(),
    state: text<JobState>(),
    /** The earliest time of the next attempt. */
    runAt: time(),
    attempts: integer(),
    maxAttempts: integer(),
    /** Until this time the job belongs to the worker with `leaseToken`. */
    leaseUntil: time().nullable(),
    leaseToken: text().nullable(),
    failedReason: text().nullable(),
    failedAt: time().nullable(),
    createdAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "jobs_ready", columns: ["queue", "runAt", "id"], where: "state = 'ready'" },
      {
        name: "jobs_dedupe",
        columns: ["queue", "dedupeKey"],
        unique: true,
        // Rows without a key are excluded: otherwise PostgreSQL would claim by this index and sort the whole queue for
        // each batch.
        where: "state = 'ready' AND dedupe_key IS NOT NULL",
      },
      { name: "jobs_failed", columns: ["queue", "failedAt", "id"], where: "state = 'failed'" },
    ],
  },
);

/** Leases for work that only one process may do at a time. */
export const leases = table(
  "leases",
  {
    name: text(),
    holder: text(),
    /** Incremented for each new holder; a holder with an older number has lost the lease. */
    token: integer(),
    until: time(),
  },
  { primaryKey: ["name"] },
);

/** A schedule time that one process has enqueued. */
export const cronRuns = table(
  "cron_runs",
  { task: text(), scheduledAt: time() },
  { primaryKey: ["task", "scheduledAt"] },
);
