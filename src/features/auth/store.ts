import type { Role } from "../../api/permissions.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import type { Reader, RowOf, Tx } from "../../platform/database/index.ts";
import { isPlatformAdmin } from "../members/index.ts";
import { passwordResets, refreshTokens, sessions } from "./table.ts";

/** A session with its user. */
export interface LiveSession {
  readonly sessionId: Id<"session">;
  readonly userId: Id<"user">;
  readonly email: string;
  readonly isAdmin: number;
}

const sessionColumns = `s.id AS "sessionId", u.id AS "userId", u.email AS "email",
  CASE WHEN ${isPlatformAdmin} THEN 1 ELSE 0 END AS "isAdmin"`;

/** The user of a session that is not revoked, with what they are on the platform: one statement a request. */
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

/** A user's role in an organization, and the organization's status: one statement a request. */
export async function membership(
  reader: Reader,
  userId: Id<"user">,
  organizationId: Id<"organization">,
): Promise<{ role: Role; status: "active" | "suspended" } | null> {
  const [found] = await reader.all<{ role: Role; status: "active" | "suspended" }>(
    `SELECT m.role AS "role", o.status AS "status"
     FROM memberships m JOIN organizations o ON o.id = m.organization_id
     WHERE m.user_id = $1 AND m.organization_id = $2`,
    [userId, organizationId],
  );
  return found ?? null;
}

/** The session that a refresh token is of, whatever became of both; null for an unknown token. */
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

/** Ends a session and with it its whole family of tokens; false when it was ended before. */
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

/** Ends the sessions of a user, but for one; gives how many. */
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

/** Ends every link by which a user's password could be reset. */
export async function endResetsOf(tx: Tx, userId: Id<"user">, at: Instant): Promise<void> {
  await tx.update(passwordResets, { usedAt: at }, "WHERE user_id = $1 AND used_at IS NULL", [
    userId,
  ]);
}
