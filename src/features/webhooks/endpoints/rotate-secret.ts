import { hour, second, toIso, type Clock, type Instant } from "../../../kernel/clock.ts";
import { notFound } from "../../../kernel/errors.ts";
import type { Id, RandomBytes } from "../../../kernel/id.ts";
import type { Journal } from "../../../platform/journal/index.ts";
import type { Database, WriteContext } from "../../../platform/database/database.ts";
import { newWebhookSecret } from "../../../platform/outbound/standard-webhooks.ts";
import { sealSecret } from "./secret.ts";
import { lockEndpoint, type EndpointRow } from "./store.ts";
import { webhookEndpoints } from "../table.ts";

/** Default duration of the overlap, in which both secrets sign. */
export const overlapDefault = 24 * hour;
/** Maximum duration of the overlap. */
export const overlapMax = 168 * hour;

export interface RotatedEndpoint {
  readonly endpoint: EndpointRow;
  /** The secret, returned only once. */
  readonly secret: string;
  /** When the old secret stops signing; null if it has already stopped. */
  readonly previousSecretExpiresAt: Instant | null;
}

export interface SecretRotation {
  /**
   * Rotates an endpoint's secret. For the overlap, in seconds, the old one adds a second signature; 0 ends it
   * immediately, for instance after a leak. At most two secrets are valid: another rotation during an overlap ends the
   * older one.
   */
  rotateSecret(
    context: WriteContext,
    organizationId: Id<"organization">,
    endpointId: Id<"webhookEndpoint">,
    input: { readonly overlapSeconds?: number | undefined },
  ): Promise<RotatedEndpoint>;
}

export function makeSecretRotation(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly journal: Journal;
  /** Key that encrypts webhook secrets. */
  readonly secretKey: Uint8Array;
}): SecretRotation {
  const { db, clock, journal } = deps;
  return {
    rotateSecret(context, organizationId, endpointId, { overlapSeconds }) {
      const secret = newWebhookSecret(deps.randomBytes);
      const overlap = overlapSeconds === undefined ? overlapDefault : overlapSeconds * second;
      return db.write(context, async (tx) => {
        const current = await lockEndpoint(tx, organizationId, endpointId);
        if (current === null) throw notFound();
        const at = clock.now();
        const until = overlap === 0 ? null : at + overlap;
        const set = {
          secret: sealSecret(deps.secretKey, endpointId, secret),
          previousSecret: until === null ? null : current.secret,
          previousSecretUntil: until,
          version: current.version + 1,
          updatedAt: at,
        };
        await tx.update(webhookEndpoints, set, "WHERE id = $1", [endpointId]);
        journal.record(tx, at, {
          action: "webhook_endpoint.secret_rotated",
          organizationId,
          subjectType: "webhook_endpoint",
          subjectId: endpointId,
          // Never log a secret, not even encrypted.
          changes: { previousSecretExpiresAt: until === null ? null : toIso(until) },
        });
        return { endpoint: { ...current, ...set }, secret, previousSecretExpiresAt: until };
      });
    },
  };
}
