import type { Reader } from "../../platform/database/database.ts";

/** A member that a restore brought back. */
export interface ReturnedMember {
  readonly email: string;
  /** The organization's name. */
  readonly organization: string;
  readonly role: string;
}

/** Returns the members of a restored store whom the former one had removed. */
export async function returnedMembers(
  restored: Reader,
  former: Reader | null,
): Promise<readonly ReturnedMember[]> {
  if (former === null) return [];
  const kept = new Set(
    (await former.all<{ id: string }>("SELECT id FROM memberships")).map(({ id }) => id),
  );
  const rows = await restored.all<ReturnedMember & { id: string }>(
    `SELECT m.id AS "id", u.email AS "email", o.name AS "organization", m.role AS "role"
     FROM memberships m JOIN users u ON u.id = m.user_id JOIN organizations o ON o.id = m.organization_id
     ORDER BY m.id`,
  );
  return rows
    .filter(({ id }) => !kept.has(id))
    .map(({ email, organization, role }) => ({ email, organization, role }));
}
