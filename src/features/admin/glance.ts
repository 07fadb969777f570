import type { z } from "zod";
import { toIso, type Instant } from "../../kernel/clock.ts";
import type { Reader } from "../../platform/database/index.ts";
import type { Health } from "./health.ts";
import type { AdminOperationsStatusRecord } from "./oversight-records.ts";
import { readBacklogs, readLastReport, type BacklogCounter, type Backlogs } from "./probes.ts";
import { overall, type Report } from "./report.ts";

// What can be seen at a glance: this file loads little, for commands that must answer at once.

export interface OperationsStatus extends Report, Backlogs {
  readonly checkedAt: Instant;
  readonly infrastructure: Health;
}

/** How things stood when servers last looked, and what waits now. `checkedAt` is when the latest of them looked. */
export async function statusAtAGlance(
  reader: Reader,
  now: Instant,
  countDeliveries: BacklogCounter,
): Promise<OperationsStatus> {
  const [{ report, checkedAt }, backlogs] = await Promise.all([
    readLastReport(reader, now),
    readBacklogs(reader, now, countDeliveries),
  ]);
  return { ...report, ...backlogs, checkedAt: checkedAt ?? now, infrastructure: overall(report) };
}

/** The record that the API answers and `till ops status --json` prints. */
export function presentOperationsStatus(
  status: OperationsStatus,
): z.input<typeof AdminOperationsStatusRecord> {
  const { failed, deadLetter, pending, inProgress } = status.webhooks;
  const checks = Object.entries(status.checks);
  return {
    checkedAt: toIso(status.checkedAt),
    infrastructure: {
      status: status.infrastructure,
      checks: Object.fromEntries(checks.map(([name, check]) => [name, check.status])),
      messages: Object.fromEntries(checks.map(([name, check]) => [name, check.message])),
    },
    providers: [...status.providers],
    queues: [...status.queues],
    webhooks: { failed, deadLetter, pending, inProgress },
  };
}
