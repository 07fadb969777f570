import { second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { OutboundResult, Sender } from "../../../platform/outbound/sender.ts";
import { sign } from "../../../platform/outbound/standard-webhooks.ts";
import { openSecrets } from "../endpoints/secret.ts";
import type { EndpointBacklog } from "./leases.ts";
import type { DeliveryRow } from "./store.ts";

/** A completed attempt. */
export interface Attempt {
  readonly delivery: DeliveryRow;
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  readonly result: OutboundResult;
  /** Whether it was the lone attempt at a failing endpoint. */
  readonly isLone: boolean;
}

/** Signs a claimed delivery for the current time and sends it. */
export async function sendAttempt(parts: {
  readonly clock: Clock;
  readonly sender: Sender;
  readonly secretKey: Uint8Array;
  readonly delivery: DeliveryRow;
  readonly backlog: EndpointBacklog;
  readonly isLone: boolean;
}): Promise<Attempt> {
  const { clock, sender, delivery, backlog, isLone } = parts;
  const startedAt = clock.now();
  const body = Buffer.from(delivery.body);
  const signed = sign({
    id: delivery.eventId,
    timestampSeconds: Math.floor(startedAt / second),
    body,
    secrets: openSecrets(parts.secretKey, backlog, startedAt),
  });
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
  return { delivery, startedAt, endedAt: clock.now(), result, isLone };
}
