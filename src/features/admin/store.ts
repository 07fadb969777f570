import type { Id } from "../../kernel/id.ts";
import type { Reader } from "../../platform/database/database.ts";

/** Owner and size of an organization's team. */
export interface MembershipCounts {
  /** Email of the longest-standing owner; empty without an owner. */
  readonly ownerEmail: string;
  readonly memberCount: number;
}

/** Returns the owners and member counts of several organizations in one statement. */
export async function membershipCounts(
  reader: Reader,
  organizationIds: readonly Id<"organization">[],
): Promise<Map<Id<"organization">, MembershipCounts>> {
  if (organizationIds.length === 0) return new Map();
  const places = organizationIds.map((_id, place) => `$${String(place + 1)}`).join(", ");
  const rows = await reader.all<MembershipCounts & { id: Id<"organization"> }>(
    `SELECT m.organization_id AS "id", CAST(COUNT(*) AS INTEGER) AS "memberCount", (
       SELECT u.email FROM memberships om JOIN users u ON u.id = om.user_id
       WHERE om.organization_id = m.organization_id AND om.role = 'owner' ORDER BY om.id LIMIT 1
     ) AS "ownerEmail"
     FROM memberships m WHERE m.organization_id IN (${places}) GROUP BY m.organization_id`,
    organizationIds,
  );
  return new Map(rows.map(({ id, ownerEmail, memberCount }) => [id, { ownerEmail, memberCount }]));
}
