import { pruneKeptAnswers } from "../api/pipeline/idempotency.ts";
import type { AuditLogService } from "../features/audit-logs/index.ts";
import { prunePasswordResets, pruneSessions } from "../features/auth/index.ts";
import { pruneInvitations } from "../features/members/index.ts";
import { pruneDeliveries, wipeOldSecrets } from "../features/webhooks/index.ts";
import { hour, type Instant } from "../kernel/clock.ts";
import { systemContext } from "../platform/database/system-context.ts";
import type { Database, WriteContext } from "../platform/database/index.ts";
import { pruneEvents } from "../platform/events/retention.ts";
import type { CronTask } from "../platform/jobs/cron.ts";
import type { JobHandler } from "../platform/jobs/queue.ts";
import { pruneFailedJobs } from "../platform/jobs/retention.ts";
import type { Dependencies } from "./dependencies.ts";

/** Deletes one batch of expired rows; returns whether more may be left. */
type Prune = (db: Database, now: Instant, context: WriteContext) => Promise<boolean>;

/** All deletions of expired data, by job name. */
const prunings: Readonly<Record<string, Prune>> = {
  "prune kept answers": pruneKeptAnswers,
  "prune events": pruneEvents,
  "prune failed jobs": pruneFailedJobs,
  "prune sessions": pruneSessions,
  "prune password resets": prunePasswordResets,
  "prune invitations": pruneInvitations,
  "wipe old webhook secrets": wipeOldSecrets,
};
const pruneSentDeliveries = "prune deliveries";
const announceAuditHead = "announce audit head";

/** Jobs that run every hour. */
export const maintenanceSchedule: readonly CronTask[] = [
  ...Object.keys(prunings),
  pruneSentDeliveries,
  announceAuditHead,
].map((name) => ({ name, everyMs: hour, job: { queue: "maintenance", name, payload: {} } }));

/** Creates the handlers of the scheduled jobs. */
export function makeMaintenance(
  { db, clock }: Pick<Dependencies, "db" | "clock">,
  auditLogs: Pick<AuditLogService, "announceHead">,
): JobHandler[] {
  return [
    ...Object.entries(prunings).map(([name, prune]) => ({
      name,
      async run({ signal }: { readonly signal: AbortSignal }) {
        const context = systemContext(name);
        while (!signal.aborted && (await prune(db, clock.now(), context)));
      },
    })),
    {
      name: pruneSentDeliveries,
      run: ({ signal }) =>
        pruneDeliveries(db, clock.now(), systemContext(pruneSentDeliveries), signal),
    },
    {
      name: announceAuditHead,
      run: () => auditLogs.announceHead(systemContext(announceAuditHead)),
    },
  ];
}
