import type { Role } from "../../http/declare/permissions.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import { table, text, time, type RowOf } from "../../platform/database/schema/table.ts";
import { isPlatformAdmin } from "../members/store.ts";

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

/** A session with its user. */
export interface LiveSession {
  readonly sessionId: Id<"session">;
  readonly userId: Id<"user">;
  readonly email: string;
  readonly isAdmin: number;
}

const sessionColumns = `s.id AS "sessionId", u.id AS "userId", u.email AS "email",
  CASE WHEN ${isPlatformAdmin} THEN 1 ELSE 0 END AS "isAdmin"`;

/** Finds the user of an active session and whether they are a platform admin, in one query per request. */
export async function liveSession(
  reader: Reader,
  sessionId: Id<"session">,
): Promise<LiveSession | null> {
  const [found] = await reader.all<LiveSession>(
    `SELECT ${sessionColumns} FROM sessions s JOIN users u ON u.id = s.user_id
     WHERE s.id = $1 AND s.revoked_at IS NULL`,
    [sessionId],
  );
  return found ?? null;
}

/** The role of a user in an organization, with the status of that. */
interface FoundMembership {
  readonly role: Role;
  readonly status: "active" | "suspended";
  readonly verificationStatus: string;
}

/** Finds a user's role in an organization and the organization's status, in one query per request. */
export async function membership(
  reader: Reader,
  userId: Id<"user">,
  organizationId: Id<"organization">,
): Promise<FoundMembership | null> {
  const [found] = await reader.all<FoundMembership>(
    `SELECT m.role AS "role", o.status AS "status", o.verification_status AS "verificationStatus"
     FROM memberships m JOIN organizations o ON o.id = m.organization_id
     WHERE m.user_id = $1 AND m.organization_id = $2`,
    [userId, organizationId],
  );
  return found ?? null;
}

/** Finds the session of a refresh token, even if either has ended; null if the token is unknown. */
export async function sessionOfRefreshToken(
  reader: Reader,
  tokenHash: string,
): Promise<LiveSession | null> {
  const [found] = await reader.all<LiveSession>(
    `SELECT ${sessionColumns}
     FROM refresh_tokens t JOIN sessions s ON s.id = t.session_id JOIN users u ON u.id = s.user_id
     WHERE t.token_hash = $1`,
    [tokenHash],
  );
  return found ?? null;
}

export async function lockRefreshToken(
  tx: Tx,
  tokenHash: string,
): Promise<RowOf<typeof refreshTokens> | null> {
  return tx.lockOne(refreshTokens, "WHERE token_hash = $1", [tokenHash]);
}

export async function lockSession(
  tx: Tx,
  sessionId: Id<"session">,
): Promise<RowOf<typeof sessions> | null> {
  return tx.lockOne(sessions, "WHERE id = $1", [sessionId]);
}

/** Revokes a session with all its tokens; returns false if it was already revoked. */
export async function revokeSession(
  tx: Tx,
  sessionId: Id<"session">,
  at: Instant,
): Promise<boolean> {
  return (
    (await tx.update(sessions, { revokedAt: at }, "WHERE id = $1 AND revoked_at IS NULL", [
      sessionId,
    ])) > 0
  );
}

/** Revokes all sessions of a user except one; returns their number. */
export async function revokeSessionsOf(
  tx: Tx,
  userId: Id<"user">,
  at: Instant,
  except: Id<"session"> | null,
): Promise<number> {
  return tx.update(
    sessions,
    { revokedAt: at },
    "WHERE user_id = $1 AND revoked_at IS NULL AND id <> $2",
    [userId, except ?? ""],
  );
}

/** Invalidates all of a user's password reset tokens. */
export async function endResetsOf(tx: Tx, userId: Id<"user">, at: Instant): Promise<void> {
  await tx.update(passwordResets, { usedAt: at }, "WHERE user_id = $1 AND used_at IS NULL", [
    userId,
  ]);
}

/** Revokes every session and invalidates every password reset token; returns the number of sessions. */
export async function endAllSessions(tx: Tx, at: Instant): Promise<number> {
  await tx.update(passwordResets, { usedAt: at }, "WHERE used_at IS NULL");
  return tx.update(sessions, { revokedAt: at }, "WHERE revoked_at IS NULL");
}
