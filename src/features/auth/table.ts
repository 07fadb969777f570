import type { Id } from "../../kernel/id.ts";
import { table, text, time } from "../../platform/database/schema/table.ts";

/** A login: the family of refresh tokens that originate from it. */
export const sessions = table(
  "sessions",
  {
    id: text<Id<"session">>(),
    userId: text<Id<"user">>(),
    createdAt: time(),
    revokedAt: time().nullable(),
  },
  { primaryKey: ["id"], indexes: [{ name: "sessions_user", columns: ["userId", "id"] }] },
);

export const refreshTokens = table(
  "refresh_tokens",
  {
    /** SHA-256 of the token; the token itself is not stored. */
    tokenHash: text(),
    sessionId: text<Id<"session">>(),
    createdAt: time(),
    expiresAt: time(),
    usedAt: time().nullable(),
  },
  {
    primaryKey: ["tokenHash"],
    indexes: [
      { name: "refresh_tokens_session", columns: ["sessionId"] },
      { name: "refresh_tokens_expiry", columns: ["expiresAt"] },
    ],
  },
);

/** A single-use password reset token, created by the operator. */
export const passwordResets = table(
  "password_resets",
  {
    /** SHA-256 of the token; the token itself is not stored. */
    tokenHash: text(),
    userId: text<Id<"user">>(),
    createdAt: time(),
    expiresAt: time(),
    /** Time of use, or of invalidation by another password change. */
    usedAt: time().nullable(),
  },
  {
    primaryKey: ["tokenHash"],
    indexes: [
      { name: "password_resets_user", columns: ["userId"] },
      { name: "password_resets_expiry", columns: ["expiresAt"] },
    ],
  },
);
