import { day, type Instant } from "../../../kernel/clock.ts";
import type { Database, WriteContext } from "../../../platform/database/database.ts";

/** How long a refused claim is remembered, and how long one waits whose transaction was looked up and is unknown. */
const forgottenAfter = day;
/** How long a claim waits for its first lookup: providers may fail for more than a day. */
const neverLookedUpAfter = 3 * day;
/** Claims changed in one transaction. */
const pruneBatch = 1_000;

/**
 * Deletes a batch of claims that were refused a day ago, and refuses a batch of those that wait for a transaction that
 * nobody has known for a day, or that nobody could look up for three; returns true if there may be more.
 */
export async function pruneClaims(
  db: Database,
  now: Instant,
  context: WriteContext,
): Promise<boolean> {
  const before = now - forgottenAfter;
  const oldest = (condition: string, column: string) =>
    `SELECT id FROM payment_claims WHERE ${condition} AND ${column} < $1
     ORDER BY ${column} LIMIT ${String(pruneBatch)}`;
  const unknown = "state = 'waiting' AND is_known = 0 AND (reason = 'unknown' OR created_at < $3)";
  return db.write(context, async (tx) => {
    const deleted = await tx.run(
      `DELETE FROM payment_claims WHERE state = 'refused' AND closed_at < $1 AND id IN (${oldest("state = 'refused'", "closed_at")})`,
      [before],
    );
    const refused = await tx.run(
      `UPDATE payment_claims SET state = 'refused', reason = 'unknown', closed_at = $2
       WHERE state = 'waiting' AND is_known = 0 AND id IN (${oldest(unknown, "created_at")})`,
      [before, now, now - neverLookedUpAfter],
    );
    return Math.max(deleted, refused) === pruneBatch;
  });
}
