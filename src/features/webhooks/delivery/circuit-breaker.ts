import { minute, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Attempt } from "./deliverer.ts";
import { isSuccess, isThrottled } from "./retry-policy.ts";
import type { DeliveryRow } from "./store.ts";

/** A deliverer's knowledge of an endpoint from its own attempts. Unknown endpoints count as healthy. */
export interface Health {
  /** Number of concurrent requests: one more after each fast success, halved when the receiver is overloaded. */
  readonly concurrency: number;
  /** The latest attempts, newest last: at most 20, and none older than five minutes. */
  readonly recent: readonly Pick<Observation, "at" | "isGood" | "isSlow">[];
}

interface Observation {
  readonly at: Instant;
  readonly isGood: boolean;
  readonly isSlow: boolean;
  readonly isThrottled: boolean;
  /** True for a lone attempt at a failing endpoint. */
  readonly isLone: boolean;
}

/** Concurrent requests per endpoint: maximum and initial value. */
export const endpointConcurrencyMax = 8;
const endpointConcurrencyStart = 4;
/** Maximum number of deliveries of one endpoint per claim. */
export const leasesPerEndpointMax = 4;
/**
 * Maximum number of attempts that count, so that a failure is noticed soon however many attempts succeeded before it.
 */
const recentMax = 20;
/** Maximum age of attempts that count, in milliseconds. */
const windowMs = 5 * minute;
/** Number of attempts below which nothing is concluded. */
const observedMin = 10;
/** Share of failed attempts from which an endpoint is paused. */
const badShare = 0.7;

/** Number of endpoints with cached health at which outdated entries are removed. */
const rememberedMax = 1_000;

export const goodHealth: Health = { concurrency: endpointConcurrencyStart, recent: [] };

/** Returns the health after an attempt. */
export function observe(
  health: Health,
  { at, isGood, isSlow, isThrottled, isLone }: Observation,
): Health {
  const attempt = { at, isGood, isSlow };
  // A lone attempt that succeeds clears earlier failures; otherwise the next failure would pause the endpoint again.
  if (isGood && isLone) return { concurrency: 1, recent: isSlow ? [attempt] : [] };
  const recent = [...health.recent, attempt]
    .filter((earlier) => at - earlier.at < windowMs)
    .slice(-recentMax);
  if (isGood && isSlow) return { concurrency: health.concurrency, recent };
  if (isGood) {
    return { concurrency: Math.min(health.concurrency + 1, endpointConcurrencyMax), recent };
  }
  const concurrency = isThrottled
    ? Math.max(1, Math.floor(health.concurrency / 2))
    : health.concurrency;
  return { concurrency, recent };
}

/**
 * Whether the endpoint must be paused: of its newest attempts, at least ten and at most 20 in five minutes, at least 70 %
 * failed, the last one included.
 */
export function isFailing({ recent }: Health): boolean {
  const bad = recent.filter((attempt) => !attempt.isGood).length;
  return (
    recent.at(-1)?.isGood === false &&
    recent.length >= observedMin &&
    bad >= badShare * recent.length
  );
}

/**
 * Whether the latest attempt failed, or one of the newest was slow. A receiver that answers fast in between stays
 * troubled: otherwise it would get all slots again for each fast answer.
 */
export function isTroubled({ recent }: Health, now: Instant): boolean {
  return (
    recent.at(-1)?.isGood === false ||
    recent.some(({ at, isSlow }) => isSlow && Math.abs(now - at) < windowMs)
  );
}

/** Whether the information is outdated. */
export function isForgettable(health: Health, now: Instant): boolean {
  return health.recent.every((attempt) => now - attempt.at >= windowMs);
}

/** The health of all endpoints to which this process sent lately. */
interface EndpointHealth {
  readonly of: (endpointId: Id<"webhookEndpoint">) => Health;
  /** Updates the endpoints' health; returns those that must be paused, or stay paused. */
  learn(attempts: readonly Attempt[], now: Instant): Set<Id<"webhookEndpoint">>;
}

export function createEndpointHealth(): EndpointHealth {
  const known = new Map<Id<"webhookEndpoint">, Health>();
  const of = (endpointId: Id<"webhookEndpoint">): Health => known.get(endpointId) ?? goodHealth;

  return {
    of,
    learn(attempts, now) {
      const failing = new Set<Id<"webhookEndpoint">>();
      for (const { delivery, result, endedAt, isLone, isSlow } of attempts) {
        const { endpointId } = delivery;
        const after = observe(of(endpointId), {
          at: endedAt,
          isGood: isSuccess(result),
          isSlow,
          isThrottled: isThrottled(result),
          isLone,
        });
        known.set(endpointId, after);
        if (isFailing(after)) failing.add(endpointId);
        else failing.delete(endpointId);
      }
      if (known.size > rememberedMax) {
        for (const [endpointId, health] of known) {
          if (isForgettable(health, now)) known.delete(endpointId);
        }
      }
      return failing;
    },
  };
}

/** An endpoint with due deliveries. */
export interface Demand<EndpointId extends string> {
  readonly endpointId: EndpointId;
  readonly organizationId: string;
  /** True if its first delivery is a retry or the endpoint has been failing for a while. */
  readonly isRetry: boolean;
  /** Due time of its oldest delivery. */
  readonly dueAt: Instant;
  /** True if only a lone attempt is allowed, because the endpoint is failing. */
  readonly isLone: boolean;
}

/** Slots, which are open requests of this process, that one organization may have while no other waits. */
const sharedSlots = 64;
/**
 * Further slots for organizations that have few: an organization whose receivers turn slow while it has all shared slots
 * leaves these to others.
 */
const spareSlots = 16;
/** Number of slots of this process. */
const slotsMax = sharedSlots + spareSlots;
/** Maximum number of an organization's slots while another one waits: a quarter. */
export const organizationShare = sharedSlots / 4;
/** Maximum number of an organization's slots when no shared slot is free. */
const spareShare = spareSlots / 4;
/** Slots for retries and troubled endpoints; the rest is reserved for new events of the others. */
const troubledSlots = 48;
/** Maximum number of an organization's slots for those, so that its slow receivers leave some to those of others. */
const troubledPerOrganizationMax = 32;

/** The number of slots in use, and of those for retries and troubled endpoints. */
export interface SlotUse {
  open: number;
  troubled: number;
}

/**
 * Counts the slots that each organization uses. All requests at a troubled endpoint count as troubled, and the retries at
 * all others.
 */
export function countSlots<EndpointId extends string>(
  open: Iterable<readonly [EndpointId, Pick<UnderWay, "organizationId" | "sending" | "retries">]>,
  isEndpointTroubled: (endpointId: EndpointId) => boolean,
): Map<string, SlotUse> {
  const used = new Map<string, SlotUse>();
  for (const [endpointId, { organizationId, sending, retries }] of open) {
    const use = used.get(organizationId) ?? { open: 0, troubled: 0 };
    use.open += sending;
    use.troubled += isEndpointTroubled(endpointId) ? sending : retries;
    used.set(organizationId, use);
  }
  return used;
}

export interface Capacity<EndpointId extends string> {
  /** Maximum number of requests to start. */
  readonly startMax: number;
  /** The slots in use by organization. */
  readonly used: ReadonlyMap<string, Readonly<SlotUse>>;
  readonly isTroubled: (endpointId: EndpointId) => boolean;
  /** Returns the number of concurrent requests that the endpoint's health allows. */
  readonly concurrency: (endpointId: EndpointId) => number;
  /** Returns the number of requests that the endpoint's rate limit allows now. */
  readonly pace: (endpointId: EndpointId) => number;
  /** Returns the number of the endpoint's deliveries that are claimed and not yet recorded. */
  readonly underWay: (endpointId: EndpointId) => number;
}

/** Endpoints of an organization in the order in which they get slots. */
interface Queue<EndpointId extends string> {
  readonly use: SlotUse;
  readonly waiting: { readonly endpointId: EndpointId; readonly dueAt: Instant; room: number }[];
}

/**
 * Returns how many deliveries to claim per endpoint. Healthy endpoints with new events come first, then organizations
 * with the fewest slots, then those that have waited longest; an organization's endpoints take turns. Of several
 * processes each keeps to the shares of its own slots, so all of them together do.
 */
export function scheduleDeliveries<EndpointId extends string>(
  demands: readonly Demand<EndpointId>[],
  capacity: Capacity<EndpointId>,
): Map<EndpointId, number> {
  const uses = new Map([...capacity.used].map(([id, use]) => [id, { ...use }]));
  const total = { open: 0, troubled: 0 };
  for (const { open, troubled } of uses.values()) {
    total.open += open;
    total.troubled += troubled;
  }
  const healthy = new Map<string, Queue<EndpointId>>();
  const troubled = new Map<string, Queue<EndpointId>>();
  const organizationIds = new Set<string>();
  for (const demand of demands.toSorted((one, other) => one.dueAt - other.dueAt)) {
    const { endpointId, organizationId, dueAt, isRetry, isLone } = demand;
    const room = roomOf(demand, capacity);
    if (room < 1) continue;
    organizationIds.add(organizationId);
    const queues = isRetry || isLone || capacity.isTroubled(endpointId) ? troubled : healthy;
    const use = uses.get(organizationId) ?? { open: 0, troubled: 0 };
    uses.set(organizationId, use);
    const queue = queues.get(organizationId) ?? { use, waiting: [] };
    queue.waiting.push({ endpointId, dueAt, room });
    queues.set(organizationId, queue);
  }
  const shareWhileFree = organizationIds.size > 1 ? organizationShare : sharedSlots;
  const allotted = new Map<EndpointId, number>();
  let left = capacity.startMax;
  for (const queues of [healthy, troubled]) {
    const isTroubled = queues === troubled;
    while (left > 0 && total.open < slotsMax && (!isTroubled || total.troubled < troubledSlots)) {
      const share = total.open < sharedSlots ? shareWhileFree : spareShare;
      const next = nextOf(
        queues.values(),
        share,
        isTroubled ? troubledPerOrganizationMax : Infinity,
      );
      const first = next?.waiting.shift();
      if (next === undefined || first === undefined) break;
      allotted.set(first.endpointId, (allotted.get(first.endpointId) ?? 0) + 1);
      first.room -= 1;
      if (first.room > 0) next.waiting.push(first);
      left -= 1;
      for (const use of [next.use, total]) {
        use.open += 1;
        if (isTroubled) use.troubled += 1;
      }
    }
  }
  return allotted;
}

/** Returns how many deliveries of an endpoint may be claimed now, whatever slots are free. */
function roomOf<EndpointId extends string>(
  { endpointId, isLone }: Demand<EndpointId>,
  { concurrency, pace, underWay }: Capacity<EndpointId>,
): number {
  const allowed = isLone ? 1 : concurrency(endpointId);
  return Math.min(allowed - underWay(endpointId), pace(endpointId), leasesPerEndpointMax);
}

/** Returns the queue whose organization has the fewest slots and has waited longest; undefined if none may have more. */
function nextOf<EndpointId extends string>(
  queues: Iterable<Queue<EndpointId>>,
  openMax: number,
  troubledMax: number,
): Queue<EndpointId> | undefined {
  let next: Queue<EndpointId> | undefined;
  for (const queue of queues) {
    const { use, waiting } = queue;
    if (waiting.length === 0 || use.open >= openMax || use.troubled >= troubledMax) continue;
    if (next === undefined || isBefore(queue, next)) next = queue;
  }
  return next;
}

function isBefore(one: Queue<string>, other: Queue<string>): boolean {
  return (one.use.open - other.use.open || dueOf(one) - dueOf(other)) < 0;
}

function dueOf({ waiting }: Queue<string>): Instant {
  return waiting[0]?.dueAt ?? Infinity;
}

/** Deliveries of an endpoint that are claimed and not yet recorded. */
interface UnderWay {
  readonly organizationId: Id<"organization">;
  readonly count: number;
  /** Number of open requests among them: each takes a slot. */
  readonly sending: number;
  /** Number of open requests that are retries. */
  readonly retries: number;
  /** Number of open requests that have taken `slowAfterMs`. */
  readonly slow: number;
}

/** Counts the deliveries that this process has claimed and not yet recorded. */
interface OpenDeliveries {
  /** The number of open requests. Results waiting to be recorded do not count, so they block no other request. */
  sending(): number;
  of(endpointId: Id<"webhookEndpoint">): UnderWay | undefined;
  byEndpoint(): ReadonlyMap<Id<"webhookEndpoint">, UnderWay>;
  /** Adds a delivery whose request is opened. */
  add(delivery: DeliveryRow): void;
  /** Notes that an open request is slow. */
  slowed(delivery: DeliveryRow): void;
  /** Notes the end of a request, and whether it was slow. */
  responded(delivery: DeliveryRow, isSlow: boolean): void;
  /** Removes a delivery whose request has ended. */
  remove(delivery: DeliveryRow): void;
}

export function createOpenDeliveries(): OpenDeliveries {
  const underWay = new Map<Id<"webhookEndpoint">, UnderWay>();
  let sending = 0;

  const retriesOf = ({ attempts }: DeliveryRow): number => (attempts > 0 ? 1 : 0);

  function change(
    { endpointId, organizationId }: DeliveryRow,
    by: Partial<Omit<UnderWay, "organizationId">>,
  ): void {
    const before = underWay.get(endpointId);
    const sum = (field: keyof typeof by) => (before?.[field] ?? 0) + (by[field] ?? 0);
    sending += by.sending ?? 0;
    if (sum("count") === 0) underWay.delete(endpointId);
    else {
      underWay.set(endpointId, {
        organizationId,
        count: sum("count"),
        sending: sum("sending"),
        retries: sum("retries"),
        slow: sum("slow"),
      });
    }
  }

  return {
    sending: () => sending,
    of: (endpointId) => underWay.get(endpointId),
    byEndpoint: () => underWay,
    add(delivery) {
      change(delivery, { count: 1, sending: 1, retries: retriesOf(delivery) });
    },
    slowed(delivery) {
      change(delivery, { slow: 1 });
    },
    responded(delivery, isSlow) {
      change(delivery, { sending: -1, retries: -retriesOf(delivery), slow: isSlow ? -1 : 0 });
    },
    remove(delivery) {
      change(delivery, { count: -1 });
    },
  };
}
