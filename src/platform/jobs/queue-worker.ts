import { minute, second, within, type Clock, type Instant } from "../../kernel/clock.ts";
import type { IdSource } from "../../kernel/id.ts";
import type { Database, Tx, WriteContext } from "../database/database.ts";
import { among, listed } from "../database/query/json-rows.ts";
import { columns, decodeRows } from "../database/schema/statements.ts";
import type { RowOf } from "../database/schema/table.ts";
import { skipLocked } from "../database/write/locks.ts";
import type { Logger } from "../logger/index.ts";
import type { Counts } from "../metrics/metrics.ts";
import { makeStarted, type Started, type Worker } from "./background.ts";
import { backoffMs, queueWorkerName, type JobHandler, type QueueName } from "./queue.ts";
import { jobs } from "./table.ts";

/** The maximum number of outcomes that are recorded in one transaction. */
const recordMax = 64;
/** The maximum number of concurrent jobs of a queue per process. */
const concurrencyMax = 8;
/** The length of a lease without renewal, in milliseconds. */
const leaseMsDefault = 60 * second;
/** Renewals per lease; two may fail before the lease is lost. */
const renewalsPerLease = 3;
/** The time limit of a job whose handler has none, in milliseconds; it is then aborted and retried. */
const jobTimeMax = 15 * minute;
const reasonLengthMax = 2_000;
/** Poll interval without a wake-up, in milliseconds. */
const everyMs = 5 * second;

/** A claimed job in this process. */
interface Held {
  readonly job: JobRow;
  /** Aborted if the lease is lost, the time limit is reached, or the program stops. */
  readonly lost: AbortController;
  readonly begunAt: Instant;
  leaseUntil: Instant;
}

interface Ended {
  readonly job: JobRow;
  readonly outcome: JobOutcome;
}

type JobOutcome = "done" | "unfinished" | { readonly fault: string };

/** The abort reason of a job whose lease was lost: another process runs it, and this outcome is discarded. */
class JobLost extends Error {
  override readonly name = "JobLost";
}

class JobTooLong extends Error {
  override readonly name = "JobTooLong";
}

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly metrics: Pick<Counts, "jobEnded">;
  readonly context: WriteContext;
  readonly queue: QueueName;
  readonly handlers: readonly JobHandler[];
  /** Wakes this worker when there is room for more jobs. */
  readonly wake: () => void;
  /** The length of a lease in milliseconds; it must exceed any pause of the machine. */
  readonly leaseMs?: number;
}

type State = Required<Deps> & {
  readonly handlerOf: ReadonlyMap<string, JobHandler>;
  /** The claimed jobs, by id and lease token. */
  readonly held: Map<string, Held>;
  readonly started: Started<Ended>;
  heartbeat: NodeJS.Timeout | undefined;
};

/**
 * Creates the worker of a queue. It claims as many due jobs as it has free slots, under a lease, runs them outside any
 * transaction, and records each outcome. A run does not wait for its jobs, so a slow job occupies only one slot. The
 * leases of held jobs are renewed. If the process dies, its jobs become due when the lease ends; if it resumes later, its
 * tokens no longer match: its jobs are aborted and their outcomes have no effect.
 */
export function createQueueWorker(deps: Deps): Worker & Required<Pick<Worker, "drained">> {
  const state: State = {
    leaseMs: leaseMsDefault,
    ...deps,
    handlerOf: new Map(deps.handlers.map((handler) => [handler.name, handler])),
    held: new Map(),
    started: makeStarted<Ended>({
      batchMax: recordMax,
      record: (ended) => recordEnded(state, ended),
      after: deps.wake,
    }),
    heartbeat: undefined,
  };
  return {
    name: queueWorkerName(deps.queue),
    everyMs,
    run: (stopping: AbortSignal) => run(state, stopping),
    drained: () => state.started.idle(),
  };
}

async function run(state: State, stopping: AbortSignal): Promise<boolean> {
  const { db, clock, ids, context, queue, leaseMs, held, started } = state;
  const max = concurrencyMax - started.count();
  if (max < 1 || stopping.aborted) return false;
  const [due] = await db.all(
    "SELECT 1 AS found FROM jobs WHERE queue = $1 AND state = 'ready' AND run_at <= $2 LIMIT 1",
    [queue, clock.now()],
  );
  if (due === undefined) return false;
  const now = clock.now();
  const leaseUntil = now + leaseMs;
  const token = ids.unguessable("jlt");
  const { leased, claimed } = await db.write(context, (tx) =>
    leaseJobs(tx, queue, { now, leaseUntil, token, max }),
  );
  for (const job of leased) {
    const each = { job, leaseUntil, lost: new AbortController(), begunAt: clock.now() };
    held.set(leaseKeyOf(job), each);
    started.add(attempt(state, each, stopping).then((outcome) => ({ job, outcome })));
  }
  if (held.size > 0) beat(state);
  return claimed > 0;
}

async function attempt(
  state: State,
  { job, lost, leaseUntil }: Held,
  stopping: AbortSignal,
): Promise<JobOutcome> {
  const { clock, logger, queue, handlerOf } = state;
  // If this process paused, another one may have claimed the job.
  if (leaseUntil <= clock.now()) return "unfinished";
  // Not AbortSignal.any: its signals stay referenced by the longest-lived of their sources.
  const stop = () => {
    lost.abort(stopping.reason);
  };
  stopping.addEventListener("abort", stop, { once: true });
  const { signal } = lost;
  try {
    stopping.throwIfAborted();
    const handler = handlerOf.get(job.name);
    if (handler === undefined) return { fault: `no handler is named ${job.name}` };
    const work = handler.run({ id: job.id, payload: job.payload, attempts: job.attempts, signal });
    await within(timeMaxOf(state, job), work, () => {
      lost.abort(new JobTooLong(`the job ${job.id} took too long`));
      return work;
    });
    return "done";
  } catch (error) {
    // A job that is interrupted by the program's stop has not failed.
    if (stopping.aborted) return "unfinished";
    logger.warn({ queue, job: job.id, name: job.name, err: error }, "a job failed");
    return { fault: error instanceof Error ? error.message : String(error) };
  } finally {
    stopping.removeEventListener("abort", stop);
  }
}

async function recordEnded(state: State, ended: readonly Ended[]): Promise<void> {
  const { db, clock, logger, metrics, context, queue, held } = state;
  for (const { outcome } of ended)
    if (outcome !== "unfinished") metrics.jobEnded(queue, outcome === "done" ? "done" : "failed");
  try {
    const counted = await db.write(context, (tx) => record(tx, ended, clock.now()));
    const lost = ended.length - counted;
    if (lost > 0) logger.warn({ queue, lost }, "jobs ended after their lease was lost");
  } catch (error) {
    // Nothing is lost: the leases expire and the jobs run again.
    logger.error({ queue, err: error }, "outcomes of jobs were not recorded");
  }
  for (const { job } of ended) held.delete(leaseKeyOf(job));
  if (held.size > 0) return;
  clearTimeout(state.heartbeat);
  state.heartbeat = undefined;
}

/** Renews leases for as long as jobs are held. */
function beat(state: State): void {
  const { leaseMs, held } = state;
  state.heartbeat ??= setTimeout(() => {
    state.heartbeat = undefined;
    void renew(state).then(() => {
      if (held.size > 0) beat(state);
    });
  }, leaseMs / renewalsPerLease);
}

/** Returns the time limit of a job, in milliseconds. */
function timeMaxOf({ handlerOf }: Pick<State, "handlerOf">, { name }: JobRow): number {
  return handlerOf.get(name)?.timeMax ?? jobTimeMax;
}

async function renew(state: State): Promise<void> {
  const { db, clock, logger, context, queue, leaseMs, held } = state;
  const now = clock.now();
  // A job that ignores its abort signal is left to another process once its lease ends.
  const mine = [...held.values()].filter(
    ({ job, begunAt }) => now - begunAt < timeMaxOf(state, job),
  );
  const leaseUntil = now + leaseMs;
  let renewed: ReadonlySet<string> | null = null;
  try {
    const rows = mine.map(({ job }) => job);
    renewed = await db.write(context, (tx) => renewLeases(tx, rows, leaseUntil));
  } catch (error) {
    logger.warn({ queue, err: error }, "leases of jobs were not renewed");
  }
  for (const each of mine) {
    const key = leaseKeyOf(each.job);
    if (renewed?.has(key) === true) each.leaseUntil = leaseUntil;
    // A job that has ended meanwhile needs no abort.
    else if (held.has(key) && (renewed !== null || each.leaseUntil <= clock.now())) {
      each.lost.abort(new JobLost(`the lease of the job ${each.job.id} was lost`));
    }
  }
}

/** A claimed job; `attempts` includes the current attempt. */
type JobRow = RowOf<typeof jobs>;

/** The failure reason of a job whose last attempt died with its process. */
const leaseLostReason = "lease_lost";

/**
 * Claims due jobs, oldest first. `run_at` moves to the end of the lease, so a claimed job becomes due again if its
 * process dies. A job whose last attempt ended without an outcome is claimed and not leased: it fails.
 */
async function leaseJobs(
  tx: Tx,
  queue: QueueName,
  lease: {
    readonly now: Instant;
    readonly leaseUntil: Instant;
    readonly token: string;
    readonly max: number;
  },
): Promise<{ readonly leased: readonly JobRow[]; readonly claimed: number }> {
  const rows = await tx.all(
    `UPDATE jobs SET attempts = attempts + 1, lease_token = $3, lease_until = $4, run_at = $4
     WHERE id ${among(
       tx.dialect,
       `(SELECT id FROM jobs WHERE queue = $1 AND state = 'ready' AND run_at <= $2
         ORDER BY run_at, id LIMIT $5${skipLocked[tx.dialect]})`,
     )} RETURNING ${columns(jobs)}`,
    [queue, lease.now, lease.token, lease.leaseUntil, lease.max],
  );
  const found = decodeRows(jobs, rows);
  const leased = found.filter((job) => job.attempts <= job.maxAttempts);
  const spent = found.filter((job) => job.attempts > job.maxAttempts);
  if (spent.length === 0) return { leased, claimed: found.length };
  await tx.run(
    `UPDATE jobs SET state = 'failed', attempts = max_attempts, lease_token = NULL, lease_until = NULL,
       failed_reason = $2, failed_at = $3
     WHERE id ${among(tx.dialect, listed(tx.dialect, 1))}`,
    [JSON.stringify(spent.map(({ id }) => id)), leaseLostReason, lease.now],
  );
  return { leased, claimed: found.length };
}

/** Renews leases. Returns the claim keys of the jobs that this process still holds. */
async function renewLeases(
  tx: Tx,
  held: readonly JobRow[],
  leaseUntil: Instant,
): Promise<ReadonlySet<string>> {
  const renewed = await tx.updateManyReturning(
    jobs,
    ["id", "leaseToken"],
    held.map((job) => ({ where: leaseOf(job), set: { leaseUntil, runAt: leaseUntil } })),
  );
  return new Set(renewed.map(leaseKeyOf));
}

/** The values by which a job is found only while this lease holds it. */
function leaseOf({ id, leaseToken }: JobRow): Pick<JobRow, "id" | "leaseToken"> {
  return { id, leaseToken };
}

/** Returns the key of a lease. The job id alone is not enough: the job may be leased again, with another token. */
function leaseKeyOf({ id, leaseToken }: Pick<JobRow, "id" | "leaseToken">): string {
  return `${leaseToken ?? ""} ${id}`;
}

/** Records outcomes: completed jobs are deleted. Returns the number of those that this process still held. */
async function record(tx: Tx, ended: readonly Ended[], now: Instant): Promise<number> {
  const done = ended.flatMap(({ job, outcome }) => (outcome === "done" ? [job] : []));
  const changes = ended.flatMap(({ job, outcome }) =>
    outcome === "done" ? [] : [{ where: leaseOf(job), set: afterwards(job, outcome, now) }],
  );
  const forgotten = done.length === 0 ? 0 : await forgetJobs(tx, done);
  return forgotten + (await tx.updateMany(jobs, changes));
}

/** Returns what an attempt changes of a job that is not done. */
function afterwards(job: JobRow, outcome: Exclude<JobOutcome, "done">, now: Instant) {
  const { state, attempts, failedReason, failedAt } = job;
  const before = { state, attempts, failedReason, failedAt, leaseToken: null, leaseUntil: null };
  // An interruption is not an attempt.
  if (outcome === "unfinished") return { ...before, attempts: attempts - 1, runAt: now };
  // PostgreSQL cannot store NUL characters.
  const reason = outcome.fault.replaceAll("\0", "").slice(0, reasonLengthMax);
  const failed = { ...before, failedReason: reason, runAt: now + backoffMs(attempts) };
  return attempts < job.maxAttempts
    ? failed
    : { ...failed, state: "failed" as const, runAt: job.runAt, failedAt: now };
}

/** Deletes completed jobs. Returns the number that this process still held. */
function forgetJobs(tx: Tx, done: readonly JobRow[]): Promise<number> {
  const tokens = JSON.stringify([...new Set(done.map(({ leaseToken }) => leaseToken))]);
  return tx.run(
    `DELETE FROM jobs
     WHERE id ${among(tx.dialect, listed(tx.dialect, 1))} AND lease_token IN ${listed(tx.dialect, 2)}`,
    [JSON.stringify(done.map(({ id }) => id)), tokens],
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
