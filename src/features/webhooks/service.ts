import { bind, type Bound } from "../../kernel/bind.ts";
import type { Clock } from "../../kernel/clock.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import type { Id, IdSource, RandomBytes } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Journal } from "../../platform/journal/index.ts";
import type { Database, Tx, WriteContext } from "../../platform/database/database.ts";
import { eventApiVersion } from "../../platform/events/index.ts";
import type { Guard } from "../../platform/outbound/guard.ts";
import { newWebhookSecret } from "../../platform/outbound/standard-webhooks.ts";
import { lockOrganization } from "../organizations/store.ts";
import type { EndpointWriter } from "./endpoints/writer.ts";
import { WebhookEndpointLimit, WebhookUrlRefused } from "./errors.ts";
import { makeEndpointTest, type EndpointTest } from "./delivery/send-test.ts";
import { makeEndpointRemoval, type EndpointRemoval } from "./endpoints/remove.ts";
import { makeSecretRotation, type SecretRotation } from "./endpoints/rotate-secret.ts";
import { notFailing } from "./endpoints/failure-policy.ts";
import { sealSecret } from "./endpoints/secret.ts";
import type { EndpointStatus } from "./status.ts";
import {
  countEnabledEndpoints,
  findEndpoint,
  listEndpoints,
  lockEndpoint,
  probeNow,
  type EndpointFilters,
  type EndpointRow,
} from "./endpoints/store.ts";
import { makeWebhookDeliveries, type WebhookDeliveries } from "./deliveries.ts";
import { webhookEndpoints } from "./table.ts";

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

/** Endpoints, their secrets and test events, and their deliveries. */
export type WebhookService = SecretRotation &
  EndpointRemoval &
  EndpointTest &
  WebhookDeliveries &
  Bound<typeof methods>;

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

const methods = {
  listEndpoints: endpointsPage,
  getEndpoint,
  createEndpoint,
  updateEndpoint,
  disableEndpoint,
};

export function makeWebhookService(deps: WebhookDependencies): WebhookService {
  return {
    ...makeSecretRotation(deps),
    ...makeEndpointRemoval(deps),
    ...makeEndpointTest(deps),
    ...makeWebhookDeliveries(deps),
    ...bind(deps, methods),
  };
}

async function endpointsPage(
  { db }: WebhookDependencies,
  organizationId: Id<"organization">,
  { limit, cursor, ...filters }: EndpointFilters & PageQuery,
): Promise<Page<EndpointRow>> {
  const page = parsePage({ limit, cursor }, "webhook-endpoints", {
    organizationId,
    ...filters,
  });
  return toPage(await listEndpoints(db, organizationId, filters, page), page);
}

async function getEndpoint(
  { db }: WebhookDependencies,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
): Promise<EndpointRow> {
  const endpoint = await findEndpoint(db, organizationId, endpointId);
  if (endpoint === null) throw notFound();
  return endpoint;
}

/** Creates an endpoint for future events, after resolving and vetting its address. A caller may choose its new id. */
async function createEndpoint(
  deps: WebhookDependencies,
  context: WriteContext,
  organizationId: Id<"organization">,
  input: EndpointInput,
  chosenId?: Id<"webhookEndpoint">,
): Promise<CreatedEndpoint> {
  const { db, clock, ids, journal } = deps;
  const url = await vetted(deps, input.url);
  const secret = newWebhookSecret(deps.randomBytes);
  return db.write(context, async (tx) => {
    await lockOrganization(tx, organizationId);
    await requireRoom(tx, organizationId);
    const at = clock.now();
    const id = chosenId ?? ids.next("webhookEndpoint", at);
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
}

async function updateEndpoint(
  deps: WebhookDependencies,
  context: WriteContext,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
  changes: EndpointChanges,
  expect: (current: EndpointRow) => void,
): Promise<EndpointRow> {
  const { db, clock, endpointWriter, wake } = deps;
  const url = changes.url === undefined ? undefined : await vetted(deps, changes.url);
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
    // An endpoint that was paused although it is enabled: its owner knows that the receiver responds again.
    return changes.status === "enabled" ? probeNow(tx, next, clock.now()) : next;
  });
}

/** Disables an endpoint; its pending deliveries become dead letters. Repeating has no effect. */
function disableEndpoint(
  { db, clock, endpointWriter, wake }: WebhookDependencies,
  context: WriteContext,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
): Promise<EndpointRow> {
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
}

/** Vets a URL. Must run outside any transaction, because it queries name servers. */
async function vetted(deps: WebhookDependencies, url: string): Promise<string> {
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
