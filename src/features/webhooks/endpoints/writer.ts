import { toIso, type Instant } from "../../../kernel/clock.ts";
import { difference, type Journal } from "../../../platform/journal/index.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { failOn, notFailing, type Failures, type FailingState } from "./failure-policy.ts";
import { presentEndpoint } from "../present.ts";
import type { EndpointRow } from "./store.ts";
import { webhookEndpoints } from "../table.ts";

/** Changes to an endpoint that the API and the deliverer share. */
export interface EndpointWriter {
  /**
   * Changes a locked endpoint and writes the audit entry. If it disables the endpoint, the organization's other
   * endpoints are notified, and the deliverer moves its pending deliveries to the dead letters.
   */
  save(
    tx: Tx,
    at: Instant,
    current: EndpointRow,
    changes: Partial<EndpointRow>,
  ): Promise<EndpointRow>;
  /**
   * Records failed attempts at a locked endpoint. After some time the organization's other endpoints are notified, and
   * finally it is disabled.
   */
  fail(tx: Tx, current: EndpointRow, failures: Failures): Promise<void>;
}

export function makeEndpointWriter(deps: { readonly journal: Journal }): EndpointWriter {
  const { journal } = deps;
  const writer: EndpointWriter = {
    async save(tx, at, current, changes) {
      const changed = difference(current, changes);
      if (Object.keys(changed).length === 0) return current;
      // Earlier failures say nothing about a new URL or a receiver that was just enabled again.
      const isAnew = changed["url"] !== undefined || changed["status"] !== undefined;
      const set = {
        ...(isAnew ? notFailing : {}),
        ...changes,
        version: current.version + 1,
        updatedAt: at,
      };
      await tx.update(webhookEndpoints, set, "WHERE id = $1", [current.id]);
      const next = { ...current, ...set };
      journal.record(tx, at, {
        action: actionOf(current, next),
        organizationId: next.organizationId,
        subjectType: "webhook_endpoint",
        subjectId: next.id,
        changes: changed,
        events:
          current.status === "enabled" && next.status === "disabled"
            ? {
                types: ["webhook_endpoint.disabled"],
                version: next.version,
                data: { ...presentEndpoint(next), previousStatus: current.status },
              }
            : undefined,
      });
      return next;
    },

    async fail(tx, current, failures) {
      const { now } = failures;
      const { state, isNotice, disables } = failOn(current, failures);
      if (disables) {
        const since = toIso(state.failingSince ?? now);
        await writer.save(tx, now, current, {
          status: "disabled",
          disabledReason: `Every attempt has failed since ${since}. Fix the receiver, then enable the endpoint and replay the deliveries.`,
        });
        return;
      }
      if (isSame(current, state)) return;
      // The notice describes the current endpoint, so its version must be higher than that of earlier events.
      const version = isNotice ? current.version + 1 : current.version;
      await tx.update(webhookEndpoints, { ...state, version }, "WHERE id = $1", [current.id]);
      if (!isNotice) return;
      journal.record(tx, now, {
        organizationId: current.organizationId,
        subjectType: "webhook_endpoint",
        subjectId: current.id,
        events: {
          types: ["webhook_endpoint.failing"],
          version,
          data: { ...presentEndpoint({ ...current, ...state }) },
        },
      });
    },
  };
  return writer;
}

function isSame(one: FailingState, other: FailingState): boolean {
  const fields = Object.keys(other) as (keyof FailingState)[];
  return fields.every((field) => one[field] === other[field]);
}

function actionOf(before: EndpointRow, after: EndpointRow): string {
  return before.status === after.status
    ? "webhook_endpoint.updated"
    : `webhook_endpoint.${after.status}`;
}
