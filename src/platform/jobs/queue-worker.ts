import { minute, second, within, type Clock, type Instant } from "../../kernel/clock.ts";
import type { IdSource } from "../../kernel/id.ts";
import type { Database, Tx, WriteContext } from "../database/database.ts";
import { among, listed } from "../database/query/json-rows.ts";
import { columns, decodeRows } from "../database/schema/statements.ts";
import type { RowOf } from "../database/schema/table.ts";
import { skipLocked } from "../database/write/locks.ts";
import type { Logger } from "../logger/index.ts";
import type { Counts } from "../metrics/metrics.ts";
import type { Worker } from "./background.ts";
import { backoffMs, queueWorkerName, type JobHandler, type QueueName } from "./queue.ts";
import { jobs } from "./table.ts";

/** The maximum number of jobs per claim, and per transaction that records outcomes. */
const batchMax = 64;
/**
 * The number of held jobs at which the worker claims more, so that the next batch is there before the last one ends.
 */
const leaseBelow = 32;
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
  leaseUntil: Instant;
  /** Null while it waits for a free slot. */
  begunAt: Instant | null;
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
  /** Held jobs that wait for a free slot. */
  waiting: Held[];
  /** Jobs whose outcome is not recorded yet. */
  ended: { readonly held: Held; readonly outcome: JobOutcome }[];
  running: number;
  recording: Promise<void> | null;
  heartbeat: NodeJS.Timeout | undefined;
  /** Called when no job is held. */
  idle: (() => void)[];
};

/**
 * Creates the worker of a queue. It claims due jobs under a lease, runs them outside any transaction, and records their
 * outcomes in batches. A run does not wait for its jobs, so a slow job occupies only one slot. The leases of held jobs
 * are renewed. If the process dies, its jobs become due when the lease ends; if it resumes later, its tokens no longer
 * match: its jobs are aborted and their outcomes have no effect.
 */
export function createQueueWorker(deps: Deps): Worker & Required<Pick<Worker, "drained">> {
  const state: State = {
    leaseMs: leaseMsDefault,
    ...deps,
    handlerOf: new Map(deps.handlers.map((handler) => [handler.name, handler])),
    held: new Map(),
    waiting: [],
    ended: [],
    running: 0,
    recording: null,
    heartbeat: undefined,
    idle: [],
  };
  return {
    name: queueWorkerName(deps.queue),
    everyMs,
    run: (stopping: AbortSignal) => run(state, stopping),
    drained: () => drained(state),
  };
}

async function run(state: State, stopping: AbortSignal): Promise<boolean> {
  const { db, clock, ids, context, queue, leaseMs, held } = state;
  if (held.size > leaseBelow || stopping.aborted) return false;
  const [due] = await db.all(
    "SELECT 1 AS found FROM jobs WHERE queue = $1 AND state = 'ready' AND run_at <= $2 LIMIT 1",
    [queue, clock.now()],
  );
  if (due === undefined) return false;
  const now = clock.now();
  const leaseUntil = now + leaseMs;
  const token = ids.unguessable("jlt");
  const leased = await db.write(context, (tx) =>
    leaseJobs(tx, queue, { now, leaseUntil, token, max: batchMax }),
  );
  for (const job of leased) {
    const each = { job, leaseUntil, lost: new AbortController(), begunAt: null };
    held.set(leaseKeyOf(job.id, job.leaseToken), each);
    state.waiting.push(each);
  }
  if (held.size > 0) beat(state);
  pump(state, stopping);
  return leased.length === batchMax;
}

async function drained(state: State): Promise<void> {
  const { held } = state;
  while (held.size > 0) await new Promise<void>((resolve) => state.idle.push(resolve));
}

async function attempt(
  state: State,
  { job, lost }: Held,
  stopping: AbortSignal,
): Promise<JobOutcome> {
  const { logger, queue, handlerOf } = state;
  const handler = handlerOf.get(job.name);
  if (handler === undefined) return { fault: `no handler is named ${job.name}` };
  // Not AbortSignal.any: its signals stay referenced by the longest-lived of their sources.
  const stop = () => {
    lost.abort(stopping.reason);
  };
  stopping.addEventListener("abort", stop, { once: true });
  const { signal } = lost;
  try {
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

/** Starts waiting jobs while slots are free. */
function pump(state: State, stopping: AbortSignal): void {
  const { clock } = state;
  if (stopping.aborted) {
    for (const each of state.waiting) end(state, each, "unfinished");
    state.waiting = [];
  }
  while (state.running < concurrencyMax) {
    const next = state.waiting.shift();
    if (next === undefined) return;
    // If this process paused or could not renew, another one may have claimed the job.
    if (next.lost.signal.aborted || next.leaseUntil <= clock.now()) {
      end(state, next, "unfinished");
      continue;
    }
    state.running += 1;
    next.begunAt = clock.now();
    void attempt(state, next, stopping).then((outcome) => {
      state.running -= 1;
      end(state, next, outcome);
      pump(state, stopping);
    });
  }
}

function end(state: State, each: Held, outcome: JobOutcome): void {
  const { queue } = state;
  state.ended.push({ held: each, outcome });
  if (outcome !== "unfinished")
    state.metrics.jobEnded(queue, outcome === "done" ? "done" : "failed");
  state.recording ??= recordEnded(state);
}

/** Records the outcomes of ended jobs until none are left, in batches. */
async function recordEnded(state: State): Promise<void> {
  const { logger, queue, held } = state;
  // Jobs that end in the same turn of the event loop are recorded together.
  await new Promise(setImmediate);
  while (state.ended.length > 0) {
    const batch = state.ended.slice(0, batchMax);
    state.ended = state.ended.slice(batchMax);
    try {
      await record(state, batch);
    } catch (error) {
      // Nothing is lost: the leases expire and the jobs run again.
      logger.error({ queue, err: error }, "outcomes of jobs were not recorded");
    }
    for (const { held: each } of batch) held.delete(leaseKeyOf(each.job.id, each.job.leaseToken));
    if (held.size <= leaseBelow) state.wake();
  }
  state.recording = null;
  if (held.size > 0) return;
  clearTimeout(state.heartbeat);
  state.heartbeat = undefined;
  for (const wake of state.idle) wake();
  state.idle = [];
}

async function record(
  { db, clock, logger, context, queue }: State,
  batch: readonly { held: Held; outcome: JobOutcome }[],
): Promise<void> {
  const now = clock.now();
  const of = (outcome: JobOutcome) =>
    batch.filter((each) => each.outcome === outcome).map((each) => each.held.job);
  const [done, unfinished] = [of("done"), of("unfinished")];
  const failures = batch.flatMap(({ held: { job }, outcome }) =>
    typeof outcome === "object" ? [failureOf(job, outcome.fault, now)] : [],
  );
  const counted = await db.write(context, async (tx) => {
    const forgotten = done.length === 0 ? 0 : await forgetJobs(tx, done);
    const failed = failures.length === 0 ? 0 : await recordFailures(tx, failures, now);
    if (unfinished.length > 0) await handBackJobs(tx, unfinished, now);
    return forgotten + failed;
  });
  const lost = done.length + failures.length - counted;
  if (lost > 0) logger.warn({ queue, lost }, "jobs ended after their lease was lost");
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
    ({ job, begunAt }) => begunAt === null || now - begunAt < timeMaxOf(state, job),
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
    const key = leaseKeyOf(each.job.id, each.job.leaseToken);
    if (renewed?.has(key) === true) each.leaseUntil = leaseUntil;
    // A job that has ended meanwhile needs no abort.
    else if (held.has(key) && (renewed !== null || each.leaseUntil <= clock.now())) {
      each.lost.abort(new JobLost(`the lease of the job ${each.job.id} was lost`));
    }
  }
}

function failureOf(job: JobRow, fault: string, now: Instant) {
  const isLast = job.attempts >= job.maxAttempts;
  return {
    job,
    // PostgreSQL cannot store NUL characters.
    reason: fault.replaceAll("\0", "").slice(0, reasonLengthMax),
    runAt: isLast ? null : now + backoffMs(job.attempts),
  };
}

/** A claimed job; `attempts` includes the current attempt. */
type JobRow = RowOf<typeof jobs>;

/** A job whose attempt failed; `runAt` is the time of the retry, null after the last attempt. */
interface FailedAttempt {
  readonly job: JobRow;
  readonly reason: string;
  readonly runAt: Instant | null;
}

/** The failure reason of a job whose last attempt died with its process. */
const leaseLostReason = "lease_lost";

/**
 * Claims due jobs, oldest first. `run_at` moves to the end of the lease, so a claimed job becomes due again if its
 * process dies. A job whose last attempt ended without an outcome is not returned: it fails.
 */
export async function leaseJobs(
  tx: Tx,
  queue: QueueName,
  lease: {
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
         ORDER BY run_at, id LIMIT ${String(lease.max)}${skipLocked[tx.dialect]})`,
     )} RETURNING ${columns(jobs)}`,
    [queue, lease.now, lease.token, lease.leaseUntil],
  );
  const leased = decodeRows(jobs, rows);
  const spent = leased.filter((job) => job.attempts > job.maxAttempts);
  if (spent.length === 0) return leased;
  await tx.run(
    `UPDATE jobs SET state = 'failed', attempts = max_attempts, lease_token = NULL, lease_until = NULL,
       failed_reason = $2, failed_at = $3
     WHERE id ${among(tx.dialect, listed(tx.dialect, 1))}`,
    [JSON.stringify(spent.map(({ id }) => id)), leaseLostReason, lease.now],
  );
  return leased.filter((job) => job.attempts <= job.maxAttempts);
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
  return new Set(renewed.map(({ id, leaseToken }) => leaseKeyOf(id, leaseToken)));
}

/** Returns the key of a lease. The job id alone is not enough: the job may be leased again, with another token. */
function leaseKeyOf(id: string, token: string | null): string {
  return `${token ?? ""} ${id}`;
}

/** Returns jobs that were interrupted to the queue, without counting the attempt. */
async function handBackJobs(tx: Tx, unfinished: readonly JobRow[], at: Instant) {
  await tx.updateMany(
    jobs,
    unfinished.map((job) => ({
      where: leaseOf(job),
      set: { attempts: job.attempts - 1, runAt: at, leaseToken: null, leaseUntil: null },
    })),
  );
}

/** The values by which a job is found only while this lease holds it. */
function leaseOf({ id, leaseToken }: JobRow): Pick<JobRow, "id" | "leaseToken"> {
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
function recordFailures(tx: Tx, failures: readonly FailedAttempt[], at: Instant): Promise<number> {
  return tx.updateMany(
    jobs,
    failures.map(({ job, reason, runAt }) => ({
      where: leaseOf(job),
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
