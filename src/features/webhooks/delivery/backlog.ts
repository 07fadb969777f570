import type { Instant } from "../../../kernel/clock.ts";
import type { Reader } from "../../../platform/database/database.ts";
import type { DeliveryStatus } from "../status.ts";

// Imported by commands that must start fast, so this file imports nothing heavy.

/** Number of deliveries by status. `later` counts pending and failed ones whose due time is in the future. */
export interface DeliveryBacklog {
  readonly pending: number;
  readonly inProgress: number;
  readonly failed: number;
  readonly deadLetter: number;
  readonly later: number;
  /** Earliest due time of pending or failed deliveries; null if there are none. */
  readonly oldestDueAt: Instant | null;
}

/** Counts the deliveries that have not succeeded, using one index. */
export async function deliveryBacklog(reader: Reader, now: Instant): Promise<DeliveryBacklog> {
  const rows = await reader.all<{
    status: DeliveryStatus;
    total: number;
    later: number;
    dueAt: Instant | null;
  }>(
    `SELECT status AS "status", COUNT(*) AS "total", COUNT(CASE WHEN due_at > $1 THEN 1 END) AS "later",
       MIN(due_at) AS "dueAt"
     FROM webhook_deliveries WHERE status <> 'succeeded' GROUP BY status`,
    [now],
  );
  const of = (status: DeliveryStatus) =>
    rows.find((row) => row.status === status) ?? { total: 0, later: 0, dueAt: null };
  const due = [of("pending").dueAt, of("failed").dueAt].filter((at) => at !== null);
  return {
    pending: of("pending").total,
    inProgress: of("in_progress").total,
    failed: of("failed").total,
    deadLetter: of("dead_letter").total,
    later: of("pending").later + of("failed").later,
    oldestDueAt: due.length === 0 ? null : Math.min(...due),
  };
}
