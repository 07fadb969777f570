import { minute, type Clock } from "../../kernel/clock.ts";
import type { Database, WriteContext } from "../../platform/database/index.ts";
import { billingState } from "./table.ts";

/** How often it is written that billing is at work. */
const beatEvery = 1 * minute;
/** Nobody looked for longer than this: the program was down, and nobody could pay, or see that something is due. */
const downtimeMin = 5 * minute;
/** So much more is given then: what was paid meanwhile is in blocks that are yet to be read. */
const readingTime = 10 * minute;

/**
 * Writes that billing is at work. Where it was not, what is unpaid is due later, by as long as nobody could pay it; gives
 * for how long that was, in milliseconds, and 0 otherwise.
 */
export async function beat(db: Database, clock: Clock, context: WriteContext): Promise<number> {
  const seen = await db.findOne(billingState, "");
  const last = seen?.heartbeatAt ?? null;
  if (last !== null && clock.now() - last < beatEvery) return 0;
  return db
    .write(context, async (tx) => {
      const now = clock.now();
      const gap = last === null ? 0 : now - last;
      const isDown = last !== null && gap > downtimeMin;
      if (isDown) {
        await tx.run(
          `UPDATE platform_invoices SET version = version + 1, updated_at = $2,
           due_at = due_at + $3 + ($2 - CASE WHEN issued_at > $1 THEN issued_at ELSE $1 END)
         WHERE status IN ('open', 'past_due')`,
          [last, now, readingTime],
        );
      }
      const changed = await tx.update(
        billingState,
        { heartbeatAt: now },
        last === null ? "WHERE heartbeat_at IS NULL" : "WHERE heartbeat_at = $1",
        last === null ? [] : [last],
      );
      // Another process was first: it has moved what was to be moved.
      if (changed === 0) throw new Beaten();
      return isDown ? gap : 0;
    })
    .catch((error: unknown) => {
      if (error instanceof Beaten) return 0;
      throw error;
    });
}

class Beaten extends Error {
  override readonly name = "Beaten";
}
