import { second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { OutboundResult, Sender } from "../../../platform/outbound/sender.ts";
import { sign } from "../../../platform/outbound/standard-webhooks.ts";
import { openSecrets } from "../endpoints/secret.ts";
import type { EndpointBacklog } from "./leases.ts";
import type { DeliveryRow } from "./store.ts";

/**
 * Duration from which an attempt is slow, whatever the receiver answers, in milliseconds. A slot of an endpoint that is
 * not slow is free again after this time at the latest.
 */
export const slowAfterMs = 2 * second;

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

/** Signs a claimed delivery for the current time and sends it. `whenSlow` is called once it has taken `slowAfterMs`. */
export async function sendAttempt(parts: {
  readonly clock: Clock;
  readonly sender: Sender;
  readonly secretKey: Uint8Array;
  readonly delivery: DeliveryRow;
  readonly backlog: EndpointBacklog;
  readonly isLone: boolean;
  readonly slowAfterMs: number;
  readonly whenSlow: () => void;
}): Promise<Attempt> {
  const { clock, sender, delivery, backlog, isLone, whenSlow } = parts;
  const startedAt = clock.now();
  const body = Buffer.from(delivery.body);
  const signed = sign({
    id: delivery.eventId,
    timestampSeconds: Math.floor(startedAt / second),
    body,
    secrets: openSecrets(parts.secretKey, backlog, startedAt),
  });
  // A timer does not jump with the clock.
  let isSlow = false;
  const timer = setTimeout(() => {
    isSlow = true;
    whenSlow();
  }, parts.slowAfterMs);
  const result = await sender.send({
    url: backlog.url,
    headers: {
      "content-type": "application/json",
      "user-agent": "Till-Webhooks/1",
      "till-delivery-id": delivery.id,
      ...signed,
    },
    body,
  });
  clearTimeout(timer);
  return { delivery, startedAt, endedAt: clock.now(), result, isLone, isSlow };
}
