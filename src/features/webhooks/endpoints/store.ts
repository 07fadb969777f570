import type { Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import type { PageRequest } from "../../../kernel/page.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import type { RowOf } from "../../../platform/database/schema/table.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import { pageQuery } from "../../../platform/database/query/lists.ts";
import type { EndpointStatus } from "../status.ts";
import { notFailing } from "./failure-policy.ts";
import { webhookEndpoints } from "../table.ts";

export type EndpointRow = RowOf<typeof webhookEndpoints>;

export interface EndpointFilters {
  readonly status?: EndpointStatus | undefined;
}

/** Returns a page of endpoints, newest first. */
export function listEndpoints(
  reader: Reader,
  organizationId: Id<"organization">,
  filters: EndpointFilters,
  page: PageRequest,
): Promise<EndpointRow[]> {
  const { rest, values } = pageQuery(page, [
    ["organization_id =", organizationId],
    ["status =", filters.status],
  ]);
  return reader.find(webhookEndpoints, rest, values);
}

export function findEndpoint(
  reader: Reader,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
): Promise<EndpointRow | null> {
  return reader.findOne(webhookEndpoints, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    endpointId,
  ]);
}

export function lockEndpoint(
  tx: Tx,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
): Promise<EndpointRow | null> {
  return tx.lockOne(webhookEndpoints, "WHERE organization_id = $1 AND id = $2", [
    organizationId,
    endpointId,
  ]);
}

export async function countEnabledEndpoints(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<number> {
  const [counted] = await reader.all<{ total: number }>(
    `SELECT COUNT(*) AS total FROM webhook_endpoints WHERE organization_id = $1 AND status = 'enabled'`,
    [organizationId],
  );
  return counted?.total ?? 0;
}

/** Locks and returns the enabled endpoints of these organizations; the lock keeps sequence numbers without gaps. */
export function lockEnabledEndpoints(
  tx: Tx,
  organizationIds: readonly string[],
): Promise<EndpointRow[]> {
  return tx.lock(
    webhookEndpoints,
    `WHERE organization_id IN ${listed(tx.dialect, 1)} AND status = 'enabled' ORDER BY id`,
    [JSON.stringify(organizationIds)],
  );
}

/** Clears the failure state of endpoints that respond again; returns those that were failing, as they were. */
export async function resetFailures(
  tx: Tx,
  endpointIds: readonly Id<"webhookEndpoint">[],
): Promise<EndpointRow[]> {
  const failing = await tx.lock(
    webhookEndpoints,
    `WHERE id IN ${listed(tx.dialect, 1)} AND (failing_since IS NOT NULL OR probe_at IS NOT NULL) ORDER BY id`,
    [JSON.stringify(endpointIds)],
  );
  await tx.updateMany(
    webhookEndpoints,
    failing.map(({ id }) => ({ where: { id }, set: notFailing })),
  );
  return failing;
}

/** Makes the next lone attempt at a locked endpoint due now, if one is planned. */
export async function probeNow(tx: Tx, endpoint: EndpointRow, now: Instant): Promise<EndpointRow> {
  if (endpoint.probeAt === null || endpoint.probeAt <= now) return endpoint;
  await tx.update(webhookEndpoints, { probeAt: now }, "WHERE id = $1", [endpoint.id]);
  return { ...endpoint, probeAt: now };
}

/** Locks endpoints by id, in the common lock order. */
export function lockEndpoints(
  tx: Tx,
  endpointIds: readonly Id<"webhookEndpoint">[],
): Promise<EndpointRow[]> {
  return tx.lock(webhookEndpoints, `WHERE id IN ${listed(tx.dialect, 1)} ORDER BY id`, [
    JSON.stringify(endpointIds),
  ]);
}
