import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { DeliveryRow } from "./store.ts";

/** Maximum number of deliveries of one endpoint per claim. */
export const leasesPerEndpointMax = 4;
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
