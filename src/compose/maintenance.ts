import { pruneKeptAnswers } from "../api/pipeline/idempotency.ts";
import type { AuditLogService } from "../features/audit-logs/service.ts";
import { features } from "../features/index.ts";
import { systemContext } from "../platform/database/system-context.ts";
import { pruneEvents } from "../platform/events/retention.ts";
import type { CronTask } from "../platform/jobs/cron.ts";
import { everyHour } from "../platform/jobs/cron-line.ts";
import type { JobHandler } from "../platform/jobs/queue.ts";
import { pruneFailedJobs, type Prune } from "../platform/jobs/retention.ts";
import type { App } from "../app.ts";

/** All deletions of expired data, by job name. */
const prunings = new Map<string, Prune>([
  ["prune kept answers", pruneKeptAnswers],
  ["prune events", pruneEvents],
  ["prune failed jobs", pruneFailedJobs],
  ...features.flatMap((feature) => Object.entries(feature.prunings ?? {})),
]);
const announceAuditHead = "announce audit head";

/** Jobs that run every hour. */
export const maintenanceSchedule: readonly CronTask[] = [...prunings.keys(), announceAuditHead].map(
  (name) => ({ name, line: everyHour, job: { queue: "maintenance", name, payload: {} } }),
);

/** Creates the handlers of the scheduled jobs. */
export function makeMaintenance(
  { db, clock }: Pick<App, "db" | "clock">,
  auditLogs: Pick<AuditLogService, "announceHead">,
): JobHandler[] {
  return [
    ...[...prunings].map(([name, prune]) => ({
      name,
      async run({ signal }: { readonly signal: AbortSignal }) {
        const context = systemContext(name);
        while (!signal.aborted && (await prune(db, clock.now(), context, signal)));
      },
    })),
    {
      name: announceAuditHead,
      run: () => auditLogs.announceHead(systemContext(announceAuditHead)),
    },
  ];
}
