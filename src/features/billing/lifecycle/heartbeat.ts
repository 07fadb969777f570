import type { App } from "../../../app.ts";
import { minute } from "../../../kernel/clock.ts";
import type { WriteContext } from "../../../platform/database/database.ts";
import { billingState } from "../table.ts";

/** The minimum time between two stored heartbeats of billing, whose runs are a minute apart, give or take. */
const beatEvery = minute / 2;
/** A longer gap between heartbeats counts as downtime: nobody could pay, or see that an invoice is due. */
const downtimeMin = 5 * minute;
/** Added to the extension of due dates: payments during the downtime are in blocks that must still be read. */
const readingTime = 10 * minute;

/**
 * Stores a heartbeat. After downtime, extends the due date of each unpaid platform invoice by the time during which it
 * could not be paid, plus `readingTime`. Returns the length of the downtime in milliseconds, otherwise 0.
 */
export async function recordHeartbeat({ db, clock }: App, context: WriteContext): Promise<number> {
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
      // Another process was first and has extended the due dates.
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
