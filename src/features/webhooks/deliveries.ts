import type { App } from "../../app.ts";
import { toIso } from "../../kernel/clock.ts";
import { assert, defineProblem, invalidField, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { WriteContext } from "../../platform/database/database.ts";
import { organizationFilter, type ListOwner } from "../../platform/database/query/lists.ts";
import type { RowOf } from "../../platform/database/schema/table.ts";
import { newDelivery } from "./delivery/fan-out.ts";
import {
  addDeliveries,
  deliveriesToReplay,
  findDelivery,
  findInFlight,
  listAttempts,
  listDeliveries,
  ownerOfDelivery,
  type DeliveryDetail,
  type DeliveryFilters,
  type DeliveryRow,
  type DeliveryView,
  type ListedDelivery,
  type ReplayPeriod,
} from "./delivery/store.ts";
import { pausedUntil } from "./endpoints/failure-policy.ts";
import { wakeDeliverer } from "./endpoints.ts";
import { findEndpoint, lockEndpoint, probeNow, type EndpointRow } from "./endpoints/store.ts";
import { presentEndpoint } from "./records.ts";
import { webhookDeliveries, type webhookAttempts } from "./table.ts";

export const EndpointDisabled = defineProblem({
  code: "endpoint_disabled",
  status: 409,
  title: "The endpoint is disabled",
  remedy: "Enable the endpoint with `updateWebhookEndpoint` first.",
});
export const DeliveryInFlight = defineProblem({
  code: "delivery_in_flight",
  status: 409,
  title: "The event's delivery to the endpoint has not ended",
  remedy:
    "Till tries the delivery again at its `nextAttemptAt`. To try at once, send a test event to the endpoint (`testWebhookEndpoint`), after which everything that waits follows; or read the event in the list of events.",
});

/** Returns a page of an organization's deliveries, or for the platform of all, newest first. */
export async function listWebhookDeliveries(
  { db }: App,
  owner: ListOwner,
  { limit, cursor, ...given }: Omit<DeliveryFilters, "organizationId"> & PageQuery,
): Promise<Page<ListedDelivery>> {
  const filters = { ...given, organizationId: organizationFilter(owner) };
  const page = parsePage({ limit, cursor }, "webhook-deliveries", filters);
  return toPage(await listDeliveries(db, filters, page), page);
}

/** Returns a delivery with its attempts. @throws a 404 problem if the organization has none with this id */
export async function getWebhookDelivery(
  { db }: App,
  organizationId: Id<"organization">,
  deliveryId: Id<"webhookDelivery">,
): Promise<DeliveryDetail> {
  const delivery = await findDelivery(db, organizationId, deliveryId);
  if (delivery === null) throw notFound();
  const [endpoint, attempts] = await Promise.all([
    findEndpoint(db, organizationId, delivery.endpointId),
    listAttempts(db, deliveryId),
  ]);
  return {
    delivery: { ...delivery, pausedUntil: endpoint === null ? null : pausedUntil(endpoint) },
    attempts,
  };
}

/** Returns a delivery of any organization, for the operator. */
export async function getAnyWebhookDelivery(
  app: App,
  deliveryId: Id<"webhookDelivery">,
): Promise<DeliveryDetail> {
  return getWebhookDelivery(app, await requireOwner(app, deliveryId), deliveryId);
}

/** Replays a delivery of any organization, for the operator. */
export async function replayAnyWebhookDelivery(
  app: App,
  context: WriteContext,
  deliveryId: Id<"webhookDelivery">,
): Promise<DeliveryView> {
  return replayWebhookDelivery(app, context, await requireOwner(app, deliveryId), deliveryId);
}

/** Returns deliveries that a replay of a period sends again, oldest first. 400 for a period in the future. */
export async function listReplayableDeliveries(
  { db, clock }: App,
  organizationId: Id<"organization">,
  period: ReplayPeriod,
  limit: number,
): Promise<DeliveryView[]> {
  const now = clock.now();
  if (period.from > now) {
    throw invalidField("/from", "in_future", `is in the future: it is ${toIso(now)} now`);
  }
  return deliveriesToReplay(db, organizationId, period, limit);
}

/** Returns the attempts with response bodies; only for the operator, because a response may contain anything. */
export async function listAnyWebhookAttempts(
  app: App,
  deliveryId: Id<"webhookDelivery">,
): Promise<RowOf<typeof webhookAttempts>[]> {
  await requireOwner(app, deliveryId);
  return listAttempts(app.db, deliveryId);
}

/** Sends a completed delivery again, as a new delivery with the same event id and body. */
export function replayWebhookDelivery(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  deliveryId: Id<"webhookDelivery">,
): Promise<DeliveryView> {
  const { db, clock, ids, journal } = app;
  return db.write(context, async (tx) => {
    const original = await findDelivery(tx, organizationId, deliveryId);
    if (original === null) throw notFound();
    // The lock serializes concurrent replays, so that the second one sees the first.
    const endpoint = await lockEndpoint(tx, organizationId, original.endpointId);
    if (endpoint?.status !== "enabled") {
      throw new EndpointDisabled("Enable the endpoint, then replay the delivery.");
    }
    const waiting = await findInFlight(tx, original.endpointId, original.eventId);
    if (waiting !== null) throw new DeliveryInFlight(whyNotReplayed(waiting, endpoint));
    const at = clock.now();
    const replay = {
      ...original,
      id: ids.next("webhookDelivery", at),
      status: "pending" as const,
      attempts: 0,
      earlyAttempts: 0,
      dueAt: at,
      lastAttemptAt: null,
      leaseToken: null,
      responseStatus: null,
      lastError: null,
      replayOf: original.id,
      createdAt: at,
      completedAt: null,
    };
    await tx.insert(webhookDeliveries, replay);
    journal.record(tx, at, {
      action: "webhook_delivery.replayed",
      organizationId,
      subjectType: "webhook_delivery",
      subjectId: replay.id,
      changes: { replayOf: original.id, eventId: original.eventId },
    });
    wakeDeliverer(tx, app);
    return { ...replay, pausedUntil: pausedUntil(endpoint) };
  });
}

/** Says when a delivery that has not ended is tried, and how to have its event at once. */
function whyNotReplayed(
  { status, dueAt }: Pick<DeliveryRow, "status" | "dueAt">,
  endpoint: EndpointRow,
): string {
  if (status === "in_progress") return "It is being sent now.";
  const at = toIso(Math.max(dueAt ?? 0, pausedUntil(endpoint) ?? 0));
  return (
    `Its next attempt is at ${at}. A test event makes Till try the endpoint at once (till webhook trigger ${endpoint.id}, ` +
    `or testWebhookEndpoint), and the list of events has the event already.`
  );
}

async function requireOwner(
  { db }: App,
  deliveryId: Id<"webhookDelivery">,
): Promise<Id<"organization">> {
  const organizationId = await ownerOfDelivery(db, deliveryId);
  if (organizationId === null) throw notFound();
  return organizationId;
}

/**
 * Sends a test event: a `webhook.ping` to this endpoint only, whatever its event types. It is delivered like any other
 * event.
 */
export function testWebhookEndpoint(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
): Promise<DeliveryView> {
  const { db, clock, ids, journal } = app;
  return db.write(context, async (tx) => {
    const found = await lockEndpoint(tx, organizationId, endpointId);
    if (found === null) throw notFound();
    if (found.status !== "enabled") {
      throw new EndpointDisabled("Enable the endpoint, then send the test.");
    }
    const at = clock.now();
    // A paused endpoint is tried at once; if it responds, the test follows what has waited longer.
    const endpoint = await probeNow(tx, found, at);
    const subject = {
      organizationId,
      subjectType: "webhook_endpoint",
      subjectId: endpointId,
    };
    const [event] = journal.record(tx, at, {
      ...subject,
      events: {
        types: ["webhook.ping"],
        version: endpoint.version,
        data: presentEndpoint(endpoint),
      },
    });
    assert(event !== undefined, "a test raises one event");
    const sequence = endpoint.lastSequence + 1;
    const delivery = {
      ...newDelivery(event, endpoint, sequence),
      id: ids.next("webhookDelivery", at),
      dueAt: at,
      createdAt: at,
    };
    await addDeliveries(tx, [delivery], new Map([[endpointId, sequence]]));
    journal.record(tx, at, {
      ...subject,
      action: "webhook_endpoint.tested",
      changes: { eventId: event.id },
    });
    wakeDeliverer(tx, app);
    return { ...delivery, pausedUntil: pausedUntil(endpoint) };
  });
}
