import type { Role } from "../../api/declare/permissions.ts";
import type { Id } from "../../kernel/id.ts";
import { table, text, time, type RowOf } from "../../platform/database/schema/table.ts";

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
