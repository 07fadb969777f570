import { hour, minute, second, type Clock, type Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import {
  StoreUnavailable,
  type Database,
  type Dialect,
  type Tx,
} from "../../platform/database/index.ts";
import { systemContext } from "../../platform/database/system-context.ts";
import type { Worker } from "../../platform/jobs/background.ts";
import { delistParked, listParked } from "../../platform/jobs/parking.ts";
import type { JobHandler } from "../../platform/jobs/queue.ts";
import type { Logger } from "../../platform/logger/index.ts";
import type { ManagedInvoices } from "../invoices/index.ts";
import { beat } from "./heartbeat.ts";
import { lockScene, saveSubscription, type Scene } from "./subscription-store.ts";
import { subscriptions } from "./table.ts";
import type { Transitions } from "./transitions.ts";
import { tryTurn } from "./turns.ts";

/** The background worker that looks for what is due, by which it is nudged. */
export const billingWorkerName = "billing";
/** The job that operators see, and may retry, while billing an organization fails. */
const parkedJobName = "bill subscription";

/** Due subscriptions that are read at once. */
const batchMax = 200;
/**
 * Subscriptions that are worked on at once in a process. SQLite writes what waits together in one commit; on PostgreSQL
 * they wait for each other's numbers, and more of them would only wait longer.
 */
const concurrency: Readonly<Record<Dialect, number>> = { sqlite: 16, postgres: 4 };
/** Boundaries of a subscription in one run: who is farther behind catches up in the next ones. */
const stepsMax = 24;
/** How often one is tried again at once because somebody else changed it meanwhile. */
const collisionsMax = 2;
const everyMs = 5 * second;
const parkBase = 1 * minute;
const parkMax = 6 * hour;

const context = systemContext("billing");

/** What a run did. */
export interface RunResult {
  /** Subscriptions that were due. */
  readonly due: number;
  /** Things that were done about them: boundaries, reminders, changes of state. */
  readonly steps: number;
  /** Subscriptions that could not be billed, and are tried again later. */
  readonly parked: number;
}

/** Looks for what is due of subscriptions, and does it. Any number of processes may run it at once. */
export interface BillingRun extends Worker {
  /** Does everything that is due now. */
  runAll(signal?: AbortSignal): Promise<RunResult>;
  /** Does what is due of subscriptions that are parked, when an operator says so. */
  readonly handlers: readonly JobHandler[];
}

export function makeBillingRun(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly managed: ManagedInvoices;
  readonly transitions: Transitions;
}): BillingRun {
  const { db, clock, logger, managed, transitions } = deps;

  /** One boundary, one transaction. Null: somebody else changed the subscription at the same time. */
  function step(id: Id<"subscription">): Promise<boolean | null> {
    return db.write(context, async (tx) => {
      // Another run or a request has it: this run goes on with another subscription instead of waiting.
      if (!(await tryTurn(tx, id))) return null;
      const scene = await lockScene(tx, managed, id);
      if (scene === null) return null;
      const at = clock.now();
      const { nextActionAt } = scene.subscription;
      if (nextActionAt === null || nextActionAt > at) return false;
      return transitions.advance(tx, at, await unparked(tx, at, scene));
    });
  }

  /** It is done within the transaction that succeeds: where that fails, it stays parked. */
  async function unparked(tx: Tx, at: Instant, scene: Scene): Promise<Scene> {
    const { subscription } = scene;
    if (subscription.parkedAt === null) return scene;
    await delistParked(tx, jobIdOf(subscription.id));
    const set = { parkedAt: null, parkReason: null, parkedUntil: null, parkCount: 0 };
    return { ...scene, subscription: await saveSubscription(tx, at, subscription, set) };
  }

  function park(id: Id<"subscription">, fault: unknown): Promise<void> {
    const reason = fault instanceof Error ? `${fault.name}: ${fault.message}` : String(fault);
    return db.write(context, async (tx) => {
      const at = clock.now();
      const row = await tx.lockOne(subscriptions, "WHERE id = $1", [id]);
      // Somebody else has done it, or has parked it, meanwhile.
      if (row?.nextActionAt == null || row.nextActionAt > at) return;
      const parkCount = row.parkCount + 1;
      const until = at + Math.min(parkMax, parkBase * 2 ** (parkCount - 1));
      await saveSubscription(tx, at, row, {
        ...{ parkedAt: row.parkedAt ?? at, parkReason: reason, parkCount },
        ...{ parkedUntil: until, nextActionAt: until },
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

  /** Everything that is due of one subscription. */
  async function work(id: Id<"subscription">): Promise<{ steps: number; isParked: boolean }> {
    let steps = 0;
    let collisions = 0;
    try {
      while (steps < stepsMax) {
        const isMore = await step(id);
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
      // A store that is away is nobody's fault: everything waits.
      if (error instanceof StoreUnavailable) throw error;
      logger.warn({ subscription: id, err: error }, "a subscription could not be billed");
      await park(id, error);
      return { steps, isParked: true };
    }
  }

  function findDue(): Promise<{ id: Id<"subscription"> }[]> {
    return db.all(
      `SELECT id FROM subscriptions WHERE next_action_at IS NOT NULL AND next_action_at <= $1
       ORDER BY next_action_at LIMIT ${String(batchMax)}`,
      [clock.now()],
    );
  }

  async function workOff(
    ids: readonly Id<"subscription">[],
    signal: AbortSignal | undefined,
  ): Promise<RunResult> {
    const waiting = [...ids];
    let steps = 0;
    let parked = 0;
    const one = async () => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
        if (signal?.aborted === true) return;
        const done = await work(id);
        steps += done.steps;
        if (done.isParked) parked += 1;
      }
    };
    await Promise.all(Array.from({ length: concurrency[db.dialect] }, one));
    return { due: ids.length, steps, parked };
  }

  async function batch(signal?: AbortSignal): Promise<RunResult> {
    const down = await beat(db, clock, context);
    if (down > 0)
      logger.warn({ milliseconds: down }, "billing was down: what is unpaid is due later");
    const due = await findDue();
    return workOff(
      due.map(({ id }) => id),
      signal,
    );
  }

  return {
    name: billingWorkerName,
    everyMs,

    async run(signal) {
      const { due, steps } = await batch(signal);
      return due === batchMax && steps > 0;
    },

    async runAll(signal) {
      const total = { due: 0, steps: 0, parked: 0 };
      for (;;) {
        const done = await batch(signal);
        total.due += done.due;
        total.steps += done.steps;
        total.parked += done.parked;
        // What is left then is being done by others.
        if (done.steps + done.parked === 0 || signal?.aborted === true) return total;
      }
    },

    handlers: [
      {
        name: parkedJobName,
        async run({ payload }) {
          const { subscriptionId } = payload as { subscriptionId: Id<"subscription"> };
          await db.write(context, async (tx) => {
            const at = clock.now();
            const row = await tx.lockOne(subscriptions, "WHERE id = $1", [subscriptionId]);
            if (row?.parkedAt == null) return;
            await saveSubscription(tx, at, row, { nextActionAt: at });
          });
          // Where it fails again it is parked again, with another reason.
          await work(subscriptionId);
        },
      },
    ],
  };
}

/** The job by which operators know a parked subscription: the same as often as it fails. */
function jobIdOf(id: Id<"subscription">): string {
  return id.replace(/^sub_/, "job_");
}
