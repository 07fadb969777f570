import type { Role } from "../../api/permissions.ts";
import type { Id } from "../../kernel/id.ts";
import { table, text, time } from "../../platform/database/index.ts";

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
