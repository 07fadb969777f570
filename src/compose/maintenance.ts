import { pruneResponses } from "../http/pipeline/idempotency.ts";
import { announceAuditHead } from "../features/audit-logs/audit-logs.ts";
import { features } from "../features/index.ts";
import { systemContext } from "../platform/database/database.ts";
import { pruneEvents } from "../platform/events/outbox.ts";
import type { CronTask } from "../platform/jobs/cron.ts";
import { everyHour } from "../platform/jobs/cron-line.ts";
import type { JobHandler } from "../platform/jobs/queue.ts";
import { pruneFailedJobs, type Prune } from "../platform/jobs/retention.ts";
import type { App } from "../app.ts";

/** All deletions of expired data, by job name. */
const prunings = new Map<string, Prune>([
  ["prune kept answers", pruneResponses],
  ["prune events", pruneEvents],
  ["prune failed jobs", pruneFailedJobs],
  ...features.flatMap((feature) => Object.entries(feature.prunings ?? {})),
]);
const announcing = "announce audit head";

/** Jobs that run every hour. */
export const maintenanceSchedule: readonly CronTask[] = [...prunings.keys(), announcing].map(
  (name) => ({ name, line: everyHour, job: { queue: "maintenance", name, payload: {} } }),
);

/** Creates the handlers of the scheduled jobs. */
export function makeMaintenance(app: App): JobHandler[] {
  return [
    ...[...prunings].map(([name, prune]) => ({
      name,
      async run({ signal }: { readonly signal: AbortSignal }) {
        const context = systemContext(name);
        while (!signal.aborted && (await prune(app.db, app.clock.now(), context, signal)));
      },
    })),
    {
      name: announcing,
      run: () => announceAuditHead(app, systemContext(announcing)),
    },
  ];
}
