import type { Instant } from "../../kernel/clock.ts";
import { columns, decodeRows, type Dialect, type RowOf, type Tx } from "../database/index.ts";
import { givenRows, listed } from "../database/query/json-rows.ts";
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

const skipTaken: Readonly<Record<Dialect, string>> = {
  sqlite: "",
  postgres: "FOR UPDATE SKIP LOCKED",
};

/**
 * Tests an id against those of a subquery. With IN, PostgreSQL would scan a table of a few thousand rows for the join;
 * with an array it uses the index.
 */
const among: Readonly<Record<Dialect, (query: string) => string>> = {
  sqlite: (query) => `IN ${query}`,
  postgres: (query) => `= ANY (ARRAY${query})`,
};

/** Tests an id against those of a JSON list, `$1`. */
const amongGiven = (dialect: Dialect): string => among[dialect](listed(dialect, 1));

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
     WHERE id ${among[tx.dialect](
       `(SELECT id FROM jobs WHERE queue = $1 AND state = 'ready' AND run_at <= $2
         ORDER BY run_at, id LIMIT ${String(claim.max)} ${skipTaken[tx.dialect]})`,
     )} RETURNING ${columns(jobs)}`,
    [queue, claim.now, claim.token, claim.leaseUntil],
  );
  const claimed = decodeRows(jobs, rows);
  const spent = claimed.filter((job) => job.attempts > job.maxAttempts);
  if (spent.length === 0) return claimed;
  await tx.run(
    `UPDATE jobs SET state = 'failed', attempts = max_attempts, lease_token = NULL, lease_until = NULL,
       failed_reason = $2, failed_at = $3
     WHERE id ${amongGiven(tx.dialect)}`,
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
  const renewed = await tx.all<{ id: string; token: string }>(
    `UPDATE jobs SET lease_until = $2, run_at = $2 FROM ${givenRows[tx.dialect]}
     WHERE jobs.id = given.value ->> 0 AND jobs.lease_token = given.value ->> 1
     RETURNING jobs.id AS "id", jobs.lease_token AS "token"`,
    [JSON.stringify(held.map(({ id, leaseToken }) => [id, leaseToken])), leaseUntil],
  );
  return new Set(renewed.map(({ id, token }) => placeOf(id, token)));
}

/** Returns the key of a claim. The job id alone is not enough: the job may be claimed again, with another token. */
export function placeOf(id: string, token: string | null): string {
  return `${token ?? ""} ${id}`;
}

/** Returns jobs that were interrupted to the queue, without counting the attempt. */
export async function handBackJobs(tx: Tx, unfinished: readonly JobRow[], at: Instant) {
  await tx.run(
    `UPDATE jobs SET attempts = attempts - 1, run_at = $2, lease_token = NULL, lease_until = NULL
     FROM ${givenRows[tx.dialect]}
     WHERE jobs.id = given.value ->> 0 AND jobs.lease_token = given.value ->> 1`,
    [JSON.stringify(unfinished.map(({ id, leaseToken }) => [id, leaseToken])), at],
  );
}

/** Deletes completed jobs. Returns the number that this process still held. */
export function forgetJobs(tx: Tx, done: readonly JobRow[]): Promise<number> {
  const tokens = JSON.stringify([...new Set(done.map(({ leaseToken }) => leaseToken))]);
  return tx.run(
    `DELETE FROM jobs WHERE id ${amongGiven(tx.dialect)} AND lease_token IN ${listed(tx.dialect, 2)}`,
    [JSON.stringify(done.map(({ id }) => id)), tokens],
  );
}

/** Records failed attempts. Returns the number of jobs that this process still held. */
export function recordFailures(
  tx: Tx,
  failures: readonly FailedAttempt[],
  at: Instant,
): Promise<number> {
  const rows = failures.map(({ job, reason, runAt }) => [
    ...[job.id, job.leaseToken, runAt === null ? "failed" : "ready", runAt ?? job.runAt],
    ...[reason, runAt === null ? at : null],
  ]);
  return tx.run(
    `UPDATE jobs SET state = given.value ->> 2, run_at = CAST(given.value ->> 3 AS BIGINT),
       failed_reason = given.value ->> 4, failed_at = CAST(given.value ->> 5 AS BIGINT),
       lease_token = NULL, lease_until = NULL
     FROM ${givenRows[tx.dialect]}
     WHERE jobs.id = given.value ->> 0 AND jobs.lease_token = given.value ->> 1`,
    [JSON.stringify(rows)],
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
