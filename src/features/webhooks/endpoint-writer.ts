import type { Instant } from "../../kernel/clock.ts";
import { difference, type Auditor } from "../../platform/audit/index.ts";
import type { Tx } from "../../platform/database/index.ts";
import type { Outbox } from "../../platform/events/index.ts";
import { presentEndpoint } from "./present.ts";
import type { EndpointRow } from "./store.ts";
import { webhookEndpoints } from "./table.ts";

/** Makes the changes of an endpoint that callers and the deliverer share. */
export interface EndpointWriter {
  /**
   * Writes a change of an endpoint that was locked, with its audit entry. One that disables it is told to the
   * organization's other endpoints, and the deliverer then moves what waits for it to the dead letters.
   */
  save(
    tx: Tx,
    at: Instant,
    current: EndpointRow,
    changes: Partial<EndpointRow>,
  ): Promise<EndpointRow>;
}

export function makeEndpointWriter(deps: {
  readonly auditor: Auditor;
  readonly outbox: Outbox;
}): EndpointWriter {
  const { auditor, outbox } = deps;
  return {
    async save(tx, at, current, changes) {
      const changed = difference(current, changes);
      if (Object.keys(changed).length === 0) return current;
      const set = { ...changes, version: current.version + 1, updatedAt: at };
      await tx.update(webhookEndpoints, set, "WHERE id = $1", [current.id]);
      const next = { ...current, ...set };
      auditor.record(tx, at, {
        action: actionOf(current, next),
        organizationId: next.organizationId,
        targetType: "webhook_endpoint",
        targetId: next.id,
        changes: changed,
      });
      if (current.status === "enabled" && next.status === "disabled") {
        outbox.emit(tx, at, {
          type: "webhook_endpoint.disabled",
          organizationId: next.organizationId,
          objectType: "webhook_endpoint",
          objectId: next.id,
          objectVersion: next.version,
          data: { ...presentEndpoint(next), previousStatus: current.status },
        });
      }
      return next;
    },
  };
}

function actionOf(before: EndpointRow, after: EndpointRow): string {
  return before.status === after.status
    ? "webhook_endpoint.updated"
    : `webhook_endpoint.${after.status}`;
}
