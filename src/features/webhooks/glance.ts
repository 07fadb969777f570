import type { Instant } from "../../kernel/clock.ts";
import type { Reader } from "../../platform/database/index.ts";
import type { DeliveryStatus } from "./status.ts";

// What can be seen at a glance: this file loads nothing, for commands that must answer at once.

/** How many deliveries stand where. `later` of the pending and failed ones wait for a time ahead. */
export interface DeliveryBacklog {
  readonly pending: number;
  readonly inProgress: number;
  readonly failed: number;
  readonly deadLetter: number;
  readonly later: number;
  /** When the pending or failed one that waits longest was due, or will be; null where none waits. */
  readonly oldestDueAt: Instant | null;
}

/** Counts what did not succeed (yet), from one index. */
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
