import { perApp } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { open, seal } from "../../../platform/secrets/encryption.ts";
import { deriveKey } from "../../../platform/secrets/server-secret.ts";

/** The key that encrypts webhook secrets. */
export const webhookSecretKey = perApp(({ secret }) => deriveKey(secret, "webhook-secrets"));

/** Encrypts an endpoint's secret for the store, bound to this endpoint. */
export function sealSecret(
  key: Uint8Array,
  endpointId: Id<"webhookEndpoint">,
  secret: string,
): string {
  return seal(key, secret, placeOf(endpointId));
}

/**
 * Returns the secrets that sign for an endpoint at a given time, newest first: the current one and, during an overlap,
 * the previous one. @throws SealBroken
 */
export function openSecrets(
  key: Uint8Array,
  sealed: {
    readonly endpointId: Id<"webhookEndpoint">;
    readonly secret: string;
    readonly previousSecret: string | null;
    readonly previousSecretUntil: Instant | null;
  },
  at: Instant,
): readonly string[] {
  const { secret, previousSecret, previousSecretUntil } = sealed;
  const isOverlap = previousSecret !== null && at < (previousSecretUntil ?? at);
  const live = isOverlap ? [secret, previousSecret] : [secret];
  return live.map((each) => open(key, each, placeOf(sealed.endpointId)));
}

function placeOf(endpointId: Id<"webhookEndpoint">): string {
  return `webhook_endpoints:${endpointId}:secret`;
}
