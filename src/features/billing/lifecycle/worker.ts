import type { App } from "../../../app.ts";
import { hour, minute, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { StoreUnavailable } from "../../../platform/database/errors.ts";
import {
  concurrentWrites,
  systemContext,
  type Tx,
  type WriteContext,
} from "../../../platform/database/database.ts";
import type { Worker } from "../../../platform/jobs/background.ts";
import { everyMinute } from "../../../platform/jobs/cron-line.ts";
import { delistParked, listParked, type JobHandler } from "../../../platform/jobs/queue.ts";
import { billingWorkerName } from "../status.ts";
import {
  lockSubscription,
  saveSubscription,
  tryPlanChangeTurn,
  type LockedSubscription,
} from "../store.ts";
import { billingState, subscriptions } from "../table.ts";
import { performDueStep } from "./steps.ts";

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

/** Performs the due steps of subscriptions in the background. Any number of processes may run it concurrently. */
export function billingWorker(app: App): Worker {
  return {
    name: billingWorkerName,
    lines: [everyMinute],
    run: (signal) => runBillingBatch(app, signal),
  };
}

/** Retries a parked subscription at an operator's request. */
export function billingHandlers(app: App): readonly JobHandler[] {
  return [{ name: parkedJobName, run: ({ payload }) => retryParked(app, payload) }];
}

/** Performs due steps of one batch of subscriptions; returns whether another batch may be due. */
export async function runBillingBatch(app: App, signal?: AbortSignal): Promise<boolean> {
  const { due, steps } = await batch(app, signal);
  return due === batchMax && steps > 0;
}

/** Performs all steps that are due now. Any number of processes may run it concurrently. */
export async function runBilling(app: App, signal?: AbortSignal): Promise<RunResult> {
  const total = { due: 0, steps: 0, parked: 0 };
  for (;;) {
    const done = await batch(app, signal);
    total.due += done.due;
    total.steps += done.steps;
    total.parked += done.parked;
    // Other processes are working on the remaining subscriptions.
    if (done.steps + done.parked === 0 || signal?.aborted === true) return total;
  }
}

async function retryParked(app: App, payload: unknown): Promise<void> {
  const { db, clock } = app;
  const { subscriptionId } = payload as { subscriptionId: Id<"subscription"> };
  await db.write(context, async (tx) => {
    const at = clock.now();
    const row = await tx.lockOne(subscriptions, "WHERE id = $1", [subscriptionId]);
    if (row?.parkedAt == null) return;
    await saveSubscription(tx, at, row, { nextActionAt: at });
  });
  // If billing fails again, the subscription is parked again with the new reason.
  await work(app, subscriptionId);
}

/**
 * Performs one step in one transaction; returns whether more are due. Null: another transaction holds or has changed
 * the subscription.
 */
function step(app: App, id: Id<"subscription">): Promise<boolean | null> {
  return app.db.write(context, async (tx) => {
    // Another run or a request holds the subscription: go on with the next one instead of waiting.
    if (!(await tryPlanChangeTurn(tx, id))) return null;
    const locked = await lockSubscription(tx, id);
    if (locked === null) return null;
    const at = app.clock.now();
    const { nextActionAt } = locked.subscription;
    if (nextActionAt === null || nextActionAt > at) return false;
    return performDueStep(tx, app, at, await unparked(tx, at, locked));
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

function park({ db, clock }: App, id: Id<"subscription">, fault: unknown): Promise<void> {
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
  app: App,
  id: Id<"subscription">,
): Promise<{ steps: number; isParked: boolean }> {
  let steps = 0;
  let collisions = 0;
  try {
    while (steps < stepsMax) {
      const isMore = await step(app, id);
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
    app.logger.warn({ subscription: id, err: error }, "a subscription could not be billed");
    await park(app, id, error);
    return { steps, isParked: true };
  }
}

function findDue({ db, clock }: App): Promise<{ id: Id<"subscription"> }[]> {
  return db.all(
    `SELECT id FROM subscriptions WHERE next_action_at IS NOT NULL AND next_action_at <= $1
       ORDER BY next_action_at LIMIT ${String(batchMax)}`,
    [clock.now()],
  );
}

async function workOff(
  app: App,
  ids: readonly Id<"subscription">[],
  signal: AbortSignal | undefined,
): Promise<RunResult> {
  const waiting = [...ids];
  let steps = 0;
  let parked = 0;
  const one = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      if (signal?.aborted === true) return;
      const done = await work(app, id);
      steps += done.steps;
      if (done.isParked) parked += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrentWrites[app.db.dialect] }, one));
  return { due: ids.length, steps, parked };
}

async function batch(app: App, signal?: AbortSignal): Promise<RunResult> {
  const down = await recordHeartbeat(app, context);
  if (down > 0)
    app.logger.warn(
      { milliseconds: down },
      "billing was down: the due dates of unpaid platform invoices were extended",
    );
  const due = await findDue(app);
  return workOff(
    app,
    due.map(({ id }) => id),
    signal,
  );
}

/** Returns the id of a parked subscription's failed job: the same one for every failure. */
function jobIdOf(id: Id<"subscription">): string {
  return id.replace(/^sub_/, "job_");
}

/** The minimum time between two stored heartbeats of billing, whose runs are a minute apart, give or take. */
const beatEvery = minute / 2;
/** A longer gap between heartbeats counts as downtime: nobody could pay, or see that an invoice is due. */
const downtimeMin = 5 * minute;
/** Added to the extension of due dates: payments during the downtime are in blocks that must still be read. */
const readAllowance = 10 * minute;

/**
 * Stores a heartbeat. After downtime, extends the due date of each unpaid platform invoice by the time during which it
 * could not be paid, plus `readAllowance`. Returns the length of the downtime in milliseconds, otherwise 0.
 */
export async function recordHeartbeat({ db, clock }: App, context: WriteContext): Promise<number> {
  const seen = await db.findOne(billingState, "");
  const last = seen?.heartbeatAt ?? null;
  if (last !== null && clock.now() - last < beatEvery) return 0;
  return db
    .write(context, async (tx) => {
      const now = clock.now();
      const gap = last === null ? 0 : now - last;
      const isDown = last !== null && gap > downtimeMin;
      if (isDown) {
        await tx.run(
          `UPDATE platform_invoices SET version = version + 1, updated_at = $2,
           due_at = due_at + $3 + ($2 - CASE WHEN issued_at > $1 THEN issued_at ELSE $1 END)
         WHERE status IN ('open', 'past_due')`,
          [last, now, readAllowance],
        );
      }
      const changed = await tx.update(
        billingState,
        { heartbeatAt: now },
        last === null ? "WHERE heartbeat_at IS NULL" : "WHERE heartbeat_at = $1",
        last === null ? [] : [last],
      );
      // Another process was first and has extended the due dates.
      if (changed === 0) throw new Beaten();
      return isDown ? gap : 0;
    })
    .catch((error: unknown) => {
      if (error instanceof Beaten) return 0;
      throw error;
    });
}

class Beaten extends Error {
  override readonly name = "Beaten";
}
