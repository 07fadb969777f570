import { pruneKeptAnswers } from "../api/idempotency.ts";
import { prunePasswordResets, pruneSessions } from "../features/auth/index.ts";
import { pruneInvitations } from "../features/members/index.ts";
import { pruneDeliveries, wipeOldSecrets } from "../features/webhooks/index.ts";
import { hour, type Instant } from "../kernel/clock.ts";
import { formatHead } from "../platform/audit/chain.ts";
import { chainHead, sealAll } from "../platform/audit/sealer.ts";
import { systemContext } from "../platform/database/system-context.ts";
import type { Database, WriteContext } from "../platform/database/index.ts";
import { pruneEvents } from "../platform/events/retention.ts";
import type { CronTask } from "../platform/jobs/cron.ts";
import type { JobHandler } from "../platform/jobs/queue.ts";
import { pruneFailedJobs } from "../platform/jobs/retention.ts";
import type { Parts } from "./parts.ts";

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
const logAuditHead = "log audit head";

/** Jobs that run every hour. */
export const maintenanceSchedule: readonly CronTask[] = [
  ...Object.keys(prunings),
  pruneSentDeliveries,
  logAuditHead,
].map((name) => ({ name, everyMs: hour, job: { queue: "maintenance", name, payload: {} } }));

/** Creates the handlers of the scheduled jobs. */
export function makeMaintenance({
  db,
  clock,
  logger,
}: Pick<Parts, "db" | "clock" | "logger">): JobHandler[] {
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
      name: logAuditHead,
      // An attacker with write access to the store can truncate the chain and its stored head, but not the log.
      async run() {
        await sealAll(db, systemContext(logAuditHead));
        const head = formatHead(await chainHead(db));
        logger.info({ head }, "head of the audit chain, for till audit verify --head");
      },
    },
  ];
}
