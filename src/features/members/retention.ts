import { day, type Instant } from "../../kernel/clock.ts";
import type { Database, WriteContext } from "../../platform/database/index.ts";
import { listed } from "../../platform/database/json-rows.ts";

/** How long after its time an invitation is still listed, so that who made it sees what became of it. */
export const invitationKeptFor = 30 * day;
/** Rows that one transaction forgets. */
const pruneBatch = 1_000;

/** Forgets one batch of invitations whose time is long over; gives whether there may be more. The audit log keeps them. */
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
