import type { Instant } from "../../kernel/clock.ts";
import { columns, decodeRows } from "../database/schema/statements.ts";
import type { RowOf } from "../database/schema/table.ts";
import type { Tx } from "../database/database.ts";
import { among, listed } from "../database/query/json-rows.ts";
import { skipLocked } from "../database/write/locks.ts";
import type { QueueName } from "./queue.ts";
import { jobs } from "./table.ts";

/** A claimed job; `attempts` includes the current attempt. */
export type JobRow = RowOf<typeof jobs>;

/** A job whose attempt failed; `runAt` is the time of the retry, null after the last attempt. */
export interface FailedAttempt {
  readonly job: JobRow;
  readonly reason: string;
  readonly runAt: Instant | null;
}

/** The failure reason of a job whose last attempt died with its process. */
export const leaseLostReason = "lease_lost";

/**
 * Claims due jobs, oldest first. `run_at` moves to the end of the lease, so a claimed job becomes due again if its
 * process dies. A job whose last attempt ended without an outcome is not returned: it fails.
 */
export async function leaseJobs(
  tx: Tx,
  queue: QueueName,
  claim: {
    readonly now: Instant;
    readonly leaseUntil: Instant;
    readonly token: string;
    readonly max: number;
  },
): Promise<JobRow[]> {
  const rows = await tx.all(
    `UPDATE jobs SET attempts = attempts + 1, lease_token = $3, lease_until = $4, run_at = $4
     WHERE id ${among(
       tx.dialect,
       `(SELECT id FROM jobs WHERE queue = $1 AND state = 'ready' AND run_at <= $2
         ORDER BY run_at, id LIMIT ${String(claim.max)}${skipLocked[tx.dialect]})`,
     )} RETURNING ${columns(jobs)}`,
    [queue, claim.now, claim.token, claim.leaseUntil],
  );
  const claimed = decodeRows(jobs, rows);
  const spent = claimed.filter((job) => job.attempts > job.maxAttempts);
  if (spent.length === 0) return claimed;
  await tx.run(
    `UPDATE jobs SET state = 'failed', attempts = max_attempts, lease_token = NULL, lease_until = NULL,
       failed_reason = $2, failed_at = $3
     WHERE id ${among(tx.dialect, listed(tx.dialect, 1))}`,
    [JSON.stringify(spent.map(({ id }) => id)), leaseLostReason, claim.now],
  );
  return claimed.filter((job) => job.attempts <= job.maxAttempts);
}

/** Renews leases. Returns the claim keys of the jobs that this process still holds. */
export async function renewLeases(
  tx: Tx,
  held: readonly JobRow[],
  leaseUntil: Instant,
): Promise<ReadonlySet<string>> {
  const renewed = await tx.updateManyReturning(
    jobs,
    ["id", "leaseToken"],
    held.map((job) => ({ where: claimOf(job), set: { leaseUntil, runAt: leaseUntil } })),
  );
  return new Set(renewed.map(({ id, leaseToken }) => placeOf(id, leaseToken)));
}

/** Returns the key of a claim. The job id alone is not enough: the job may be claimed again, with another token. */
export function placeOf(id: string, token: string | null): string {
  return `${token ?? ""} ${id}`;
}

/** Returns jobs that were interrupted to the queue, without counting the attempt. */
export async function handBackJobs(tx: Tx, unfinished: readonly JobRow[], at: Instant) {
  await tx.updateMany(
    jobs,
    unfinished.map((job) => ({
      where: claimOf(job),
      set: { attempts: job.attempts - 1, runAt: at, leaseToken: null, leaseUntil: null },
    })),
  );
}

/** The values by which a job is found only while this claim holds it. */
function claimOf({ id, leaseToken }: JobRow): Pick<JobRow, "id" | "leaseToken"> {
  return { id, leaseToken };
}

/** Deletes completed jobs. Returns the number that this process still held. */
export function forgetJobs(tx: Tx, done: readonly JobRow[]): Promise<number> {
  const tokens = JSON.stringify([...new Set(done.map(({ leaseToken }) => leaseToken))]);
  return tx.run(
    `DELETE FROM jobs
     WHERE id ${among(tx.dialect, listed(tx.dialect, 1))} AND lease_token IN ${listed(tx.dialect, 2)}`,
    [JSON.stringify(done.map(({ id }) => id)), tokens],
  );
}

/** Records failed attempts. Returns the number of jobs that this process still held. */
export function recordFailures(
  tx: Tx,
  failures: readonly FailedAttempt[],
  at: Instant,
): Promise<number> {
  return tx.updateMany(
    jobs,
    failures.map(({ job, reason, runAt }) => ({
      where: claimOf(job),
      set: {
        state: runAt === null ? "failed" : "ready",
        runAt: runAt ?? job.runAt,
        failedReason: reason,
        failedAt: runAt === null ? at : null,
        leaseToken: null,
        leaseUntil: null,
      },
    })),
  );
}

/**
 * Makes the jobs of a dead process due at once. If it is alive after all, its tokens no longer match and its writes
 * have no effect.
 */
export function endJobLeases(tx: Tx, now: Instant): Promise<number> {
  return tx.run(
    `UPDATE jobs SET run_at = $1, lease_until = NULL, lease_token = NULL
     WHERE state = 'ready' AND lease_until > $1`,
    [now],
  );
}
