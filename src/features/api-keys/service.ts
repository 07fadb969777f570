import type { Standing } from "../../api/access.ts";
import { scopesMay, type Scope } from "../../api/permissions.ts";
import type { Actor, ApiKeyActor } from "../../kernel/actor.ts";
import { minute, toIso, type Clock, type Instant } from "../../kernel/clock.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import type { Id, IdSource, RandomBytes } from "../../kernel/id.ts";
import { parsePage, toPage, type Page, type PageQuery } from "../../kernel/page.ts";
import type { Auditor } from "../../platform/audit/index.ts";
import type { Database, Tx, WriteContext } from "../../platform/database/index.ts";
import { hashToken, newToken, parseToken } from "../../platform/secrets/tokens.ts";
import { handlingRole } from "../members/index.ts";
import { findOrganization, type OrganizationRow } from "../organizations/index.ts";
import { ExpiryNotAllowed, ScopeNotAllowed } from "./errors.ts";
import { keyBySecret, listKeys } from "./store.ts";
import { apiKeys, type ApiKeyRow } from "./table.ts";

/** How much of a secret is shown again: its kind and four letters of 256 bits. */
const shownLength = "till_live_".length + 4;
/** How old the stored time of the last use may be. */
const lastUsePrecision = 1 * minute;
/** How many keys' last uses one flush stores; the rest waits for the next. */
const flushedMax = 100;

export interface CreatedApiKey {
  readonly key: ApiKeyRow;
  /** Given out this once. */
  readonly secret: string;
}

export interface ApiKeyInput {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: Instant | null;
}

export interface ApiKeyService {
  /** A page of an organization's keys, newest first; those that have ended too. */
  list(organizationId: Id<"organization">, query: PageQuery): Promise<Page<ApiKeyRow>>;
  /** Makes a key. 403 `scope_not_allowed`, `expiry_not_allowed`. */
  create(
    context: WriteContext,
    organizationId: Id<"organization">,
    input: ApiKeyInput,
  ): Promise<CreatedApiKey>;
  /** Ends a key; it is refused on the next request in every process. Revoking again changes nothing. */
  revoke(
    context: WriteContext,
    organizationId: Id<"organization">,
    apiKeyId: Id<"apiKey">,
  ): Promise<ApiKeyRow>;
  /** The principal of a secret and its standing at home; null when it is unknown, revoked or over. */
  authenticate(secret: string): Promise<{ principal: ApiKeyActor; standing: Standing } | null>;
  /** The organization of a key, for a caller that knows no more than the key's id. */
  organizationOf(apiKeyId: Id<"apiKey">): Promise<Id<"organization">>;
  /** Stores when keys were last used: kept in memory meanwhile, so that a request pays nothing for it. */
  flushLastUse(context: WriteContext): Promise<void>;
}

export interface ApiKeyDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly randomBytes: RandomBytes;
  readonly auditor: Auditor;
  /** Whether only the sandbox network is enabled: such keys say `test`. */
  readonly isTest: boolean;
}

export function makeApiKeyService(deps: ApiKeyDependencies): ApiKeyService {
  const { db, clock, ids, auditor } = deps;
  /** Uses since the last flush, by key. */
  const uses = new Map<Id<"apiKey">, Instant>();

  return {
    async list(organizationId, query) {
      const page = parsePage(query, "api_keys", { organizationId });
      return toPage(await listKeys(db, organizationId, page), page);
    },

    async create(context, organizationId, input) {
      const organization = await findOrganization(db, organizationId);
      if (organization === null) throw notFound();
      const at = clock.now();
      const expiresAt = requireExpiry(context.actor, input.expiresAt ?? null, at);
      const secret = newToken(deps.isTest ? "testKey" : "liveKey", deps.randomBytes);
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
        for (const scope of input.scopes) await requireScope(tx, scope, organization);
        await tx.insert(apiKeys, key);
        auditor.record(tx, at, {
          action: "api_key.created",
          organizationId,
          targetType: "api_key",
          targetId: key.id,
          changes: {
            ...{ name: key.name, scopes: key.scopes, prefix: key.prefix },
            expiresAt: expiresAt === null ? null : toIso(expiresAt),
          },
        });
        return { key, secret };
      });
    },

    revoke(context, organizationId, apiKeyId) {
      return db.write(context, async (tx) => {
        const key = await tx.lockOne(apiKeys, "WHERE organization_id = $1 AND id = $2", [
          organizationId,
          apiKeyId,
        ]);
        if (key === null) throw notFound();
        if (key.revokedAt !== null) return key;
        const revokedAt = clock.now();
        await tx.update(apiKeys, { revokedAt }, "WHERE id = $1", [apiKeyId]);
        auditor.record(tx, revokedAt, {
          action: "api_key.revoked",
          organizationId,
          targetType: "api_key",
          targetId: apiKeyId,
          changes: { name: key.name },
        });
        return { ...key, revokedAt };
      });
    },

    async authenticate(secret) {
      // A secret whose checksum is wrong was never ours: the store is not asked.
      if (parseToken(secret, "liveKey", "testKey") === null) return null;
      const found = await keyBySecret(db, hashToken(secret));
      const now = clock.now();
      if (found === null || found.revokedAt !== null) return null;
      if (found.expiresAt !== null && found.expiresAt <= now) return null;
      if (now - (found.lastUsedAt ?? 0) > lastUsePrecision) uses.set(found.id, now);
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
        standing: {
          organizationId: found.organizationId,
          organizationStatus: found.organizationStatus,
          role: null,
        },
      };
    },

    async organizationOf(apiKeyId) {
      const key = await db.findOne(apiKeys, "WHERE id = $1", [apiKeyId]);
      if (key === null) throw notFound();
      return key.organizationId;
    },

    async flushLastUse(context) {
      if (uses.size === 0) return;
      const flushed = [...uses]
        .slice(0, flushedMax)
        .sort(([left], [right]) => (left < right ? -1 : 1));
      for (const [id] of flushed) uses.delete(id);
      const whens = flushed.map(
        (_use, place) => `WHEN $${String(place * 2 + 1)} THEN $${String(place * 2 + 2)}`,
      );
      const places = flushed.map((_use, place) => `$${String(place * 2 + 1)}`);
      await db.write(context, (tx) =>
        tx.run(
          `UPDATE api_keys SET last_used_at = CAST(CASE id ${whens.join(" ")} END AS BIGINT) WHERE id IN (${places.join(", ")})`,
          flushed.flat(),
        ),
      );
    },
  };
}

function creatorOf(actor: Actor): Id<"user"> | null {
  if (actor.type === "user") return actor.id;
  return actor.type === "api_key" ? actor.createdBy : null;
}

/**
 * Throws ScopeNotAllowed where the caller cannot grant the scope. A key grants no more than it has, and neither
 * `platform` nor `billing` even where it has them: what only admins of the platform or owners may do stays with people
 * and the operator, so that a leaked key cannot outlive its revocation by a key that it made.
 */
async function requireScope(
  tx: Tx,
  scope: Scope,
  { id, isPlatform }: Pick<OrganizationRow, "id" | "isPlatform">,
): Promise<void> {
  const { actor } = tx.context;
  switch (scope) {
    case "platform": {
      const isAdmin = actor.type === "user" && actor.platformRole === "admin";
      if (isPlatform && (isAdmin || actor.type === "operator")) return;
      throw new ScopeNotAllowed(
        "The scope platform is only for keys of the platform organization, given by its admins or the command line.",
      );
    }
    case "billing":
      // Read here, since the caller may have lost the role after the request was admitted.
      if ((await handlingRole(tx, id)) === "owner") return;
      throw new ScopeNotAllowed(
        "Only an owner of the organization can grant the scope billing, logged in as a user, or the operator with till key create.",
      );
    case "read":
    case "write": {
      const permission = scope === "read" ? "organization:read" : "organization:write";
      if (actor.type !== "api_key" || scopesMay(actor.scopes, permission)) return;
      throw new ScopeNotAllowed("A key cannot make one that may more than itself.");
    }
  }
}

function requireExpiry(actor: Actor, wanted: Instant | null, now: Instant): Instant | null {
  if (wanted !== null && wanted <= now) {
    throw invalidField("/expiresAt", "in_the_past", "must be in the future");
  }
  if (actor.type === "api_key" && actor.expiresAt !== null) {
    if (wanted === null || wanted > actor.expiresAt) {
      throw new ExpiryNotAllowed("Set expiresAt, no later than that of the key that asks.");
    }
  }
  return wanted;
}
