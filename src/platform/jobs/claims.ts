import type { Instant } from "../../kernel/clock.ts";
import { columns, decodeRows, type Dialect, type RowOf, type Tx } from "../database/index.ts";
import { givenRows, listed } from "../database/json-rows.ts";
import type { QueueName } from "./queue.ts";
import { jobs } from "./table.ts";

/** A job as it was claimed; its attempts count this one. */
export type JobRow = RowOf<typeof jobs>;

/** A claimed job as it stands after its attempt: `runAt` is null where it was the last. */
export interface FailedAttempt {
  readonly job: JobRow;
  readonly reason: string;
  readonly runAt: Instant | null;
}

/** The reason of a job whose last attempt ended with its process. */
export const leaseLostReason = "lease_lost";

const skipTaken: Readonly<Record<Dialect, string>> = {
  sqlite: "",
  postgres: "FOR UPDATE SKIP LOCKED",
};

/** Among the ids that a query gives. PostgreSQL would read a whole table of a few thousand to join it: an array it looks up. */
const among: Readonly<Record<Dialect, (query: string) => string>> = {
  sqlite: (query) => `IN ${query}`,
  postgres: (query) => `= ANY (ARRAY${query})`,
};

/** Among those of a JSON list, `$1`. */
const amongGiven = (dialect: Dialect): string => among[dialect](listed(dialect, 1));

/**
 * Claims due jobs, the oldest first. A claimed job is due again when its lease ends: its place in the index moves there.
 * One whose last attempt ended without an outcome is not given again: it fails.
 */
export async function claimJobs(
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

/** Puts the end of leases off; gives the tokens with the ids of the jobs that this process still has. */
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

/** By what a claim of a job is known: the job may be claimed again, under another token. */
export function placeOf(id: string, token: string | null): string {
  return `${token ?? ""} ${id}`;
}

/** Jobs that were claimed and not finished by no fault of theirs are as they were before. */
export async function handBackJobs(tx: Tx, unfinished: readonly JobRow[], at: Instant) {
  await tx.run(
    `UPDATE jobs SET attempts = attempts - 1, run_at = $2, lease_token = NULL, lease_until = NULL
     FROM ${givenRows[tx.dialect]}
     WHERE jobs.id = given.value ->> 0 AND jobs.lease_token = given.value ->> 1`,
    [JSON.stringify(unfinished.map(({ id, leaseToken }) => [id, leaseToken])), at],
  );
}

/** Forgets jobs that are done; gives how many of them were still this process's. */
export function forgetJobs(tx: Tx, done: readonly JobRow[]): Promise<number> {
  const tokens = JSON.stringify([...new Set(done.map(({ leaseToken }) => leaseToken))]);
  return tx.run(
    `DELETE FROM jobs WHERE id ${amongGiven(tx.dialect)} AND lease_token IN ${listed(tx.dialect, 2)}`,
    [JSON.stringify(done.map(({ id }) => id)), tokens],
  );
}

/** Writes down what jobs failed of; gives how many of them were still this process's. */
export function settleFailures(
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

/** Makes what a dead process had claimed due at once. Should it live after all, it is fenced off by its token. */
export function endJobLeases(tx: Tx, now: Instant): Promise<number> {
  return tx.run(
    `UPDATE jobs SET run_at = $1, lease_until = NULL, lease_token = NULL
     WHERE state = 'ready' AND lease_until > $1`,
    [now],
  );
}
