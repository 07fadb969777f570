import type { Clock } from "../../kernel/clock.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import type { Id, IdSource, RandomBytes } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { Database, RowOf, Tx, WriteContext } from "../../platform/database/index.ts";
import { eventApiVersion } from "../../platform/events/index.ts";
import type { Guard } from "../../platform/outbound/guard.ts";
import { newWebhookSecret } from "../../platform/outbound/standard-webhooks.ts";
import { lockOrganization } from "../organizations/index.ts";
import type { EndpointWriter } from "./endpoints/writer.ts";
import {
  DeliveryInFlight,
  EndpointDisabled,
  WebhookEndpointLimit,
  WebhookUrlRefused,
} from "./errors.ts";
import { makeEndpointTest, type EndpointTest } from "./delivery/send-test.ts";
import { makeSecretRotation, type SecretRotation } from "./endpoints/rotate-secret.ts";
import { notFailing } from "./endpoints/failure-policy.ts";
import { sealSecret } from "./endpoints/secret.ts";
import type { EndpointStatus } from "./status.ts";
import {
  findDelivery,
  isInFlight,
  listDeliveries,
  ownerOfDelivery,
  type DeliveryFilters,
  type DeliveryDetail,
  type DeliveryView,
} from "./delivery/store.ts";
import {
  countEnabledEndpoints,
  findEndpoint,
  listEndpoints,
  lockEndpoint,
  type EndpointFilters,
  type EndpointRow,
} from "./endpoints/store.ts";
import { listAttempts } from "./delivery/operator-queries.ts";
import { webhookDeliveries, webhookEndpoints, type webhookAttempts } from "./table.ts";

/** Maximum number of enabled endpoints per organization, because each event goes to all of them. */
export const enabledEndpointsMax = 10;

export interface EndpointInput {
  readonly url: string;
  readonly description?: string | null | undefined;
  /** Empty or absent for all. */
  readonly eventTypes?: readonly string[] | undefined;
}

/** Changes to an endpoint: absent leaves a field unchanged, null clears it. */
export interface EndpointChanges {
  readonly url?: string | undefined;
  readonly description?: string | null | undefined;
  readonly eventTypes?: readonly string[] | undefined;
  readonly status?: EndpointStatus | undefined;
}

export interface CreatedEndpoint {
  readonly endpoint: EndpointRow;
  /** The secret, returned only once. */
  readonly secret: string;
}

export interface WebhookService extends SecretRotation, EndpointTest {
  listEndpoints(
    organizationId: Id<"organization">,
    query: EndpointFilters & PageQuery,
  ): Promise<Page<EndpointRow>>;
  getEndpoint(
    organizationId: Id<"organization">,
    endpointId: Id<"webhookEndpoint">,
  ): Promise<EndpointRow>;
  /** Creates an endpoint for future events, after resolving and vetting its address. */
  createEndpoint(
    context: WriteContext,
    organizationId: Id<"organization">,
    input: EndpointInput,
  ): Promise<CreatedEndpoint>;
  updateEndpoint(
    context: WriteContext,
    organizationId: Id<"organization">,
    endpointId: Id<"webhookEndpoint">,
    changes: EndpointChanges,
    expect: (current: EndpointRow) => void,
  ): Promise<EndpointRow>;
  /** Disables an endpoint; its pending deliveries become dead letters. Repeating has no effect. */
  disableEndpoint(
    context: WriteContext,
    organizationId: Id<"organization">,
    endpointId: Id<"webhookEndpoint">,
  ): Promise<EndpointRow>;
  listDeliveries(
    organizationId: Id<"organization">,
    query: DeliveryFilters & PageQuery,
  ): Promise<Page<DeliveryView>>;
  getDelivery(
    organizationId: Id<"organization">,
    deliveryId: Id<"webhookDelivery">,
  ): Promise<DeliveryDetail>;
  /** Returns a delivery of any organization, for the operator. */
  findDelivery(deliveryId: Id<"webhookDelivery">): Promise<DeliveryDetail>;
  /** Sends a completed delivery again, as a new delivery with the same event id and body. */
  replayDelivery(
    context: WriteContext,
    organizationId: Id<"organization">,
    deliveryId: Id<"webhookDelivery">,
  ): Promise<DeliveryView>;
  /** Replays a delivery of any organization, for the operator. */
  replay(context: WriteContext, deliveryId: Id<"webhookDelivery">): Promise<DeliveryView>;
  /** Returns the attempts with response bodies; only for the operator, because a response may contain anything. */
  listAttempts(deliveryId: Id<"webhookDelivery">): Promise<RowOf<typeof webhookAttempts>[]>;
}

export interface WebhookDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly randomBytes: RandomBytes;
  readonly journal: Journal;
  readonly guard: Guard;
  readonly endpointWriter: EndpointWriter;
  /** Key that encrypts webhook secrets. */
  readonly secretKey: Uint8Array;
  /** Wakes the deliverer. */
  readonly wake: () => void;
}

const disabledByRequest = "Disabled on request.";

export function makeWebhookService(deps: WebhookDependencies): WebhookService {
  const { db, clock, ids, journal, endpointWriter, wake } = deps;

  /** Vets a URL. Must run outside any transaction, because it queries name servers. */
  async function vetted(url: string): Promise<string> {
    const verdict = await deps.guard.vetUrl(url);
    if (verdict.allowed) return verdict.url;
    if (verdict.code === "http_not_allowed" || verdict.code === "host_not_allowed") {
      throw new WebhookUrlRefused(verdict.message, {
        errors: [{ pointer: "/url", code: verdict.code, message: verdict.message }],
      });
    }
    throw invalidField("/url", verdict.code, verdict.message);
  }

  async function requireRoom(tx: Tx, organizationId: Id<"organization">): Promise<void> {
    if ((await countEnabledEndpoints(tx, organizationId)) < enabledEndpointsMax) return;
    throw new WebhookEndpointLimit(
      `An organization has at most ${String(enabledEndpointsMax)} enabled endpoints. Disable one that is no longer needed.`,
    );
  }

  const service: WebhookService = {
    ...makeSecretRotation(deps),
    ...makeEndpointTest(deps),

    async listEndpoints(organizationId, { limit, cursor, ...filters }) {
      const page = parsePage({ limit, cursor }, "webhook-endpoints", {
        organizationId,
        ...filters,
      });
      return toPage(await listEndpoints(db, organizationId, filters, page), page);
    },

    async getEndpoint(organizationId, endpointId) {
      const endpoint = await findEndpoint(db, organizationId, endpointId);
      if (endpoint === null) throw notFound();
      return endpoint;
    },

    async createEndpoint(context, organizationId, input) {
      const url = await vetted(input.url);
      const secret = newWebhookSecret(deps.randomBytes);
      return db.write(context, async (tx) => {
        await lockOrganization(tx, organizationId);
        await requireRoom(tx, organizationId);
        const at = clock.now();
        const id = ids.next("webhookEndpoint", at);
        const endpoint: EndpointRow = {
          id,
          organizationId,
          url,
          description: input.description ?? null,
          eventTypes: input.eventTypes ?? [],
          status: "enabled",
          disabledReason: null,
          secret: sealSecret(deps.secretKey, id, secret),
          previousSecret: null,
          previousSecretUntil: null,
          ...notFailing,
          apiVersion: eventApiVersion,
          lastSequence: 0,
          version: 1,
          createdAt: at,
          updatedAt: at,
        };
        await tx.insert(webhookEndpoints, endpoint);
        journal.record(tx, at, {
          action: "webhook_endpoint.created",
          organizationId,
          subjectType: "webhook_endpoint",
          subjectId: id,
          changes: { url, description: endpoint.description, eventTypes: endpoint.eventTypes },
        });
        return { endpoint, secret };
      });
    },

    async updateEndpoint(context, organizationId, endpointId, changes, expect) {
      const url = changes.url === undefined ? undefined : await vetted(changes.url);
      return db.write(context, async (tx) => {
        await lockOrganization(tx, organizationId);
        const current = await lockEndpoint(tx, organizationId, endpointId);
        if (current === null) throw notFound();
        expect(current);
        const isEnabling = changes.status === "enabled" && current.status === "disabled";
        if (isEnabling) await requireRoom(tx, organizationId);
        const next = await endpointWriter.save(tx, clock.now(), current, {
          ...(url === undefined ? {} : { url }),
          ...(changes.description === undefined ? {} : { description: changes.description }),
          ...(changes.eventTypes === undefined ? {} : { eventTypes: changes.eventTypes }),
          ...(isEnabling ? { status: "enabled", disabledReason: null } : {}),
          ...(changes.status === "disabled" && current.status === "enabled"
            ? { status: "disabled", disabledReason: disabledByRequest }
            : {}),
        });
        tx.afterCommit(wake);
        return next;
      });
    },

    disableEndpoint(context, organizationId, endpointId) {
      return db.write(context, async (tx) => {
        const current = await lockEndpoint(tx, organizationId, endpointId);
        if (current === null) throw notFound();
        if (current.status === "disabled") return current;
        tx.afterCommit(wake);
        return endpointWriter.save(tx, clock.now(), current, {
          status: "disabled",
          disabledReason: disabledByRequest,
        });
      });
    },

    async listDeliveries(organizationId, { limit, cursor, ...filters }) {
      const page = parsePage({ limit, cursor }, "webhook-deliveries", {
        organizationId,
        ...filters,
      });
      return toPage(await listDeliveries(db, organizationId, filters, page), page);
    },

    async getDelivery(organizationId, deliveryId) {
      const delivery = await findDelivery(db, organizationId, deliveryId);
      if (delivery === null) throw notFound();
      return { delivery, attempts: await listAttempts(db, deliveryId) };
    },

    async findDelivery(deliveryId) {
      const organizationId = await ownerOfDelivery(db, deliveryId);
      if (organizationId === null) throw notFound();
      return service.getDelivery(organizationId, deliveryId);
    },

    async replay(context, deliveryId) {
      const organizationId = await ownerOfDelivery(db, deliveryId);
      if (organizationId === null) throw notFound();
      return service.replayDelivery(context, organizationId, deliveryId);
    },

    async listAttempts(deliveryId) {
      if ((await ownerOfDelivery(db, deliveryId)) === null) throw notFound();
      return listAttempts(db, deliveryId);
    },

    replayDelivery(context, organizationId, deliveryId) {
      return db.write(context, async (tx) => {
        const original = await findDelivery(tx, organizationId, deliveryId);
        if (original === null) throw notFound();
        // The lock serializes concurrent replays, so that the second one sees the first.
        const endpoint = await lockEndpoint(tx, organizationId, original.endpointId);
        if (endpoint?.status !== "enabled") {
          throw new EndpointDisabled("Enable the endpoint, then replay the delivery.");
        }
        if (await isInFlight(tx, original.endpointId, original.eventId)) {
          throw new DeliveryInFlight(
            "The event is still being delivered or will be retried. Replay it after that.",
          );
        }
        const at = clock.now();
        const replay = {
          ...original,
          id: ids.next("webhookDelivery", at),
          status: "pending" as const,
          attempts: 0,
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
        return replay;
      });
    },
  };
  return service;
}
