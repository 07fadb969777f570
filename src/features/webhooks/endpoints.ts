import { perApp, type App, type InTx } from "../../app.ts";
import { second, toIso, type Instant } from "../../kernel/clock.ts";
import { defineProblem, invalidField, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import { urlsOfHosts } from "../../platform/database/postgres/url.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { eventApiVersion } from "../../platform/events/outbox.ts";
import { difference } from "../../platform/journal.ts";
import { createGuard, createResolve, type Guard } from "../../platform/outbound/guard.ts";
import { newWebhookSecret } from "../../platform/outbound/standard-webhooks.ts";
import { open, seal } from "../../platform/secrets/encryption.ts";
import { deriveKey } from "../../platform/secrets/server-secret.ts";
import { lockOrganization } from "../organizations/store.ts";
import {
  failOn,
  notFailing,
  type Failures,
  type FailingState,
} from "./endpoints/failure-policy.ts";
import {
  countEnabledEndpoints,
  findEndpoint,
  listEndpoints,
  lockEndpoint,
  probeNow,
  type EndpointFilters,
  type EndpointRow,
} from "./endpoints/store.ts";
import {
  overlapDefault,
  presentEndpoint,
  type CreateWebhookEndpointInput,
  type RotateWebhookSecretInput,
  type UpdateWebhookEndpointInput,
} from "./records.ts";
import { webhookEndpoints } from "./table.ts";

export const WebhookUrlRefused = defineProblem({
  code: "webhook_url_refused",
  status: 422,
  title: "Webhooks to this address are not allowed",
  remedy:
    "Use a public https address. On a machine for tests, the operator allows others with `TILL_WEBHOOK_ALLOW_CIDRS`.",
});
export const WebhookEndpointLimit = defineProblem({
  code: "webhook_endpoint_limit",
  status: 409,
  title: "The organization has reached the limit of enabled endpoints",
  remedy: "Disable an endpoint that is not needed any more.",
});

/** Maximum number of enabled endpoints per organization, because each event goes to all of them. */
const enabledEndpointsMax = 10;

const disabledByRequest = "Disabled on request.";

interface CreatedEndpoint {
  readonly endpoint: EndpointRow;
  /** The secret, returned only once. */
  readonly secret: string;
}

/** Keeps webhooks away from this installation's own services and network. */
export const webhookGuard = perApp(({ config, networks, listening, baseUrl }) => {
  const providers = [...networks.enabled.values()].flatMap(({ endpoints }) => endpoints);
  return createGuard({
    allowCidrs: config.webhookAllowCidrs,
    resolve: createResolve(),
    ownServices: () => [
      listening(),
      baseUrl(),
      ...(config.databaseUrl === null ? [] : urlsOfHosts(config.databaseUrl)),
      ...[config.proxy.http, config.proxy.https].flatMap((proxy) => proxy ?? []),
      ...providers.map(({ url }) => url),
    ],
  });
});

/** Returns a page of an organization's endpoints, newest first. */
export async function listWebhookEndpoints(
  { db }: App,
  organizationId: Id<"organization">,
  { limit, cursor, ...filters }: EndpointFilters & PageQuery,
): Promise<Page<EndpointRow>> {
  const page = parsePage({ limit, cursor }, "webhook-endpoints", {
    organizationId,
    ...filters,
  });
  return toPage(await listEndpoints(db, organizationId, filters, page), page);
}

/** Returns an endpoint. @throws a 404 problem if the organization has none with this id */
export async function getWebhookEndpoint(
  { db }: App,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
): Promise<EndpointRow> {
  const endpoint = await findEndpoint(db, organizationId, endpointId);
  if (endpoint === null) throw notFound();
  return endpoint;
}

/** Creates an endpoint for future events, after resolving and vetting its address. A caller may choose its new id. */
export async function createWebhookEndpoint(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  input: CreateWebhookEndpointInput,
  chosenId?: Id<"webhookEndpoint">,
  guard = webhookGuard(app),
): Promise<CreatedEndpoint> {
  const { db, clock, ids, journal } = app;
  const url = await vetted(guard, input.url);
  const secret = newWebhookSecret(app.randomBytes);
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
      secret: sealSecret(webhookSecretKey(app), id, secret),
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

/** Changes, enables or disables an endpoint: an absent field remains unchanged, null clears it. */
export async function updateWebhookEndpoint(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
  changes: UpdateWebhookEndpointInput,
  expect: (current: EndpointRow) => void,
): Promise<EndpointRow> {
  const { db, clock } = app;
  const url = changes.url === undefined ? undefined : await vetted(webhookGuard(app), changes.url);
  return db.write(context, async (tx) => {
    await lockOrganization(tx, organizationId);
    const current = await lockEndpoint(tx, organizationId, endpointId);
    if (current === null) throw notFound();
    expect(current);
    const isEnabling = changes.status === "enabled" && current.status === "disabled";
    if (isEnabling) await requireRoom(tx, organizationId);
    const next = await saveEndpoint(tx, app, clock.now(), current, {
      ...(url === undefined ? {} : { url }),
      ...(changes.description === undefined ? {} : { description: changes.description }),
      ...(changes.eventTypes === undefined ? {} : { eventTypes: changes.eventTypes }),
      ...(isEnabling ? { status: "enabled", disabledReason: null } : {}),
      ...(changes.status === "disabled" && current.status === "enabled"
        ? { status: "disabled", disabledReason: disabledByRequest }
        : {}),
    });
    wakeDeliverer(tx, app);
    // An endpoint that was paused although it is enabled: its owner knows that the receiver responds again.
    return changes.status === "enabled" ? probeNow(tx, next, clock.now()) : next;
  });
}

/** Disables an endpoint; its pending deliveries become dead letters. Repeating has no effect. */
export function disableWebhookEndpoint(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
): Promise<EndpointRow> {
  return app.db.write(context, async (tx) => {
    const current = await lockEndpoint(tx, organizationId, endpointId);
    if (current === null) throw notFound();
    if (current.status === "disabled") return current;
    wakeDeliverer(tx, app);
    return saveEndpoint(tx, app, app.clock.now(), current, {
      status: "disabled",
      disabledReason: disabledByRequest,
    });
  });
}

/** Vets a URL. Must run outside any transaction, because it queries name servers. */
async function vetted(guard: Guard, url: string): Promise<string> {
  const verdict = await guard.vetUrl(url);
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

interface RotatedEndpoint {
  readonly endpoint: EndpointRow;
  /** The secret, returned only once. */
  readonly secret: string;
  /** When the old secret stops signing; null if it has already stopped. */
  readonly previousSecretExpiresAt: Instant | null;
}

/**
 * Rotates an endpoint's secret. For the overlap, in seconds, the old one adds a second signature; 0 ends it
 * immediately, for instance after a leak. At most two secrets are valid: another rotation during an overlap ends the
 * older one.
 */
export function rotateWebhookSecret(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
  { overlapSeconds }: RotateWebhookSecretInput,
): Promise<RotatedEndpoint> {
  const { db, clock, journal } = app;
  const secret = newWebhookSecret(app.randomBytes);
  const overlap = overlapSeconds === undefined ? overlapDefault : overlapSeconds * second;
  return db.write(context, async (tx) => {
    const current = await lockEndpoint(tx, organizationId, endpointId);
    if (current === null) throw notFound();
    const at = clock.now();
    const until = overlap === 0 ? null : at + overlap;
    const set = {
      secret: sealSecret(webhookSecretKey(app), endpointId, secret),
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
}

/** Maximum number of deliveries that one transaction deletes. */
const removedMax = 500;
const removedReason = "Removed on request.";

/**
 * Removes a temporary endpoint, which exists while a command runs, with its deliveries and their attempts. If it stops in
 * between, the endpoint stays disabled, and can be removed again. An endpoint of a merchant is disabled instead, and
 * stays.
 */
export async function removeWebhookEndpoint(
  { db, clock, journal }: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  endpointId: Id<"webhookEndpoint">,
): Promise<void> {
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

/**
 * Changes a locked endpoint and writes the audit entry. If it disables the endpoint, the organization's other
 * endpoints are notified, and the deliverer moves its pending deliveries to the dead letters.
 */
export async function saveEndpoint(
  tx: Tx,
  { journal }: InTx,
  at: Instant,
  current: EndpointRow,
  changes: Partial<EndpointRow>,
): Promise<EndpointRow> {
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
}

/**
 * Records failed attempts at a locked endpoint. After some time the organization's other endpoints are notified, and
 * finally it is disabled.
 */
export async function failEndpoint(
  tx: Tx,
  app: InTx,
  current: EndpointRow,
  failures: Failures,
): Promise<void> {
  const { now } = failures;
  const { state, isNotice, disables } = failOn(current, failures);
  if (disables) {
    const since = toIso(state.failingSince ?? now);
    await saveEndpoint(tx, app, now, current, {
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
  app.journal.record(tx, now, {
    organizationId: current.organizationId,
    subjectType: "webhook_endpoint",
    subjectId: current.id,
    events: {
      types: ["webhook_endpoint.failing"],
      version,
      data: { ...presentEndpoint({ ...current, ...state }) },
    },
  });
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

/** Wakes the deliverer after the commit of a transaction. */
export function wakeDeliverer(tx: Tx, { running }: InTx): void {
  tx.afterCommit(() => running?.wake("webhooks"));
}

/** The key that encrypts webhook secrets. */
export const webhookSecretKey = perApp(({ secret }) => deriveKey(secret, "webhook-secrets"));

/** Encrypts an endpoint's secret for the store, bound to this endpoint. */
function sealSecret(key: Uint8Array, endpointId: Id<"webhookEndpoint">, secret: string): string {
  return seal(key, secret, sealLabelOf(endpointId));
}

/**
 * Returns the secrets that sign for an endpoint at a given time, newest first: the current one and, during an overlap,
 * the previous one. @throws SealBroken
 */
export function openSecrets(
  key: Uint8Array,
  sealed: {
    readonly endpointId: Id<"webhookEndpoint">;
    readonly secret: string;
    readonly previousSecret: string | null;
    readonly previousSecretUntil: Instant | null;
  },
  at: Instant,
): readonly string[] {
  const { secret, previousSecret, previousSecretUntil } = sealed;
  const isOverlap = previousSecret !== null && at < (previousSecretUntil ?? at);
  const live = isOverlap ? [secret, previousSecret] : [secret];
  return live.map((each) => open(key, each, sealLabelOf(sealed.endpointId)));
}

function sealLabelOf(endpointId: Id<"webhookEndpoint">): string {
  return `webhook_endpoints:${endpointId}:secret`;
}
