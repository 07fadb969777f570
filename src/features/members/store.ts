import type { Role } from "../../api/permissions.ts";
import type { Id } from "../../kernel/id.ts";
import type { Reader, RowOf } from "../../platform/database/index.ts";
import { users } from "./table.ts";

export interface UserView extends RowOf<typeof users> {
  /** `admin` for owners and admins of the platform organization. */
  readonly platformRole: "admin" | "none";
}

/** A membership with the names that its record shows. */
export interface MembershipView {
  readonly id: Id<"membership">;
  readonly userId: Id<"user">;
  readonly organizationId: Id<"organization">;
  readonly organizationName: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: number;
}

const membershipColumns = `m.id AS "id", m.user_id AS "userId", m.organization_id AS "organizationId",
  o.name AS "organizationName", u.email AS "email", u.name AS "name", m.role AS "role", m.created_at AS "createdAt"`;
const membershipTables = `FROM memberships m
  JOIN users u ON u.id = m.user_id
  JOIN organizations o ON o.id = m.organization_id`;

/** Whether a user is an admin of the platform: the condition reads `u.id`. */
export const isPlatformAdmin = `EXISTS (
  SELECT 1 FROM memberships pm JOIN organizations po ON po.id = pm.organization_id
  WHERE pm.user_id = u.id AND po.is_platform = 1 AND pm.role IN ('owner', 'admin'))`;

/** A user cannot belong to more organizations than one answer can name. */
const membershipsMax = 100;

export async function userByEmail(
  reader: Reader,
  email: string,
): Promise<RowOf<typeof users> | null> {
  return reader.findOne(users, "WHERE email = $1", [email]);
}

export async function userView(reader: Reader, userId: Id<"user">): Promise<UserView | null> {
  const user = await reader.findOne(users, "WHERE id = $1", [userId]);
  if (user === null) return null;
  const [found] = await reader.all<{ admin: number }>(
    `SELECT CASE WHEN ${isPlatformAdmin} THEN 1 ELSE 0 END AS "admin" FROM users u WHERE u.id = $1`,
    [userId],
  );
  return { ...user, platformRole: found?.admin === 1 ? "admin" : "none" };
}

/** The memberships of a user, oldest first. */
export async function membershipsOfUser(
  reader: Reader,
  userId: Id<"user">,
): Promise<MembershipView[]> {
  return reader.all<MembershipView>(
    `SELECT ${membershipColumns} ${membershipTables} WHERE m.user_id = $1 ORDER BY m.id LIMIT ${String(membershipsMax)}`,
    [userId],
  );
}

/** The memberships of an organization, oldest first. */
export async function membershipsOfOrganization(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<MembershipView[]> {
  return reader.all<MembershipView>(
    `SELECT ${membershipColumns} ${membershipTables} WHERE m.organization_id = $1 ORDER BY m.id LIMIT ${String(membershipsMax)}`,
    [organizationId],
  );
}
