import type { Id } from "../../../kernel/id.ts";
import type { DeliveryRow } from "./store.ts";

/** Deliveries of an endpoint that are claimed and not yet recorded. */
export interface UnderWay {
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
export interface OpenDeliveries {
  count(): number;
  /** The number of open requests. Results waiting to be recorded do not count, so they block no other request. */
  sending(): number;
  of(endpointId: Id<"webhookEndpoint">): UnderWay | undefined;
  byEndpoint(): ReadonlyMap<Id<"webhookEndpoint">, UnderWay>;
  /** Adds a delivery whose request is opened. */
  add(delivery: DeliveryRow): void;
  /** Notes that an open request is slow. */
  slowed(delivery: DeliveryRow): void;
  /** Notes the end of a request, and whether it was slow. */
  answered(delivery: DeliveryRow, isSlow: boolean): void;
  /** Removes a delivery whose request has ended. */
  remove(delivery: DeliveryRow): void;
  /** Resolves when there are none. */
  settled(): Promise<void>;
}

export function createOpenDeliveries(): OpenDeliveries {
  const underWay = new Map<Id<"webhookEndpoint">, UnderWay>();
  let held = 0;
  let sending = 0;
  let waiters: (() => void)[] = [];

  const retriesOf = ({ attempts }: DeliveryRow): number => (attempts > 0 ? 1 : 0);

  function change(
    { endpointId, organizationId }: DeliveryRow,
    by: Partial<Omit<UnderWay, "organizationId">>,
  ): void {
    const before = underWay.get(endpointId);
    const sum = (field: keyof typeof by) => (before?.[field] ?? 0) + (by[field] ?? 0);
    held += by.count ?? 0;
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
    count: () => held,
    sending: () => sending,
    of: (endpointId) => underWay.get(endpointId),
    byEndpoint: () => underWay,
    add(delivery) {
      change(delivery, { count: 1, sending: 1, retries: retriesOf(delivery) });
    },
    slowed(delivery) {
      change(delivery, { slow: 1 });
    },
    answered(delivery, isSlow) {
      change(delivery, { sending: -1, retries: -retriesOf(delivery), slow: isSlow ? -1 : 0 });
    },
    remove(delivery) {
      change(delivery, { count: -1 });
      if (held > 0) return;
      for (const resolve of waiters) resolve();
      waiters = [];
    },
    async settled() {
      while (held > 0) await new Promise<void>((resolve) => waiters.push(resolve));
    },
  };
}
