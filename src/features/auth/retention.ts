import type { Instant } from "../../kernel/clock.ts";
import type { Database, WriteContext } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { sessions } from "./store.ts";

/** Maximum number of rows deleted in one transaction. */
const pruneBatch = 1_000;

/**
 * Deletes one batch of expired refresh tokens and the sessions without any left; returns whether there may be more.
 * Used tokens are kept until they expire, even in a revoked family, because they detect reuse. A session therefore
 * outlives its access tokens, which expire long before its last refresh token.
 */
export async function pruneSessions(
  db: Database,
  now: Instant,
  context: WriteContext,
): Promise<boolean> {
  const past = await db.all<{ tokenHash: string; sessionId: string }>(
    `SELECT token_hash AS "tokenHash", session_id AS "sessionId" FROM refresh_tokens
     WHERE expires_at <= $1 ORDER BY expires_at LIMIT ${String(pruneBatch)}`,
    [now],
  );
  if (past.length === 0) return false;
  const hashes = JSON.stringify(past.map(({ tokenHash }) => tokenHash));
  const families = JSON.stringify([...new Set(past.map(({ sessionId }) => sessionId))]);
  await db.write(context, async (tx) => {
    // Lock order: the session first, as in token rotation.
    await tx.lock(sessions, `WHERE id IN ${listed(tx.dialect, 1)} ORDER BY id`, [families]);
    await tx.run(`DELETE FROM refresh_tokens WHERE token_hash IN ${listed(tx.dialect, 1)}`, [
      hashes,
    ]);
    await tx.run(
      `DELETE FROM sessions WHERE id IN ${listed(tx.dialect, 1)}
         AND NOT EXISTS (SELECT 1 FROM refresh_tokens WHERE session_id = sessions.id)`,
      [families],
    );
  });
  return past.length === pruneBatch;
}

/** Deletes one batch of expired password resets; returns whether there may be more. */
export async function prunePasswordResets(
  db: Database,
  now: Instant,
  context: WriteContext,
): Promise<boolean> {
  const past = await db.all<{ tokenHash: string }>(
    `SELECT token_hash AS "tokenHash" FROM password_resets
     WHERE expires_at <= $1 ORDER BY expires_at LIMIT ${String(pruneBatch)}`,
    [now],
  );
  if (past.length === 0) return false;
  await db.write(context, (tx) =>
    tx.run(`DELETE FROM password_resets WHERE token_hash IN ${listed(tx.dialect, 1)}`, [
      JSON.stringify(past.map(({ tokenHash }) => tokenHash)),
    ]),
  );
  return past.length === pruneBatch;
}
