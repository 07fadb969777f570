import type { Id } from "../../../kernel/id.ts";
import type { DeliveryRow } from "./store.ts";

/** Deliveries of an endpoint that are claimed and not yet recorded. */
export interface UnderWay {
  readonly count: number;
  /** The number of them that are retries. */
  readonly retries: number;
}

const noneUnderWay: UnderWay = { count: 0, retries: 0 };

/** Counts the deliveries that this process has claimed and not yet recorded. */
export interface OpenDeliveries {
  count(): number;
  of(endpointId: Id<"webhookEndpoint">): UnderWay;
  byEndpoint(): Iterable<readonly [Id<"webhookEndpoint">, UnderWay]>;
  add(delivery: DeliveryRow): void;
  remove(delivery: DeliveryRow): void;
  /** Resolves when there are none. */
  settled(): Promise<void>;
}

export function createOpenDeliveries(): OpenDeliveries {
  const underWay = new Map<Id<"webhookEndpoint">, UnderWay>();
  let held = 0;
  let waiters: (() => void)[] = [];

  const of = (endpointId: Id<"webhookEndpoint">): UnderWay =>
    underWay.get(endpointId) ?? noneUnderWay;

  function change({ endpointId, attempts }: DeliveryRow, by: 1 | -1): void {
    held += by;
    const { count, retries } = of(endpointId);
    const next = { count: count + by, retries: retries + (attempts > 0 ? by : 0) };
    if (next.count === 0) underWay.delete(endpointId);
    else underWay.set(endpointId, next);
  }

  return {
    count: () => held,
    of,
    byEndpoint: () => underWay,
    add(delivery) {
      change(delivery, 1);
    },
    remove(delivery) {
      change(delivery, -1);
      if (held > 0) return;
      for (const resolve of waiters) resolve();
      waiters = [];
    },
    async settled() {
      while (held > 0) await new Promise<void>((resolve) => waiters.push(resolve));
    },
  };
}
