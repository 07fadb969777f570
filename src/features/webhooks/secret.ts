import type { Id } from "../../kernel/id.ts";
import { open, seal } from "../../platform/secrets/encryption.ts";

/** An endpoint's secret as the store keeps it: it opens for this endpoint alone. */
export function sealSecret(
  key: Uint8Array,
  endpointId: Id<"webhookEndpoint">,
  secret: string,
): string {
  return seal(key, secret, placeOf(endpointId));
}

/** @throws SealBroken */
export function openSecret(
  key: Uint8Array,
  sealed: { readonly endpointId: Id<"webhookEndpoint">; readonly secret: string },
): string {
  return open(key, sealed.secret, placeOf(sealed.endpointId));
}

function placeOf(endpointId: Id<"webhookEndpoint">): string {
  return `webhook_endpoints:${endpointId}:secret`;
}
