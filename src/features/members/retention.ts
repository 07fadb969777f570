import { day, type Instant } from "../../kernel/clock.ts";
import type { Database, WriteContext } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";

/** How long an expired invitation stays in lists, so that the inviter sees its outcome. */
export const invitationKeptFor = 30 * day;
/** Maximum number of rows deleted in one transaction. */
const pruneBatch = 1_000;

/**
 * Deletes one batch of long-expired invitations; returns whether there may be more. The audit log keeps their history.
 */
export async function pruneInvitations(
  db: Database,
  now: Instant,
  context: WriteContext,
): Promise<boolean> {
  const past = await db.all<{ id: string }>(
    `SELECT id AS "id" FROM invitations
     WHERE expires_at <= $1 ORDER BY expires_at LIMIT ${String(pruneBatch)}`,
    [now - invitationKeptFor],
  );
  if (past.length === 0) return false;
  await db.write(context, (tx) =>
    tx.run(`DELETE FROM invitations WHERE id IN ${listed(tx.dialect, 1)}`, [
      JSON.stringify(past.map(({ id }) => id)),
    ]),
  );
  return past.length === pruneBatch;
}
