import { perApp, type App } from "../../../app.ts";
import { second, within, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { systemContext } from "../../../platform/database/database.ts";
import { makeStarted, type Started, type Worker } from "../../../platform/jobs/background.ts";
import {
  createSender,
  type OutboundResult,
  type Sender,
} from "../../../platform/outbound/sender.ts";
import { sign } from "../../../platform/outbound/standard-webhooks.ts";
import { SealBroken } from "../../../platform/secrets/encryption.ts";
import { openSecrets, webhookGuard, webhookSecretKey } from "../endpoints.ts";
import { createEndpointHealth, isTroubled } from "./circuit-breaker.ts";
import { recordAttempts } from "./record-attempts.ts";
import { isSuccess } from "./retry-policy.ts";
import {
  leaseDue,
  endDeliveryLeases,
  findBacklogs,
  giveUp,
  givenUpMax,
  type EndpointBacklog,
} from "./leases.ts";
import {
  countSlots,
  createOpenDeliveries,
  leasesPerEndpointMax,
  organizationShare,
  scheduleDeliveries,
  type Demand,
} from "./slots.ts";
import type { DeliveryRow } from "./store.ts";

/** Maximum number of claimed but unrecorded deliveries, which are sent again if the process is killed. */
const heldMax = 256;
/** Maximum number of deliveries per claim. */
const leaseMax = 32;
/** Maximum number of results recorded in one transaction. */
const recordMax = 64;
/** More than four times the maximum duration of an attempt; later results are ignored. */
const leaseLife = 60 * second;
/** Poll interval without a wake, in milliseconds: retries become due with time. */
const everyMs = 1 * second;
/**
 * How long a stop waits for open requests: less than the time after which supervisors kill a process. Deliveries of
 * slower receivers are sent again.
 */
const drainPatience = 5 * second;

const workerName = "webhooks";
const context = systemContext(workerName);

export interface Deliverer extends Worker {
  /**
   * Makes deliveries leased by a dead process due immediately. Only for the sole process of a store, which need not
   * wait for the leases to expire.
   */
  takeOver(): Promise<void>;
  /** Resolves when no request is open and every result is recorded. */
  idle(): Promise<void>;
  /**
   * Starts nothing new, waits for open requests (five seconds by default), and returns unfinished deliveries to the
   * queue.
   */
  close(patienceMs?: number): Promise<void>;
}

/** An endpoint that has been failing for a while counts as retried, also for its new events. */
export function demandOf(backlog: EndpointBacklog, now: Instant): Demand<Id<"webhookEndpoint">> {
  const { endpointId, organizationId, dueAt, attempts, failingSince } = backlog;
  const isRetry = attempts > 0 || failingSince !== null;
  return { endpointId, organizationId, dueAt, isRetry, isLone: turnOf(backlog, now) === "lone" };
}

/** Maximum number of attempts of a delivery ahead of its schedule while its endpoint fails but is not paused. */
const earlyAttemptsMax = 20;

/** Whether an endpoint may be sent all its due deliveries now, only one, or none. */
export function turnOf(
  { status, dueAt, pausedSince, probeAt, attempts, earlyAttempts }: EndpointBacklog,
  now: Instant,
): "all" | "lone" | "none" {
  if (status !== "enabled") return "none";
  const isProbeDue = probeAt !== null && probeAt <= now;
  if (pausedSince !== null) return isProbeDue ? "lone" : "none";
  if (dueAt <= now) return "all";
  return isProbeDue && attempts > 0 && earlyAttempts < earlyAttemptsMax ? "lone" : "none";
}

interface State {
  readonly app: App;
  readonly sender: Sender;
  readonly secretKey: Uint8Array;
  /** The duration from which an attempt is slow, in milliseconds. */
  readonly slowAfterMs: number;
  /** Runs this worker again when there is room. */
  readonly wake: () => void;
  readonly health: ReturnType<typeof createEndpointHealth>;
  readonly pace: ReturnType<typeof createEndpointRateLimit<Id<"webhookEndpoint">>>;
  readonly open: ReturnType<typeof createOpenDeliveries>;
  readonly started: Started<Attempt>;
  /** True if the last run found no room for some organization. */
  isWaitingForRoom: boolean;
  pacing: NodeJS.Timeout | undefined;
  isClosing: boolean;
}

/**
 * Creates the worker that sends due deliveries. A run claims and starts as many as there is room for, without waiting
 * for receivers, so a silent receiver blocks only its own few requests. Results are recorded in batches. Anything lost,
 * even with the process, is due again when its lease expires: each delivery is sent at least once.
 */
export function createDeliverer(
  app: App,
  parts: Partial<Pick<State, "sender" | "slowAfterMs" | "open">> = {},
): Deliverer {
  const state: State = {
    app,
    sender: parts.sender ?? createSender({ guard: webhookGuard(app), clock: app.clock }),
    secretKey: webhookSecretKey(app),
    slowAfterMs: parts.slowAfterMs ?? slowAfterMs,
    wake: () => app.running?.wake(workerName),
    health: createEndpointHealth(),
    pace: createEndpointRateLimit(app.config.webhookRatePerSecond),
    open: parts.open ?? createOpenDeliveries(),
    started: makeStarted<Attempt>({
      batchMax: recordMax,
      record: (ended) => recordEnded(state, ended),
      after: () => {
        state.wake();
      },
    }),
    isWaitingForRoom: false,
    pacing: undefined,
    isClosing: false,
  };
  return {
    name: workerName,
    everyMs,
    takeOver: () =>
      app.db.write(context, async (tx) => void (await endDeliveryLeases(tx, app.clock.now()))),
    run: () => run(state),
    idle: () => state.started.idle(),
    drained: () => close(state),
    close: (patienceMs) => close(state, patienceMs),
  };
}

/** Number of stored buckets at which full ones are removed. */
const rememberedMax = 1_000;

/**
 * Duration from which an attempt is slow, whatever the receiver answers, in milliseconds. A slot of an endpoint that is
 * not slow is free again after this time at the latest.
 */
export const slowAfterMs = 2 * second;

const notSigned =
  "Nothing was sent: this server cannot read the endpoint's secret. Rotate the secret with an overlap of 0 seconds.";

/** The deliverer of an app's process. */
export const delivererOf = perApp((app) => createDeliverer(app));

async function run(state: State): Promise<boolean> {
  if (state.isClosing) return false;
  const backlogs = await findBacklogs(state.app.db);
  const isMoreToClear = await clearDisabled(state.app, backlogs);
  const started = await startDue(state, backlogs);
  return isMoreToClear || started > 0;
}

/**
 * Starts nothing new, waits for open requests (five seconds by default), and returns unfinished deliveries to the
 * queue.
 */
async function close(state: State, patienceMs = drainPatience): Promise<void> {
  const { sender, started } = state;
  state.isClosing = true;
  clearTimeout(state.pacing);
  await within(patienceMs, started.idle(), () => undefined);
  sender.close();
  await started.idle();
}

function roomFor(
  state: State,
  backlogs: readonly EndpointBacklog[],
  now: Instant,
): Map<Id<"webhookEndpoint">, number> {
  const { health, pace, open, started } = state;
  const isEndpointTroubled = (endpointId: Id<"webhookEndpoint">): boolean =>
    (open.of(endpointId)?.slow ?? 0) > 0 || isTroubled(health.of(endpointId), now);
  const demands = backlogs
    .filter((backlog) => turnOf(backlog, now) !== "none")
    .map((backlog) => demandOf(backlog, now));
  const wanted = scheduleDeliveries(demands, {
    startMax: Math.min(leaseMax, heldMax - started.count()),
    used: countSlots(open.byEndpoint(), isEndpointTroubled),
    isTroubled: isEndpointTroubled,
    concurrency: (endpointId) => health.of(endpointId).concurrency,
    pace: (endpointId) => pace.available(endpointId, now),
    underWay: (endpointId) => open.of(endpointId)?.count ?? 0,
  });
  // A run that starts requests is followed by another one at once. With fewer requests no share is used up.
  state.isWaitingForRoom = wanted.size === 0 && open.sending() >= organizationShare;
  return wanted;
}

/** Claims and starts as many deliveries as there is room for; returns their number. */
async function startDue(state: State, backlogs: readonly EndpointBacklog[]): Promise<number> {
  const { db, clock, ids } = state.app;
  const now = clock.now();
  const wanted = roomFor(state, backlogs, now);
  wakeAtRateLimit(state, backlogs, now);
  if (wanted.size === 0) return 0;
  const token = ids.unguessable("lease");
  const lone = new Set(
    backlogs
      .filter((backlog) => turnOf(backlog, now) === "lone")
      .map(({ endpointId }) => endpointId),
  );
  const leased = await db.write(context, (tx) =>
    leaseDue(tx, wanted, {
      lone,
      now,
      leaseUntil: now + leaseLife,
      token,
      perEndpointMax: leasesPerEndpointMax,
    }),
  );
  const backlogOf = new Map(backlogs.map((backlog) => [backlog.endpointId, backlog]));
  for (const delivery of leased) {
    const backlog = backlogOf.get(delivery.endpointId);
    if (backlog !== undefined) start(state, delivery, backlog, lone.has(backlog.endpointId));
  }
  return leased.length;
}

/** Schedules a wake-up for endpoints at their rate limit, earlier than the next poll. */
function wakeAtRateLimit(state: State, backlogs: readonly EndpointBacklog[], now: Instant): void {
  const { wake, pace } = state;
  const isPaced = backlogs.some(
    (backlog) => turnOf(backlog, now) !== "none" && pace.available(backlog.endpointId, now) < 1,
  );
  if (!isPaced || state.pacing !== undefined) return;
  state.pacing = setTimeout(() => {
    state.pacing = undefined;
    wake();
  }, pace.intervalMs);
}

function start(
  state: State,
  delivery: DeliveryRow,
  backlog: EndpointBacklog,
  isLone: boolean,
): void {
  const { app, wake, pace, open, started } = state;
  const { clock, logger, metrics } = app;
  open.add(delivery);
  pace.spend(delivery.endpointId, 1, clock.now());
  const attempted = sendAttempt(state, delivery, backlog, isLone).then(
    (attempt) => {
      const outcome = isSuccess(attempt.result) ? "succeeded" : "failed";
      metrics.deliveryAttempted(outcome, (attempt.endedAt - attempt.startedAt) / second);
      if (state.isWaitingForRoom) wake();
      return attempt;
    },
    (error: unknown) => {
      // Its lease expires, and it is sent again.
      logger.error({ err: error, deliveryId: delivery.id }, "a webhook could not be attempted");
      open.remove(delivery);
      return null;
    },
  );
  started.add(attempted);
}

async function recordEnded(state: State, attempts: readonly Attempt[]): Promise<void> {
  const { app, health, open, isClosing } = state;
  const failing = isClosing
    ? new Set<Id<"webhookEndpoint">>()
    : health.learn(attempts, app.clock.now());
  try {
    await recordAttempts(app, { attempts, failing, isClosing });
  } catch (error) {
    // Nothing is lost: the leases expire, and the deliveries are attempted again.
    const deliveries = attempts.length;
    app.logger.error({ err: error, deliveries }, "webhook results were not recorded");
  }
  for (const { delivery } of attempts) open.remove(delivery);
}

/** Moves deliveries for disabled endpoints to the dead letters; returns whether there are more. */
async function clearDisabled(
  { db, clock }: App,
  backlogs: readonly EndpointBacklog[],
): Promise<boolean> {
  const disabled = backlogs.find((backlog) => backlog.status === "disabled");
  if (disabled === undefined) return false;
  const at = clock.now();
  const given = await db.write(context, (tx) =>
    giveUp(tx, disabled.endpointId, { at, error: "The endpoint was disabled." }),
  );
  return given === givenUpMax;
}

/** A token bucket per endpoint, in this process: a burst of up to one second's requests, then an even rate. */
interface EndpointRateLimit<EndpointId extends string> {
  /** Returns the number of requests that may be started now. */
  available(endpointId: EndpointId, now: Instant): number;
  spend(endpointId: EndpointId, count: number, now: Instant): void;
  /** Time until an exhausted endpoint may send its next request, in milliseconds. */
  readonly intervalMs: number;
}

interface TokenBucket {
  readonly left: number;
  readonly at: Instant;
}

/** Creates the buckets; with `perSecond` 0 there is no limit. */
export function createEndpointRateLimit<EndpointId extends string>(
  perSecond: number,
): EndpointRateLimit<EndpointId> {
  const buckets = new Map<EndpointId, TokenBucket>();
  if (perSecond === 0) {
    return { available: () => Infinity, spend: () => undefined, intervalMs: 0 };
  }

  function leftOf(endpointId: EndpointId, now: Instant): number {
    const bucket = buckets.get(endpointId);
    // A clock that was set back must not make an endpoint wait until it has caught up.
    if (bucket === undefined || bucket.at > now) return perSecond;
    const earned = ((now - bucket.at) * perSecond) / second;
    return Math.min(perSecond, bucket.left + earned);
  }

  return {
    available: (endpointId, now) => Math.floor(leftOf(endpointId, now)),
    spend(endpointId, count, now) {
      buckets.set(endpointId, { left: leftOf(endpointId, now) - count, at: now });
      if (buckets.size <= rememberedMax) return;
      for (const [rested, { at }] of buckets) if (now - at >= second) buckets.delete(rested);
    },
    intervalMs: second / perSecond,
  };
}

/** A completed attempt. */
export interface Attempt {
  readonly delivery: DeliveryRow;
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  readonly result: OutboundResult;
  /** Whether it was the lone attempt at a failing endpoint. */
  readonly isLone: boolean;
  /** Whether the receiver took at least `slowAfterMs`, whatever it answered. */
  readonly isSlow: boolean;
}

/** Sends a claimed delivery, and notes once it has taken `slowAfterMs`. */
async function sendAttempt(
  state: State,
  delivery: DeliveryRow,
  backlog: EndpointBacklog,
  isLone: boolean,
): Promise<Attempt> {
  const { app, open, slowAfterMs } = state;
  const startedAt = app.clock.now();
  let isSlow = false;
  const sending = send(state, delivery, backlog, startedAt);
  try {
    // A timer does not jump with the clock.
    const result = await within(slowAfterMs, sending, () => {
      isSlow = true;
      open.slowed(delivery);
      return sending;
    });
    return { delivery, startedAt, endedAt: app.clock.now(), result, isLone, isSlow };
  } finally {
    open.responded(delivery, isSlow);
  }
}

/** Signs a delivery for the current time and sends it. Without a secret to sign with, it fails like any other attempt. */
async function send(
  { app, sender, secretKey }: State,
  delivery: DeliveryRow,
  backlog: EndpointBacklog,
  at: Instant,
): Promise<OutboundResult> {
  const { id, eventId, endpointId } = delivery;
  const body = Buffer.from(delivery.body);
  let secrets: readonly string[];
  try {
    secrets = openSecrets(secretKey, backlog, at);
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    app.logger.error({ err: error, endpointId, deliveryId: id }, "a webhook cannot be signed");
    return { outcome: "error", kind: "protocol", message: notSigned, durationMs: 0 };
  }
  const signed = sign({ id: eventId, timestampSeconds: Math.floor(at / second), body, secrets });
  return sender.send({
    url: backlog.url,
    headers: {
      "content-type": "application/json",
      "user-agent": "Till-Webhooks/1",
      "till-delivery-id": id,
      ...signed,
    },
    body,
  });
}
