import { bind } from "../../../kernel/bind.ts";
import { hour, minute, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { StoreUnavailable } from "../../../platform/database/errors.ts";
import type { Database, Tx } from "../../../platform/database/database.ts";
import { concurrentWrites } from "../../../platform/database/limits.ts";
import { systemContext } from "../../../platform/database/system-context.ts";
import type { Worker } from "../../../platform/jobs/background.ts";
import { everyMinute } from "../../../platform/jobs/cron-line.ts";
import { delistParked, listParked } from "../../../platform/jobs/parking.ts";
import type { JobHandler } from "../../../platform/jobs/queue.ts";
import type { Logger } from "../../../platform/logger/index.ts";
import type { ManagedInvoices } from "../invoices/collection-invoice.ts";
import { recordHeartbeat } from "./heartbeat.ts";
import { lockSubscription, saveSubscription, type LockedSubscription } from "../store.ts";
import { subscriptions } from "../table.ts";
import type { SubscriptionSteps } from "./subscription-steps.ts";
import { tryPlanChangeTurn } from "../turns.ts";

/** The name of the background worker, by which it is woken. */
export const billingWorkerName = "billing";
/** The failed job of a parked subscription, which operators can see and retry. */
const parkedJobName = "bill subscription";

/** Due subscriptions read in one batch. */
const batchMax = 200;
/** Steps of one subscription in a batch; a subscription that is farther behind catches up in the next batches. */
const stepsMax = 24;
/** Collisions with other transactions after which a batch leaves a subscription to the next batch. */
const collisionsMax = 2;
const parkBase = 1 * minute;
const parkMax = 6 * hour;

const context = systemContext("billing");

/** The result of a run. */
export interface RunResult {
  /** Subscriptions that were due. */
  readonly due: number;
  /** Steps performed for them: period boundaries, reminders, status changes. */
  readonly steps: number;
  /** Subscriptions that could not be billed and will be retried later. */
  readonly parked: number;
}

/** Performs the due steps of subscriptions. Any number of processes may run it concurrently. */
export interface BillingRun extends Worker {
  /** Performs all steps that are due now. */
  runAll(signal?: AbortSignal): Promise<RunResult>;
  /** Retries a parked subscription at an operator's request. */
  readonly handlers: readonly JobHandler[];
}

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly managed: ManagedInvoices;
  readonly steps: SubscriptionSteps;
}

const methods = { run, runAll };

export function makeBillingRun(deps: Deps): BillingRun {
  return {
    name: billingWorkerName,
    lines: [everyMinute],
    handlers: [{ name: parkedJobName, run: ({ payload }) => retryParked(deps, payload) }],
    ...bind(deps, methods),
  };
}

async function run(deps: Deps, signal?: AbortSignal): Promise<boolean> {
  const { due, steps } = await batch(deps, signal);
  return due === batchMax && steps > 0;
}

/** Performs all steps that are due now. */
async function runAll(deps: Deps, signal?: AbortSignal): Promise<RunResult> {
  const total = { due: 0, steps: 0, parked: 0 };
  for (;;) {
    const done = await batch(deps, signal);
    total.due += done.due;
    total.steps += done.steps;
    total.parked += done.parked;
    // Other processes are working on the remaining subscriptions.
    if (done.steps + done.parked === 0 || signal?.aborted === true) return total;
  }
}

async function retryParked(deps: Deps, payload: unknown): Promise<void> {
  const { db, clock } = deps;
  const { subscriptionId } = payload as { subscriptionId: Id<"subscription"> };
  await db.write(context, async (tx) => {
    const at = clock.now();
    const row = await tx.lockOne(subscriptions, "WHERE id = $1", [subscriptionId]);
    if (row?.parkedAt == null) return;
    await saveSubscription(tx, at, row, { nextActionAt: at });
  });
  // If billing fails again, the subscription is parked again with the new reason.
  await work(deps, subscriptionId);
}

/**
 * Performs one step in one transaction; returns whether more are due. Null: another transaction holds or has changed
 * the subscription.
 */
function step(
  { db, clock, managed, steps }: Deps,
  id: Id<"subscription">,
): Promise<boolean | null> {
  return db.write(context, async (tx) => {
    // Another run or a request holds the subscription: go on with the next one instead of waiting.
    if (!(await tryPlanChangeTurn(tx, id))) return null;
    const locked = await lockSubscription(tx, managed, id);
    if (locked === null) return null;
    const at = clock.now();
    const { nextActionAt } = locked.subscription;
    if (nextActionAt === null || nextActionAt > at) return false;
    return steps.advance(tx, at, await unparked(tx, at, locked));
  });
}

/** Unparks a subscription in the transaction of its step: if the step fails, the subscription stays parked. */
async function unparked(
  tx: Tx,
  at: Instant,
  locked: LockedSubscription,
): Promise<LockedSubscription> {
  const { subscription } = locked;
  if (subscription.parkedAt === null) return locked;
  await delistParked(tx, jobIdOf(subscription.id));
  const set = { parkedAt: null, parkReason: null, parkedUntil: null, parkCount: 0 };
  return { ...locked, subscription: await saveSubscription(tx, at, subscription, set) };
}

function park({ db, clock }: Deps, id: Id<"subscription">, fault: unknown): Promise<void> {
  const reason = fault instanceof Error ? `${fault.name}: ${fault.message}` : String(fault);
  return db.write(context, async (tx) => {
    const at = clock.now();
    const row = await tx.lockOne(subscriptions, "WHERE id = $1", [id]);
    // Another process has billed or parked it meanwhile.
    if (row?.nextActionAt == null || row.nextActionAt > at) return;
    const parkCount = row.parkCount + 1;
    const until = at + Math.min(parkMax, parkBase * 2 ** (parkCount - 1));
    await saveSubscription(tx, at, row, {
      parkedAt: row.parkedAt ?? at,
      parkReason: reason,
      parkCount,
      parkedUntil: until,
      nextActionAt: until,
    });
    await listParked(tx, at, {
      id: jobIdOf(id),
      queue: "billing",
      name: parkedJobName,
      payload: { subscriptionId: id },
      organizationId: row.organizationId,
      attempts: parkCount,
      reason,
    });
  });
}

/** Performs the due steps of one subscription, at most `stepsMax`; parks it if one fails. */
async function work(
  deps: Deps,
  id: Id<"subscription">,
): Promise<{ steps: number; isParked: boolean }> {
  const { logger } = deps;
  let steps = 0;
  let collisions = 0;
  try {
    while (steps < stepsMax) {
      const isMore = await step(deps, id);
      if (isMore === null) {
        collisions += 1;
        if (collisions === collisionsMax) break;
        continue;
      }
      steps += 1;
      if (!isMore) break;
    }
    return { steps, isParked: false };
  } catch (error) {
    // An unavailable store is not the subscription's fault: the whole batch stops, and nothing is parked.
    if (error instanceof StoreUnavailable) throw error;
    logger.warn({ subscription: id, err: error }, "a subscription could not be billed");
    await park(deps, id, error);
    return { steps, isParked: true };
  }
}

function findDue({ db, clock }: Deps): Promise<{ id: Id<"subscription"> }[]> {
  return db.all(
    `SELECT id FROM subscriptions WHERE next_action_at IS NOT NULL AND next_action_at <= $1
       ORDER BY next_action_at LIMIT ${String(batchMax)}`,
    [clock.now()],
  );
}

async function workOff(
  deps: Deps,
  ids: readonly Id<"subscription">[],
  signal: AbortSignal | undefined,
): Promise<RunResult> {
  const { db } = deps;
  const waiting = [...ids];
  let steps = 0;
  let parked = 0;
  const one = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      if (signal?.aborted === true) return;
      const done = await work(deps, id);
      steps += done.steps;
      if (done.isParked) parked += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrentWrites[db.dialect] }, one));
  return { due: ids.length, steps, parked };
}

async function batch(deps: Deps, signal?: AbortSignal): Promise<RunResult> {
  const { db, clock, logger } = deps;
  const down = await recordHeartbeat(db, clock, context);
  if (down > 0)
    logger.warn(
      { milliseconds: down },
      "billing was down: the due dates of unpaid platform invoices were extended",
    );
  const due = await findDue(deps);
  return workOff(
    deps,
    due.map(({ id }) => id),
    signal,
  );
}

/** Returns the id of a parked subscription's failed job: the same one for every failure. */
function jobIdOf(id: Id<"subscription">): string {
  return id.replace(/^sub_/, "job_");
}
