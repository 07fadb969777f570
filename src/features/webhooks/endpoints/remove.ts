import type { Clock } from "../../../kernel/clock.ts";
import { notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { Database, Tx, WriteContext } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import type { Journal } from "../../../platform/journal/index.ts";
import { webhookEndpoints } from "../table.ts";
import { lockEndpoint } from "./store.ts";

/** Temporary endpoints exist while a command runs. An endpoint of a merchant is disabled instead, and stays. */
export interface EndpointRemoval {
  /**
   * Removes an endpoint with its deliveries and their attempts. If it stops in between, the endpoint stays disabled, and
   * can be removed again.
   */
  removeEndpoint(
    context: WriteContext,
    organizationId: Id<"organization">,
    endpointId: Id<"webhookEndpoint">,
  ): Promise<void>;
}

/** Maximum number of deliveries that one transaction deletes. */
const removedMax = 500;
const removedReason = "Removed on request.";

export function makeEndpointRemoval(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly journal: Journal;
}): EndpointRemoval {
  const { db, clock, journal } = deps;
  return {
    async removeEndpoint(context, organizationId, endpointId) {
      let isMore = true;
      while (isMore) {
        isMore = await db.write(context, async (tx) => {
          const endpoint = await lockEndpoint(tx, organizationId, endpointId);
          if (endpoint === null) throw notFound();
          if (endpoint.disabledReason !== removedReason) {
            const at = clock.now();
            // No more events are fanned out to it, and nothing more is sent.
            const set = {
              status: "disabled",
              disabledReason: removedReason,
              version: endpoint.version + 1,
              updatedAt: at,
            } as const;
            await tx.update(webhookEndpoints, set, "WHERE id = $1", [endpointId]);
            journal.record(tx, at, {
              action: "webhook_endpoint.removed",
              organizationId,
              subjectType: "webhook_endpoint",
              subjectId: endpointId,
              changes: { url: endpoint.url, description: endpoint.description },
            });
          }
          if ((await deleteDeliveries(tx, organizationId, endpointId)) === removedMax) return true;
          await tx.run("DELETE FROM webhook_endpoints WHERE id = $1", [endpointId]);
          return false;
        });
      }
    },
  };
}

/** Deletes some deliveries with their attempts; returns their number. */
async function deleteDeliveries(
  tx: Tx,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
): Promise<number> {
  const found = await tx.all<{ id: Id<"webhookDelivery"> }>(
    `SELECT id AS "id" FROM webhook_deliveries WHERE organization_id = $1 AND endpoint_id = $2
     ORDER BY id LIMIT ${String(removedMax)}`,
    [organizationId, endpointId],
  );
  const ids = JSON.stringify(found.map(({ id }) => id));
  const among = listed(tx.dialect, 1);
  await tx.run(`DELETE FROM webhook_attempts WHERE delivery_id IN ${among}`, [ids]);
  await tx.run(`DELETE FROM webhook_deliveries WHERE id IN ${among}`, [ids]);
  return found.length;
}
