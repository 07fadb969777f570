import { integer, json, table, text, time } from "../database/index.ts";

/**
 * `ready` is waiting or, while `leaseUntil` lies ahead, in work; `failed` has used up its attempts and is kept to be
 * looked at. A job that is done is deleted.
 */
export type JobState = "ready" | "failed";

export const jobs = table(
  "jobs",
  {
    id: text(),
    queue: text(),
    name: text(),
    payload: json<unknown>(),
    /** At most one unfinished job of a queue has it. */
    dedupeKey: text().nullable(),
    organizationId: text().nullable(),
    state: text<JobState>(),
    /** When it may run, or run again. */
    runAt: time(),
    attempts: integer(),
    maxAttempts: integer(),
    /** While it lies ahead, the worker that holds the token has the job. */
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
        // Without what has no key: PostgreSQL would claim by this index, and sort the whole queue for each batch.
        where: "state = 'ready' AND dedupe_key IS NOT NULL",
      },
      { name: "jobs_failed", columns: ["queue", "failedAt", "id"], where: "state = 'failed'" },
    ],
  },
);

/** What only one process does at a time. */
export const leases = table(
  "leases",
  {
    name: text(),
    holder: text(),
    /** Counts up with each new holder; a holder whose number is not the row's has lost the lease. */
    token: integer(),
    until: time(),
  },
  { primaryKey: ["name"] },
);

/** A tick of the schedule that was taken by one process. */
export const cronRuns = table(
  "cron_runs",
  { task: text(), scheduledAt: time() },
  { primaryKey: ["task", "scheduledAt"] },
);
