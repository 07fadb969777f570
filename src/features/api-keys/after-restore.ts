import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Reader } from "../../platform/database/database.ts";

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
