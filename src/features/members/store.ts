import type { Role } from "../../http/declare/permissions.ts";
import type { Id } from "../../kernel/id.ts";
import type { PageRequest } from "../../kernel/page.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import { table, text, time, type RowOf } from "../../platform/database/schema/table.ts";
import { pageQuery } from "../../platform/database/query/lists.ts";

export const users = table(
  "users",
  {
    id: text<Id<"user">>(),
    email: text(),
    name: text(),
    passwordHash: text(),
    createdAt: time(),
  },
  { primaryKey: ["id"], indexes: [{ name: "users_email", columns: ["email"], unique: true }] },
);

export const memberships = table(
  "memberships",
  {
    id: text<Id<"membership">>(),
    userId: text<Id<"user">>(),
    organizationId: text<Id<"organization">>(),
    role: text<Role>(),
    createdAt: time(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "memberships_user", columns: ["userId", "organizationId"], unique: true },
      { name: "memberships_organization", columns: ["organizationId", "id"] },
    ],
  },
);

/** An invitation to join an organization: for one e-mail address, usable once, until it expires. */
export const invitations = table(
  "invitations",
  {
    id: text<Id<"invitation">>(),
    organizationId: text<Id<"organization">>(),
    /** The address of the account that accepts. */
    email: text(),
    role: text<Role>(),
    /** SHA-256 of the token; the token itself is shown once and not stored. */
    tokenHash: text(),
    /** The inviting member; null if an API key or the operator invited. */
    invitedBy: text<Id<"user">>().nullable(),
    createdAt: time(),
    expiresAt: time(),
    acceptedAt: time().nullable(),
    revokedAt: time().nullable(),
  },
  {
    primaryKey: ["id"],
    indexes: [
      { name: "invitations_token", columns: ["tokenHash"], unique: true },
      { name: "invitations_expiry", columns: ["expiresAt"] },
      { name: "invitations_organization", columns: ["organizationId", "id"] },
      {
        name: "invitations_open",
        columns: ["organizationId", "email"],
        where: "accepted_at IS NULL AND revoked_at IS NULL",
      },
    ],
  },
);

export type InvitationRow = RowOf<typeof invitations>;

export interface UserView extends RowOf<typeof users> {
  /** `admin` for owners and admins of the platform organization. */
  readonly platformRole: "admin" | "none";
}

/** A membership with the names for its record. */
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

/** SQL condition for platform admins, on `u.id`. */
export const isPlatformAdmin = `EXISTS (
  SELECT 1 FROM memberships pm JOIN organizations po ON po.id = pm.organization_id
  WHERE pm.user_id = u.id AND po.is_platform = 1 AND pm.role IN ('owner', 'admin'))`;

/** Maximum number of memberships read for one user or one organization. */
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

/** Returns a page of all users, newest first. */
export async function findUsers(reader: Reader, page: PageRequest): Promise<UserView[]> {
  const { rest, values } = pageQuery(page, [], "u.id");
  return reader.all<UserView>(
    `SELECT u.id AS "id", u.email AS "email", u.name AS "name", u.password_hash AS "passwordHash",
       u.created_at AS "createdAt", CASE WHEN ${isPlatformAdmin} THEN 'admin' ELSE 'none' END AS "platformRole"
     FROM users u ${rest}`,
    values,
  );
}

/** Returns a user's memberships, oldest first. */
export async function membershipsOfUser(
  reader: Reader,
  userId: Id<"user">,
): Promise<MembershipView[]> {
  return reader.all<MembershipView>(
    `SELECT ${membershipColumns} ${membershipTables} WHERE m.user_id = $1 ORDER BY m.id LIMIT ${String(membershipsMax)}`,
    [userId],
  );
}

/** Returns an organization's memberships, oldest first. */
export async function membershipsOfOrganization(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<MembershipView[]> {
  return reader.all<MembershipView>(
    `SELECT ${membershipColumns} ${membershipTables} WHERE m.organization_id = $1 ORDER BY m.id LIMIT ${String(membershipsMax)}`,
    [organizationId],
  );
}

/** Returns a page of an organization's memberships, newest first. */
export async function findMemberships(
  reader: Reader,
  organizationId: Id<"organization">,
  page: PageRequest,
): Promise<MembershipView[]> {
  const { rest, values } = pageQuery(page, [["m.organization_id =", organizationId]], "m.id");
  return reader.all<MembershipView>(
    `SELECT ${membershipColumns} ${membershipTables} ${rest}`,
    values,
  );
}

export async function membershipView(
  reader: Reader,
  organizationId: Id<"organization">,
  membershipId: Id<"membership">,
): Promise<MembershipView | null> {
  const [found] = await reader.all<MembershipView>(
    `SELECT ${membershipColumns} ${membershipTables} WHERE m.organization_id = $1 AND m.id = $2`,
    [organizationId, membershipId],
  );
  return found ?? null;
}

/** Locks a user, which serializes password changes. */
export async function lockUser(tx: Tx, userId: Id<"user">): Promise<RowOf<typeof users> | null> {
  return tx.lockOne(users, "WHERE id = $1", [userId]);
}

export async function changePasswordHash(
  tx: Tx,
  userId: Id<"user">,
  passwordHash: string,
): Promise<void> {
  await tx.update(users, { passwordHash }, "WHERE id = $1", [userId]);
}

/** Locks a user's membership until the transaction ends. */
export async function lockMembership(
  tx: Tx,
  organizationId: Id<"organization">,
  userId: Id<"user">,
): Promise<RowOf<typeof memberships> | null> {
  return tx.lockOne(memberships, "WHERE organization_id = $1 AND user_id = $2", [
    organizationId,
    userId,
  ]);
}

/** Returns a page of an organization's invitations, newest first. */
export async function findInvitations(
  reader: Reader,
  organizationId: Id<"organization">,
  page: PageRequest,
): Promise<InvitationRow[]> {
  const { rest, values } = pageQuery(page, [["organization_id =", organizationId]]);
  return reader.find(invitations, rest, values);
}

/** Whether an organization is suspended. */
export async function isSuspended(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<boolean> {
  const found = await reader.all(
    "SELECT 1 AS found FROM organizations WHERE id = $1 AND status = 'suspended'",
    [organizationId],
  );
  return found.length > 0;
}

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
