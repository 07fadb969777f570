import type { App, InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import type { Id, RandomBytes } from "../../../kernel/id.ts";
import { systemContext, type Tx } from "../../../platform/database/database.ts";
import type { RowOf } from "../../../platform/database/schema/table.ts";
import type { Attempt } from "./deliverer.ts";
import { failEndpoint, saveEndpoint } from "../endpoints.ts";
import { deliveryLifeMax, judge, restAsked, type Verdict } from "./retry-policy.ts";
import {
  bringForward,
  broughtForwardMax,
  findStillHeld,
  giveUp,
  recordFinished,
  type FinishedDelivery,
  type Recovered,
} from "./leases.ts";
import { broughtForwardAge, probeDelayMin } from "../endpoints/failure-policy.ts";
import { resetFailures, lockEndpoints, type EndpointRow } from "../endpoints/store.ts";
import { webhookAttempts } from "../table.ts";

const context = systemContext("webhooks");

interface AttemptsRecorded {
  readonly attempts: readonly Attempt[];
  /** Endpoints at which so many attempts fail that they must be paused, or stay paused. */
  readonly failing: ReadonlySet<Id<"webhookEndpoint">>;
  /** True while the process stops; connections that it has reset itself are not attempts. */
  readonly isClosing: boolean;
}

/** Maximum number of further transactions that bring deliveries forward after an endpoint responds again. */
const roundsMax = 50;

const goneReason = "The receiver responded with 410 Gone.";
const tooOld = "The delivery was given up because the receiver has failed for too long.";

interface Judged {
  readonly attempt: Attempt;
  readonly finished: FinishedDelivery;
  readonly disables: boolean;
}

/**
 * Records the results of attempts in one transaction. A result whose lease has expired and passed to another claim
 * changes nothing.
 */
export async function recordAttempts(
  app: App,
  { attempts, failing, isClosing }: AttemptsRecorded,
): Promise<void> {
  const at = app.clock.now();
  const cutOff = attempts.filter((attempt) => isClosing && isReset(attempt));
  const judged = attempts
    .filter((attempt) => !cutOff.includes(attempt))
    .map((attempt) => judgeAttempt(attempt, at, chanceOf(app.randomBytes)));
  const unfinished = await app.db.write(context, async (tx) => {
    // Lock order: endpoints before deliveries, as everywhere.
    const { failed, unfinished } = await updateEndpointHealth(tx, app, at, {
      judged: await withoutLost(tx, at, judged),
      failing,
    });
    const finished = [
      ...judged.map((each) => each.finished),
      ...cutOff.map(({ delivery }) => givenBack(delivery, at)),
    ];
    const counted = await recordFinished(tx, finished);
    const logged = judged.filter(({ attempt }) => counted.has(attempt.delivery.id)).map(logEntry);
    await tx.insertMany(webhookAttempts, logged);
    // The waiting deliveries of a paused endpoint use up no attempts, so they end by their age.
    for (const endpoint of failed.filter((each) => isPaused(each, failing))) {
      const reason = { at, error: tooOld, madeBefore: at - deliveryLifeMax };
      if ((await giveUp(tx, endpoint.id, reason)) === 0) continue;
      const [current] = await lockEndpoints(tx, [endpoint.id]);
      if (current?.status !== "enabled") continue;
      await failEndpoint(tx, app, current, {
        ...noFailures,
        now: at,
        firstAt: at,
        hasGivenUp: true,
      });
    }
    return unfinished;
  });
  if (unfinished.length > 0) await bringRestForward(app, unfinished, at);
}

/**
 * Brings forward what one transaction had no room for. If the process ends before, the rest keeps its schedule. So do the
 * deliveries of an endpoint that fails again.
 */
async function bringRestForward(
  { db }: App,
  recovered: readonly Recovered[],
  now: Instant,
): Promise<void> {
  for (let round = 0; round < roundsMax; round += 1) {
    const count = await db.write(context, async (tx) => {
      const endpoints = await lockEndpoints(
        tx,
        recovered.map(({ endpointId }) => endpointId),
      );
      const healthy = endpoints.filter(({ failingSince }) => failingSince === null);
      const ids = new Set(healthy.map(({ id }) => id));
      const responding = recovered.filter(({ endpointId }) => ids.has(endpointId));
      return responding.length === 0 ? 0 : bringForward(tx, responding, now);
    });
    if (count < broughtForwardMax) return;
  }
}

/**
 * Returns the results that still count: after a pause of this process, its own silence may look like the receiver's.
 */
async function withoutLost(
  tx: Tx,
  at: Instant,
  judged: readonly Judged[],
): Promise<readonly Judged[]> {
  const late = judged
    .map(({ attempt }) => attempt.delivery)
    .filter(({ dueAt }) => dueAt === null || dueAt <= at);
  if (late.length === 0) return judged;
  const held = await findStillHeld(tx, late);
  const lost = new Set(late.map(({ id }) => id).filter((id) => !held.has(id)));
  return judged.filter(({ attempt }) => !lost.has(attempt.delivery.id));
}

function judgeAttempt(attempt: Attempt, at: Instant, chance: number): Judged {
  const { delivery, result, startedAt } = attempt;
  const attempts = delivery.attempts + 1;
  // Attempts ahead of the schedule do not count; a claim without an attempt may have counted one too many.
  const verdict = judge(result, Math.max(1, attempts - delivery.earlyAttempts), chance);
  return {
    attempt,
    finished: {
      ...stateAfter(verdict, at),
      id: delivery.id,
      leaseToken: delivery.leaseToken,
      attempts,
      lastAttemptAt: startedAt,
      responseStatus: result.outcome === "response" ? result.status : null,
    },
    disables: verdict.kind === "dead" && verdict.disables,
  };
}

function stateAfter(
  verdict: Verdict,
  at: Instant,
): Pick<FinishedDelivery, "status" | "dueAt" | "lastError" | "completedAt"> {
  switch (verdict.kind) {
    case "succeeded":
      return { status: "succeeded", dueAt: null, lastError: null, completedAt: at };
    case "retry":
      return {
        status: "failed",
        dueAt: at + verdict.delayMs,
        lastError: verdict.reason,
        completedAt: null,
      };
    case "dead":
      return { status: "dead_letter", dueAt: null, lastError: verdict.reason, completedAt: at };
  }
}

/** Returns a delivery that was not attempted to its state before the claim. */
function givenBack(delivery: Attempt["delivery"], at: Instant): FinishedDelivery {
  return {
    ...delivery,
    status: delivery.attempts === 0 ? "pending" : "failed",
    dueAt: at,
  };
}

function isReset({ result }: Attempt): boolean {
  return result.outcome === "error" && result.kind === "reset";
}

function logEntry({ attempt, finished }: Judged): RowOf<typeof webhookAttempts> {
  const { result } = attempt;
  const isResponse = result.outcome === "response";
  return {
    deliveryId: finished.id,
    number: finished.attempts,
    startedAt: attempt.startedAt,
    durationMs: result.durationMs,
    responseStatus: isResponse ? result.status : null,
    errorKind: isResponse ? null : result.kind,
    oddity: isResponse ? result.oddity : null,
    bodyExcerpt: isResponse ? result.bodyExcerpt : null,
  };
}

const noFailures = { reason: null, isPausing: false, hasProbed: false, askedMs: 0 } as const;

function isPaused(
  { id, pausedSince }: EndpointRow,
  failing: ReadonlySet<Id<"webhookEndpoint">>,
): boolean {
  return pausedSince !== null || failing.has(id);
}

/**
 * Updates the failure state of the endpoints, and disables those that are gone or have failed for too long. Returns the
 * failed ones as they were, and those that respond again and have more deliveries to bring forward. If all succeeded, and
 * none had failed before, it takes one statement.
 */
async function updateEndpointHealth(
  tx: Tx,
  app: InTx,
  at: Instant,
  { judged, failing }: Pick<AttemptsRecorded, "failing"> & { readonly judged: readonly Judged[] },
): Promise<{ failed: readonly EndpointRow[]; unfinished: readonly Recovered[] }> {
  const byEndpoint = new Map<Id<"webhookEndpoint">, Judged[]>();
  for (const each of judged) {
    const { endpointId } = each.attempt.delivery;
    byEndpoint.set(endpointId, [...(byEndpoint.get(endpointId) ?? []), each]);
  }
  const responding = [...byEndpoint].filter(([, each]) => each.some(isGood)).map(([id]) => id);
  const unfinished = responding.length > 0 ? await recover(tx, at, responding) : [];
  const silent = [...byEndpoint]
    .filter(
      ([id, each]) =>
        !each.some(isGood) || each.some(({ disables }) => disables) || failing.has(id),
    )
    .map(([id]) => id);
  if (silent.length === 0) return { failed: [], unfinished };
  const endpoints = await lockEndpoints(tx, silent);
  for (const endpoint of endpoints.filter(({ status }) => status === "enabled")) {
    const mine = byEndpoint.get(endpoint.id) ?? [];
    if (mine.some(({ disables }) => disables)) {
      const gone = { status: "disabled", disabledReason: goneReason } as const;
      await saveEndpoint(tx, app, at, endpoint, gone);
      continue;
    }
    await failEndpoint(tx, app, endpoint, {
      now: at,
      firstAt: Math.min(...mine.map(({ attempt }) => attempt.startedAt)),
      hasGivenUp: mine.some(({ finished }) => finished.status === "dead_letter"),
      reason: mine.findLast((each) => !isGood(each))?.finished.lastError ?? null,
      isPausing: failing.has(endpoint.id),
      hasProbed: mine.some(({ attempt }) => attempt.isLone),
      askedMs: Math.max(...mine.map(({ attempt }) => restAsked(attempt.result))),
    });
  }
  return { failed: endpoints, unfinished };
}

/**
 * Clears the failure state of endpoints that respond again. Waiting deliveries are then sent now, unless they are old:
 * one may be an event that the receiver refuses while it takes others. Returns the endpoints if more deliveries wait than
 * one transaction brings forward.
 */
async function recover(
  tx: Tx,
  now: Instant,
  endpointIds: readonly Id<"webhookEndpoint">[],
): Promise<readonly Recovered[]> {
  const recovered = (await resetFailures(tx, endpointIds)).flatMap((endpoint) => {
    const failedFor = now - (endpoint.failingSince ?? now);
    if (endpoint.pausedSince === null && failedFor < probeDelayMin) return [];
    return [{ endpointId: endpoint.id, madeAfter: now - broughtForwardAge(failedFor) }];
  });
  if (recovered.length === 0) return [];
  return (await bringForward(tx, recovered, now)) < broughtForwardMax ? [] : recovered;
}

function isGood({ finished }: Judged): boolean {
  return finished.status === "succeeded";
}

const chanceBytes = 4;

/** Returns a random number from 0, inclusive, to 1, exclusive. */
function chanceOf(randomBytes: RandomBytes): number {
  const [first = 0, ...rest] = randomBytes(chanceBytes);
  const value = rest.reduce((sum, byte) => sum * 256 + byte, first);
  return value / 256 ** chanceBytes;
}
