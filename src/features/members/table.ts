import type { Role } from "../../api/permissions.ts";
import type { Id } from "../../kernel/id.ts";
import { table, text, time, type RowOf } from "../../platform/database/index.ts";

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

/** An offer to join: it holds for one address, once, until it is over. */
export const invitations = table(
  "invitations",
  {
    id: text<Id<"invitation">>(),
    organizationId: text<Id<"organization">>(),
    /** Whoever accepts has an account of this address, or registers one. */
    email: text(),
    role: text<Role>(),
    /** SHA-256 of the token: the token itself is shown once and not kept. */
    tokenHash: text(),
    /** The member who offered; null when a key or the operator did. */
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
