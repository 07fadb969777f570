import type { Scope } from "../../http/declare/permissions.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { PageRequest } from "../../kernel/page.ts";
import type { Reader } from "../../platform/database/database.ts";
import { pageQuery } from "../../platform/database/query/lists.ts";
import { json, table, text, time, type RowOf } from "../../platform/database/schema/table.ts";

export const apiKeys = table(
  "api_keys",
  {
    id: text<Id<"apiKey">>(),
    organizationId: text<Id<"organization">>(),
    name: text(),
    /** Beginning of the secret, so that its owner can recognize it. */
    prefix: text(),
    /** SHA-256 of the secret; with 256 random bits no slow hash is needed. */
    secretHash: text(),
    scopes: json<readonly Scope[]>(),
    /** The user who created the key; null if the operator did. */
    createdBy: text<Id<"user">>().nullable(),
    createdAt: time(),
    lastUsedAt: time().nullable(),
    expiresAt: time().nullable(),
    revokedAt: time().nullable(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "api_keys_secret", columns: ["secretHash"], unique: true },
      { name: "api_keys_organization", columns: ["organizationId", "id"] },
    ],
  },
);

export type ApiKeyRow = RowOf<typeof apiKeys>;

interface FoundKey {
  readonly id: Id<"apiKey">;
  readonly organizationId: Id<"organization">;
  readonly organizationStatus: "active" | "suspended";
  readonly verificationStatus: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly createdBy: Id<"user"> | null;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** Finds a key with its organization's status, in the single query that authenticates a request. */
export async function keyBySecret(reader: Reader, secretHash: string): Promise<FoundKey | null> {
  const [found] = await reader.all<Omit<FoundKey, "scopes"> & { readonly scopes: string }>(
    `SELECT k.id AS "id", k.organization_id AS "organizationId", o.status AS "organizationStatus",
       o.verification_status AS "verificationStatus",
       k.name AS "name", k.scopes AS "scopes", k.created_by AS "createdBy",
       k.last_used_at AS "lastUsedAt", k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt"
     FROM api_keys k JOIN organizations o ON o.id = k.organization_id
     WHERE k.secret_hash = $1`,
    [secretHash],
  );
  return found === undefined
    ? null
    : { ...found, scopes: JSON.parse(found.scopes) as readonly Scope[] };
}

/** Returns a page of keys, newest first. */
export async function findKeys(
  reader: Reader,
  organizationId: Id<"organization">,
  page: PageRequest,
): Promise<ApiKeyRow[]> {
  const { rest, values } = pageQuery(page, [["organization_id =", organizationId]]);
  return reader.find(apiKeys, rest, values);
}

/** Counts the keys of an organization that can be used now, up to a limit. */
export async function countActiveKeys(
  reader: Reader,
  organizationId: Id<"organization">,
  now: number,
  limit: number,
): Promise<number> {
  const [counted] = await reader.all<{ readonly active: number }>(
    `SELECT count(*) AS active FROM (
       SELECT 1 AS one FROM api_keys
       WHERE organization_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
       LIMIT $3
     ) AS found`,
    [organizationId, now, limit],
  );
  return counted?.active ?? 0;
}

/** A key that works after a restore. */
export interface RestoredKey {
  readonly id: Id<"apiKey">;
  readonly name: string;
  /** The organization's name. */
  readonly organization: string;
  /** Whether the former store had revoked or lost it; null if that store cannot be read. */
  readonly isRevokedSince: boolean | null;
}

/** Returns the keys that work in a restored store, those that the former one had revoked first. */
export async function restoredKeys(
  restored: Reader,
  former: Reader | null,
  now: Instant,
): Promise<readonly RestoredKey[]> {
  const keys = await restored.all<Omit<RestoredKey, "isRevokedSince">>(
    `SELECT k.id AS "id", k.name AS "name", o.name AS "organization"
     FROM api_keys k JOIN organizations o ON o.id = k.organization_id
     WHERE k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > $1) ORDER BY k.id`,
    [now],
  );
  const live = former === null ? null : await liveIn(former);
  return keys
    .map((key) => ({ ...key, isRevokedSince: live && !live.has(key.id) }))
    .sort((one, other) => Number(other.isRevokedSince) - Number(one.isRevokedSince));
}

async function liveIn(former: Reader): Promise<ReadonlySet<string>> {
  const rows = await former.all<{ id: string }>("SELECT id FROM api_keys WHERE revoked_at IS NULL");
  return new Set(rows.map(({ id }) => id));
}
