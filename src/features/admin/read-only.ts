import type { z } from "zod";
import { toIso, type Instant } from "../../kernel/clock.ts";
import { claimedHead } from "../../platform/audit/head.ts";
import type { Reader } from "../../platform/database/database.ts";
import type { Health } from "./status/health.ts";
import type { AdminOperationsStatusRecord } from "./cross-organization/records.ts";
import {
  readBacklogs,
  readLastReport,
  type BacklogCounter,
  type Backlogs,
} from "./status/probes.ts";
import { overall, type Report, type ServerSettings } from "./status/report.ts";

export {
  differencesTo,
  knownServers,
  recordEnd,
  recordServer,
  wordDifference,
  type KnownServer,
  type SettingDifference,
} from "./status/servers.ts";

// Imported by commands that must start fast, so this file imports little.

export type { ServerSettings };

export interface OperationsStatus extends Report, Backlogs {
  /** The stored head of the audit chain, such as `12:9f86…`; null if the store has none. */
  readonly auditHead: string | null;
  readonly checkedAt: Instant;
  readonly infrastructure: Health;
}

/** Returns the servers' last recorded checks and the current backlogs. `checkedAt` is the time of the latest check. */
export async function storedOperationsStatus(
  reader: Reader,
  now: Instant,
  countDeliveries: BacklogCounter,
): Promise<OperationsStatus> {
  const [{ report, checkedAt }, backlogs, auditHead] = await Promise.all([
    readLastReport(reader, now),
    readBacklogs(reader, now, countDeliveries),
    claimedHead(reader),
  ]);
  return {
    ...report,
    ...backlogs,
    auditHead,
    checkedAt: checkedAt ?? now,
    infrastructure: overall(report),
  };
}

/** Presents the status for the API and for `till ops status --json`. */
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
    auditHead: status.auditHead,
  };
}
