import { second, type Clock, type Instant } from "../../kernel/clock.ts";
import type { Id, IdSource, RandomBytes } from "../../kernel/id.ts";
import type { Database, WriteContext } from "../../platform/database/index.ts";
import type { Worker } from "../../platform/jobs/background.ts";
import type { Logger } from "../../platform/logger/index.ts";
import type { Counts } from "../../platform/metrics/metrics.ts";
import type { Sender } from "../../platform/outbound/sender.ts";
import { sendAttempt, type Attempt } from "./attempt.ts";
import type { EndpointWriter } from "./endpoint-writer.ts";
import {
  allot,
  claimPerEndpointMax,
  goodHealth,
  isForgettable,
  isTroubled,
  observe,
  type Health,
} from "./health.ts";
import { createPace } from "./pace.ts";
import { recordAttempts } from "./recording.ts";
import { isSuccess, isThrottled } from "./rules.ts";
import { claimDue, endClaims, findLanes, giveUp, givenUpMax, type Lane } from "./claims.ts";
import type { DeliveryRow } from "./delivery-store.ts";

/** Requests under way at once in this process. */
const concurrencyMax = 64;
/** Those of them that are kept for first attempts at endpoints that answer: they never wait for what is tried again. */
const reservedForFirst = 16;
const troubledMax = concurrencyMax - reservedForFirst;
/** Deliveries claimed and not yet recorded: what a process that is killed sends again, at most. */
const heldMax = 4 * concurrencyMax;
/** Deliveries that one claim takes. */
const claimMax = 32;
/** Outcomes that one transaction records. */
const recordMax = 64;
/** More than four times what an attempt may take: an outcome that comes later was not waited for. */
const leaseLife = 60 * second;
/** How often it looks without a nudge: what is tried again becomes due by itself. */
const everyMs = 1 * second;
/**
 * How long a stop waits for requests that are under way: less than supervisors leave a program before they kill it. A
 * receiver that takes longer is told again.
 */
const drainPatience = 5 * second;
/** Endpoints whose health is remembered before what is too old is forgotten. */
const rememberedMax = 1_000;

export interface DelivererDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly randomBytes: RandomBytes;
  readonly sender: Sender;
  readonly endpointWriter: EndpointWriter;
  /** The key that webhook secrets are sealed with. */
  readonly secretKey: Uint8Array;
  readonly context: WriteContext;
  /** Requests that each endpoint is sent in a second by this process; 0: without a limit. */
  readonly perSecond: number;
  /** Wakes this worker: there is room again. */
  readonly nudge: () => void;
  readonly logger: Logger;
  readonly metrics: Pick<Counts, "deliveryAttempted">;
}

export interface Deliverer extends Worker {
  /**
   * Makes what a dead process had claimed due at once: for a process that is the only one on its store, which need not
   * wait for the end of the leases.
   */
  reclaim(): Promise<void>;
  /** Resolves when nothing is under way and every outcome is recorded. */
  settled(): Promise<void>;
  /**
   * Starts nothing more, waits for what is under way, five seconds unless told, and gives back what was not finished.
   */
  close(patienceMs?: number): Promise<void>;
}

/** What of an endpoint's is under way. */
interface UnderWay {
  readonly count: number;
  /** Those of them that were attempted before. */
  readonly retries: number;
}

const noneUnderWay: UnderWay = { count: 0, retries: 0 };

function demandOf({ endpointId, dueAt, attempts, failingSince }: Lane) {
  return { endpointId, dueAt, isRetry: attempts > 0 || failingSince !== null };
}

/**
 * Sends deliveries that are due. A run claims what there is room for and starts it; it waits for no receiver, so a
 * silent one holds up nothing but its own few requests. Outcomes are recorded together as they come. Whatever is lost
 * on the way, a process with them, is due again when its lease ends: each delivery arrives at least once.
 */
export function createDeliverer(deps: DelivererDependencies): Deliverer {
  const { db, clock, ids, sender, context, nudge, logger } = deps;
  const health = new Map<Id<"webhookEndpoint">, Health>();
  const pace = createPace<Id<"webhookEndpoint">>(deps.perSecond);
  /** Claimed and not yet recorded, by endpoint. */
  const underWay = new Map<Id<"webhookEndpoint">, UnderWay>();
  const ended: Attempt[] = [];
  /** Requests that are under way. An outcome that waits to be recorded holds up no request to another endpoint. */
  let sending = 0;
  /** Deliveries that are claimed and not yet recorded. */
  let held = 0;
  /** The last look left behind what was due, for want of room. */
  let isWaitingForRoom = false;
  let recording: Promise<void> | null = null;
  let pacing: NodeJS.Timeout | undefined;
  let isClosing = false;
  let waiters: (() => void)[] = [];

  const healthOf = (endpointId: Id<"webhookEndpoint">): Health =>
    health.get(endpointId) ?? goodHealth;
  const underWayOf = (endpointId: Id<"webhookEndpoint">): UnderWay =>
    underWay.get(endpointId) ?? noneUnderWay;

  function occupy({ endpointId, attempts }: DeliveryRow, change: 1 | -1): void {
    held += change;
    const { count, retries } = underWayOf(endpointId);
    const next = { count: count + change, retries: retries + (attempts > 0 ? change : 0) };
    if (next.count === 0) underWay.delete(endpointId);
    else underWay.set(endpointId, next);
  }

  function roomFor(lanes: readonly Lane[], now: Instant): Map<Id<"webhookEndpoint">, number> {
    let troubled = 0;
    for (const [endpointId, { count, retries }] of underWay) {
      troubled += isTroubled(healthOf(endpointId)) ? count : retries;
    }
    const free = Math.min(concurrencyMax - sending, heldMax - held);
    const wanted = allot(
      lanes.filter((lane) => lane.status === "enabled" && lane.dueAt <= now).map(demandOf),
      {
        now,
        free,
        freeForTroubled: troubledMax - troubled,
        batchMax: claimMax,
        health: healthOf,
        pace: (endpointId) => pace.available(endpointId, now),
        underWay: (endpointId) => underWayOf(endpointId).count,
      },
    );
    isWaitingForRoom = [...wanted.values()].reduce((sum, count) => sum + count, 0) >= free;
    return wanted;
  }

  /** Claims and starts what there is room for; gives how many. */
  async function startDue(lanes: readonly Lane[]): Promise<number> {
    const now = clock.now();
    const wanted = roomFor(lanes, now);
    wakeForPace(lanes, now);
    if (wanted.size === 0) return 0;
    const token = ids.unguessable("lease");
    const claimed = await db.write(context, (tx) =>
      claimDue(tx, wanted, {
        now,
        leaseUntil: now + leaseLife,
        token,
        laneMax: claimPerEndpointMax,
      }),
    );
    const laneOf = new Map(lanes.map((lane) => [lane.endpointId, lane]));
    for (const delivery of claimed) {
      const lane = laneOf.get(delivery.endpointId);
      if (lane !== undefined) start(delivery, lane);
    }
    return claimed.length;
  }

  /** An endpoint that has used up what its pace allows may have the next before the next look. */
  function wakeForPace(lanes: readonly Lane[], now: Instant): void {
    const isPaced = lanes.some(
      ({ status, dueAt, endpointId }) =>
        status === "enabled" && dueAt <= now && pace.available(endpointId, now) < 1,
    );
    if (!isPaced || pacing !== undefined) return;
    pacing = setTimeout(() => {
      pacing = undefined;
      nudge();
    }, pace.intervalMs);
  }

  function start(delivery: DeliveryRow, lane: Lane): void {
    occupy(delivery, 1);
    sending += 1;
    pace.spend(delivery.endpointId, 1, clock.now());
    sendAttempt({ ...deps, delivery, lane }).then(
      (attempt) => {
        sending -= 1;
        const outcome = isSuccess(attempt.result) ? "succeeded" : "failed";
        deps.metrics.deliveryAttempted(outcome, (attempt.endedAt - attempt.startedAt) / second);
        ended.push(attempt);
        recording ??= recordEnded();
        if (isWaitingForRoom) nudge();
      },
      (error: unknown) => {
        sending -= 1;
        // Its lease ends by itself, and it is tried again.
        logger.error({ err: error, deliveryId: delivery.id }, "a webhook could not be attempted");
        release(delivery);
      },
    );
  }

  function release(delivery: DeliveryRow): void {
    occupy(delivery, -1);
    if (held > 0) return;
    for (const wake of waiters) wake();
    waiters = [];
  }

  /** Records what has ended, and what ends meanwhile: one transaction for all that wait. */
  async function recordEnded(): Promise<void> {
    while (ended.length > 0) {
      const batch = ended.splice(0, recordMax);
      const postponed = isClosing ? new Set<Id<"webhookEndpoint">>() : learn(batch);
      try {
        await recordAttempts(deps, { attempts: batch, postponed, isClosing });
      } catch (error) {
        // Nothing is lost: the leases end, and the deliveries are attempted again.
        logger.error(
          { err: error, deliveries: batch.length },
          "webhook outcomes were not recorded",
        );
      }
      for (const { delivery } of batch) release(delivery);
      nudge();
    }
    recording = null;
  }

  /** Notes how the endpoints did; gives those that were just postponed, or postponed further. */
  function learn(attempts: readonly Attempt[]): Set<Id<"webhookEndpoint">> {
    const postponed = new Set<Id<"webhookEndpoint">>();
    for (const { delivery, result, endedAt } of attempts) {
      const before = healthOf(delivery.endpointId);
      const after = observe(before, {
        at: endedAt,
        isGood: isSuccess(result),
        isThrottled: isThrottled(result),
      });
      health.set(delivery.endpointId, after);
      if (after.openUntil !== null && after.openUntil !== before.openUntil) {
        postponed.add(delivery.endpointId);
      }
    }
    if (health.size > rememberedMax) forgetOld(clock.now());
    return postponed;
  }

  function forgetOld(now: Instant): void {
    for (const [endpointId, known] of health) {
      if (isForgettable(known, now)) health.delete(endpointId);
    }
  }

  /** What waits for endpoints that were disabled becomes dead letters; gives whether there is more. */
  async function clearDisabled(lanes: readonly Lane[]): Promise<boolean> {
    const disabled = lanes.find((lane) => lane.status === "disabled");
    if (disabled === undefined) return false;
    const at = clock.now();
    const given = await db.write(context, (tx) =>
      giveUp(tx, disabled.endpointId, { at, error: "The endpoint was disabled." }),
    );
    return given === givenUpMax;
  }

  const deliverer: Deliverer = {
    async reclaim() {
      await db.write(context, (tx) => endClaims(tx, clock.now()));
    },

    name: "webhooks",
    everyMs,
    async run() {
      if (isClosing) return false;
      const lanes = await findLanes(db);
      const isMoreToClear = await clearDisabled(lanes);
      const started = await startDue(lanes);
      return isMoreToClear || started > 0;
    },
    async settled() {
      while (held > 0) await new Promise<void>((resolve) => waiters.push(resolve));
    },
    drained: () => deliverer.close(),
    async close(patienceMs = drainPatience) {
      isClosing = true;
      clearTimeout(pacing);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, patienceMs)));
      await Promise.race([deliverer.settled(), late]);
      clearTimeout(timer);
      sender.close();
      await deliverer.settled();
    },
  };
  return deliverer;
}
