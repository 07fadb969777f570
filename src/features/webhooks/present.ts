import type { z } from "zod";
import { presentRow } from "../../api/declare/present.ts";
import { toIsoOrNull } from "../../kernel/clock.ts";
import type { RowOf } from "../../platform/database/schema/table.ts";
import {
  WebhookAttemptRecord,
  WebhookDeliveryRecord,
  WebhookEndpointRecord,
  type CreatedWebhookEndpointRecord,
  type RotatedWebhookEndpointRecord,
  type WebhookDeliveryDetailRecord,
} from "./records.ts";
import { pausedUntil } from "./endpoints/failure-policy.ts";
import type { RotatedEndpoint } from "./endpoints/rotate-secret.ts";
import type { DeliveryDetail, DeliveryView } from "./delivery/store.ts";
import type { EndpointRow } from "./endpoints/store.ts";
import type { webhookAttempts } from "./table.ts";

export function presentEndpoint(row: EndpointRow): z.input<typeof WebhookEndpointRecord> {
  return presentRow(WebhookEndpointRecord, row, { pausedUntil: toIsoOrNull(pausedUntil(row)) });
}

export function presentCreatedEndpoint(created: {
  readonly endpoint: EndpointRow;
  readonly secret: string;
}): z.input<typeof CreatedWebhookEndpointRecord> {
  return { ...presentEndpoint(created.endpoint), secret: created.secret };
}

export function presentRotatedEndpoint(
  rotated: RotatedEndpoint,
): z.input<typeof RotatedWebhookEndpointRecord> {
  return {
    ...presentCreatedEndpoint(rotated),
    previousSecretExpiresAt: toIsoOrNull(rotated.previousSecretExpiresAt),
  };
}

export function presentDelivery(row: DeliveryView): z.input<typeof WebhookDeliveryRecord> {
  const isWaiting = row.status === "pending" || row.status === "failed";
  return presentRow(WebhookDeliveryRecord, row, {
    webhookEndpointId: row.endpointId,
    nextAttemptAt: toIsoOrNull(
      isWaiting && row.dueAt !== null ? Math.max(row.dueAt, row.pausedUntil ?? 0) : null,
    ),
  });
}

/**
 * Presents an attempt for the merchant, without the response body, which may be a page of a server that the merchant
 * cannot reach otherwise.
 */
function presentOwnAttempt(
  row: RowOf<typeof webhookAttempts>,
): z.input<typeof WebhookAttemptRecord> {
  return presentRow(WebhookAttemptRecord, row);
}

/** Presents an attempt for the operator, with the beginning of the response body. */
export function presentAttempt(row: RowOf<typeof webhookAttempts>) {
  return { ...presentOwnAttempt(row), bodyExcerpt: row.bodyExcerpt };
}

export function presentDeliveryDetail({
  delivery,
  attempts,
}: DeliveryDetail): z.input<typeof WebhookDeliveryDetailRecord> {
  return {
    ...presentDelivery(delivery),
    payload: JSON.parse(delivery.body) as Record<string, unknown>,
    attemptHistory: attempts.map(presentOwnAttempt),
  };
}
