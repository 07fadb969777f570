import { perApp, type App } from "../../app.ts";
import {
  permissionNames,
  roleMay,
  scopesMay,
  type MembershipAccess,
  type Permission,
  type Scope,
} from "../../http/declare/permissions.ts";
import type { Actor, ApiKeyActor } from "../../kernel/actor.ts";
import { minute, toIso, type Instant } from "../../kernel/clock.ts";
import { defineProblem, invalidField, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import { isAllTest } from "../../platform/config/config.ts";
import type { Tx, WriteContext } from "../../platform/database/database.ts";
import { hashToken, newToken, parseToken } from "../../platform/secrets/tokens.ts";
import { handlingRole } from "../members/members.ts";
import {
  findOrganization,
  lockOrganization,
  type OrganizationRow,
} from "../organizations/store.ts";
import type { CreateApiKeyInput } from "./records.ts";
import { apiKeys, countActiveKeys, findKeys, keyBySecret, type ApiKeyRow } from "./store.ts";

export const ScopeNotAllowed = defineProblem({
  code: "scope_not_allowed",
  status: 403,
  title: "The caller may not grant this scope",
  remedy: "Let a caller who has the scope create the key: see the permissions.",
});
export const ExpiryNotAllowed = defineProblem({
  code: "expiry_not_allowed",
  status: 403,
  title: "A key cannot create a key that outlives it",
  remedy:
    "Choose an `expiresAt` that is not later than the expiry of the key that makes the request.",
});
export const ApiKeyLimit = defineProblem({
  code: "api_key_limit",
  status: 409,
  title: "The organization has as many active API keys as it may have",
  remedy: "Revoke keys that are no longer used: `lastUsedAt` of each says when it was.",
});

/** Number of characters of a secret that remain visible: its type and 4 random ones. */
const shownLength = "till_live_".length + 4;
/** Maximum staleness of the stored last use, in milliseconds. */
const lastUsePrecision = 1 * minute;
/** Maximum number of keys whose last use is stored in one flush; the rest waits for the next one. */
const flushedMax = 100;

interface CreatedApiKey {
  readonly key: ApiKeyRow;
  /** The secret, returned only once. */
  readonly secret: string;
}

/** Last uses since the last flush, by key. */
const lastUses = perApp(() => new Map<Id<"apiKey">, Instant>());

/** Returns a page of an organization's keys, newest first, including revoked and expired ones. */
export async function listApiKeys(
  app: App,
  organizationId: Id<"organization">,
  query: PageQuery,
): Promise<Page<ApiKeyRow>> {
  const page = parsePage(query, "api_keys", { organizationId });
  return toPage(await findKeys(app.db, organizationId, page), page);
}

/**
 * The maximum number of an organization's keys that are neither revoked nor expired. Each key has a rate limit of its own.
 * Keys of earlier versions stay, also if there are more.
 */
const activeKeysMax = 100;

/** Creates a key. Throws 403 `scope_not_allowed` or `expiry_not_allowed`, 409 `api_key_limit`. */
export async function createApiKey(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  input: CreateApiKeyInput,
): Promise<CreatedApiKey> {
  const { db, clock, ids, journal } = app;
  const organization = await findOrganization(db, organizationId);
  if (organization === null) throw notFound();
  const at = clock.now();
  const wanted = input.expiresAt == null ? null : Date.parse(input.expiresAt);
  const expiresAt = requireExpiry(context.actor, wanted, at);
  const secret = newToken(isAllTest(app.networks) ? "testKey" : "liveKey", app.randomBytes);
  const key: ApiKeyRow = {
    id: ids.next("apiKey", at),
    organizationId,
    name: input.name,
    prefix: secret.slice(0, shownLength),
    secretHash: hashToken(secret),
    scopes: input.scopes,
    createdBy: creatorOf(context.actor),
    createdAt: at,
    lastUsedAt: null,
    expiresAt,
    revokedAt: null,
  };
  return db.write(context, async (tx) => {
    await requireScopes(tx, input.scopes, organization);
    await lockOrganization(tx, organizationId);
    if ((await countActiveKeys(tx, organizationId, at, activeKeysMax)) >= activeKeysMax) {
      throw new ApiKeyLimit(
        `An organization has at most ${String(activeKeysMax)} active API keys. Revoke those that are no longer used.`,
      );
    }
    await tx.insert(apiKeys, key);
    journal.record(tx, at, {
      action: "api_key.created",
      organizationId,
      subjectType: "api_key",
      subjectId: key.id,
      changes: {
        name: key.name,
        scopes: key.scopes,
        prefix: key.prefix,
        expiresAt: expiresAt === null ? null : toIso(expiresAt),
      },
    });
    return { key, secret };
  });
}

/** Revokes a key. Every process refuses its next request. Revoking again has no effect. */
export function revokeApiKey(
  app: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  apiKeyId: Id<"apiKey">,
): Promise<ApiKeyRow> {
  const { db, clock, journal } = app;
  return db.write(context, async (tx) => {
    const key = await tx.lockOne(apiKeys, "WHERE organization_id = $1 AND id = $2", [
      organizationId,
      apiKeyId,
    ]);
    if (key === null) throw notFound();
    if (key.revokedAt !== null) return key;
    const revokedAt = clock.now();
    await tx.update(apiKeys, { revokedAt }, "WHERE id = $1", [apiKeyId]);
    journal.record(tx, revokedAt, {
      action: "api_key.revoked",
      organizationId,
      subjectType: "api_key",
      subjectId: apiKeyId,
      changes: { name: key.name },
    });
    return { ...key, revokedAt };
  });
}

/** Returns the principal and membership of a secret; null if it is unknown, revoked or expired. */
export async function authenticateKey(
  app: App,
  secret: string,
): Promise<{ principal: ApiKeyActor; membership: MembershipAccess } | null> {
  // A secret with a wrong checksum is not ours, so no query is needed.
  if (parseToken(secret, "liveKey", "testKey") === null) return null;
  const found = await keyBySecret(app.db, hashToken(secret));
  const now = app.clock.now();
  if (found === null || found.revokedAt !== null) return null;
  if (found.expiresAt !== null && found.expiresAt <= now) return null;
  if (now - (found.lastUsedAt ?? 0) > lastUsePrecision) lastUses(app).set(found.id, now);
  return {
    principal: {
      type: "api_key",
      id: found.id,
      label: found.name,
      organizationId: found.organizationId,
      scopes: found.scopes,
      createdBy: found.createdBy,
      expiresAt: found.expiresAt,
    },
    membership: {
      organizationId: found.organizationId,
      organizationStatus: found.organizationStatus,
      isApproved: found.verificationStatus === "approved",
      role: null,
    },
  };
}

/** Returns a key of any organization, for the operator. */
export async function getApiKey(app: App, apiKeyId: Id<"apiKey">): Promise<ApiKeyRow> {
  const key = await app.db.findOne(apiKeys, "WHERE id = $1", [apiKeyId]);
  if (key === null) throw notFound();
  return key;
}

/** Stores the last uses, which are buffered in memory so that requests need no write. */
export async function flushLastUses(app: App, context: WriteContext): Promise<void> {
  const uses = lastUses(app);
  if (uses.size === 0) return;
  const flushed = [...uses].slice(0, flushedMax).sort(([left], [right]) => (left < right ? -1 : 1));
  for (const [id] of flushed) uses.delete(id);
  await app.db.write(context, (tx) =>
    tx.updateMany(
      apiKeys,
      flushed.map(([id, lastUsedAt]) => ({ where: { id }, set: { lastUsedAt } })),
    ),
  );
}

function creatorOf(actor: Actor): Id<"user"> | null {
  if (actor.type === "user") return actor.id;
  return actor.type === "api_key" ? actor.createdBy : null;
}

/**
 * Throws ScopeNotAllowed if a scope gives a permission that the caller does not have. Permissions of owners and of the
 * platform are granted by people and the operator only, so that a leaked key cannot create a key that survives its
 * revocation: a key acts as an admin, and grants at most its own permissions. Checked inside the transaction, because
 * the caller may have lost the role since the request was admitted.
 */
async function requireScopes(
  tx: Tx,
  scopes: readonly Scope[],
  { id, isPlatform }: Pick<OrganizationRow, "id" | "isPlatform">,
): Promise<void> {
  const { actor } = tx.context;
  const isPlatformAdmin = actor.type === "user" && actor.platformRole === "admin";
  if (
    scopes.includes("platform") &&
    !(isPlatform && (isPlatformAdmin || actor.type === "operator"))
  ) {
    throw new ScopeNotAllowed(
      "The scope platform is only for keys of the platform organization. Its admins can grant it, or the operator on the command line.",
    );
  }
  const others = scopes.filter((scope) => scope !== "platform");
  if (others.length === 0) return;
  const role = await handlingRole(tx, id);
  const lacks = (permission: Permission) =>
    !roleMay(role, permission) ||
    (actor.type === "api_key" && !scopesMay(actor.scopes, permission));
  const refused = others.filter((scope) =>
    permissionNames.some((name) => scopesMay([scope], name) && lacks(name)),
  );
  if (refused.length === 0) return;
  if (refused.includes("billing")) {
    throw new ScopeNotAllowed(
      "Only a logged-in owner of the organization can grant the scope billing, or the operator with till key create.",
    );
  }
  /* c8 ignore start: of those who may create keys, only keys and admins lack anything, and admins billing alone. */
  const caller =
    actor.type === "api_key" ? `A key with ${actor.scopes.join(", ")}` : `The role ${role}`;
  /* c8 ignore stop */
  throw new ScopeNotAllowed(
    `${caller} cannot grant ${refused.join(", ")}, because a key with that can do more than the caller. An owner or admin of the organization can grant it, or the operator with till key create.`,
  );
}

function requireExpiry(actor: Actor, wanted: Instant | null, now: Instant): Instant | null {
  if (wanted !== null && wanted <= now) {
    throw invalidField("/expiresAt", "in_the_past", "must be in the future");
  }
  if (actor.type === "api_key" && actor.expiresAt !== null) {
    if (wanted === null || wanted > actor.expiresAt) {
      throw new ExpiryNotAllowed(
        "Set expiresAt to a time no later than the expiry of the key that makes this request.",
      );
    }
  }
  return wanted;
}
