import type { Scope } from "../../api/declare/permissions.ts";
import type { Id } from "../../kernel/id.ts";
import type { PageRequest } from "../../kernel/page.ts";
import type { Reader } from "../../platform/database/database.ts";
import { pageQuery } from "../../platform/database/query/page.ts";
import { apiKeys, type ApiKeyRow } from "./table.ts";

export interface FoundKey {
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
export async function listKeys(
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
