import type { Instant } from "../../kernel/clock.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import type { RowOf, Tx } from "../../platform/database/index.ts";
import type { Auditor } from "../../platform/audit/index.ts";
import type { Role } from "../../api/permissions.ts";
import { EmailUnavailable } from "./errors.ts";
import { memberships, users } from "./table.ts";

export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
}

export interface Members {
  /** Adds a user; 409 `email_unavailable` where the address is known. */
  addUser(tx: Tx, at: Instant, user: NewUser): Promise<RowOf<typeof users>>;
  /** Makes a user a member of an organization. */
  addMembership(
    tx: Tx,
    at: Instant,
    membership: {
      readonly userId: Id<"user">;
      readonly organizationId: Id<"organization">;
      readonly role: Role;
    },
  ): Promise<void>;
}

export function makeMembers(deps: { ids: IdSource; auditor: Auditor }): Members {
  const { ids, auditor } = deps;
  return {
    async addUser(tx, at, user) {
      const row = { id: ids.next("user", at), ...user, createdAt: at };
      if (!(await tx.insertIfAbsent(users, row))) {
        throw new EmailUnavailable(
          "This e-mail address has an account. Log in, or use another address.",
        );
      }
      auditor.record(tx, at, {
        action: "user.created",
        organizationId: null,
        targetType: "user",
        targetId: row.id,
        changes: { email: row.email, name: row.name },
      });
      return row;
    },

    async addMembership(tx, at, membership) {
      const row = { id: ids.next("membership", at), ...membership, createdAt: at };
      await tx.insert(memberships, row);
      auditor.record(tx, at, {
        action: "member.added",
        organizationId: membership.organizationId,
        targetType: "membership",
        targetId: row.id,
        changes: { userId: membership.userId, role: membership.role },
      });
    },
  };
}
