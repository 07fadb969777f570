import type { Id } from "../../kernel/id.ts";
import { table, text, time } from "../../platform/database/index.ts";

/** A login: the family of the refresh tokens that follow each other from it. */
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
    /** SHA-256 of the token: the token itself is not kept. */
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

/** A way to a new password, made by the operator: good once. */
export const passwordResets = table(
  "password_resets",
  {
    /** SHA-256 of the token: the token itself is not kept. */
    tokenHash: text(),
    userId: text<Id<"user">>(),
    createdAt: time(),
    expiresAt: time(),
    /** When it was used, or ended by another way to a new password. */
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
