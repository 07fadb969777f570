import { bind, type Bound } from "../../kernel/bind.ts";
import { toIso, type Clock } from "../../kernel/clock.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { Database, WriteContext } from "../../platform/database/database.ts";
import type { RowOf } from "../../platform/database/schema/table.ts";
import {
  deliveriesToReplay,
  listAttempts,
  type ReplayPeriod,
} from "./delivery/operator-queries.ts";
import {
  findDelivery,
  findInFlight,
  listDeliveries,
  ownerOfDelivery,
  type DeliveryFilters,
  type DeliveryDetail,
  type DeliveryRow,
  type DeliveryView,
} from "./delivery/store.ts";
import { pausedUntil } from "./endpoints/failure-policy.ts";
import { findEndpoint, lockEndpoint, type EndpointRow } from "./endpoints/store.ts";
import { DeliveryInFlight, EndpointDisabled } from "./errors.ts";
import { webhookDeliveries, type webhookAttempts } from "./table.ts";

/** Reads and replays deliveries. */
export type WebhookDeliveries = Bound<typeof methods>;

interface DeliveryDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly journal: Journal;
  /** Wakes the deliverer. */
  readonly wake: () => void;
}

const methods = {
  listDeliveries: deliveriesPage,
  getDelivery,
  findDelivery: deliveryOfAny,
  replayDelivery,
  replay,
  replayable,
  listAttempts: attemptsOfAny,
};

export function makeWebhookDeliveries(deps: DeliveryDependencies): WebhookDeliveries {
  return bind(deps, methods);
}

async function deliveriesPage(
  { db }: DeliveryDependencies,
  organizationId: Id<"organization">,
  { limit, cursor, ...filters }: DeliveryFilters & PageQuery,
): Promise<Page<DeliveryView>> {
  const page = parsePage({ limit, cursor }, "webhook-deliveries", {
    organizationId,
    ...filters,
  });
  return toPage(await listDeliveries(db, organizationId, filters, page), page);
}

async function getDelivery(
  { db }: DeliveryDependencies,
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
async function deliveryOfAny(
  deps: DeliveryDependencies,
  deliveryId: Id<"webhookDelivery">,
): Promise<DeliveryDetail> {
  return getDelivery(deps, await requireOwner(deps, deliveryId), deliveryId);
}

/** Replays a delivery of any organization, for the operator. */
async function replay(
  deps: DeliveryDependencies,
  context: WriteContext,
  deliveryId: Id<"webhookDelivery">,
): Promise<DeliveryView> {
  return replayDelivery(deps, context, await requireOwner(deps, deliveryId), deliveryId);
}

/** Returns deliveries that a replay of a period sends again, oldest first. 400 for a period in the future. */
async function replayable(
  { db, clock }: DeliveryDependencies,
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
async function attemptsOfAny(
  deps: DeliveryDependencies,
  deliveryId: Id<"webhookDelivery">,
): Promise<RowOf<typeof webhookAttempts>[]> {
  const { db } = deps;
  await requireOwner(deps, deliveryId);
  return listAttempts(db, deliveryId);
}

/** Sends a completed delivery again, as a new delivery with the same event id and body. */
function replayDelivery(
  { db, clock, ids, journal, wake }: DeliveryDependencies,
  context: WriteContext,
  organizationId: Id<"organization">,
  deliveryId: Id<"webhookDelivery">,
): Promise<DeliveryView> {
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
    tx.afterCommit(wake);
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
  { db }: DeliveryDependencies,
  deliveryId: Id<"webhookDelivery">,
): Promise<Id<"organization">> {
  const organizationId = await ownerOfDelivery(db, deliveryId);
  if (organizationId === null) throw notFound();
  return organizationId;
}
