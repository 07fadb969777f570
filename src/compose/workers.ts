import { createSealer } from "../platform/audit/sealer.ts";
import { systemContext } from "../platform/database/system-context.ts";
import type { Worker } from "../platform/jobs/background.ts";
import { createCron } from "../platform/jobs/cron.ts";
import { createQueueWorker } from "../platform/jobs/queue-worker.ts";
import { queueWorkerName } from "../platform/jobs/queue.ts";
import { createRelay } from "../platform/events/relay.ts";
import { deriveKey } from "../platform/secrets/server-secret.ts";
import { backupTasks, makeScheduledBackup } from "./backup/scheduled.ts";
import { maintenanceSchedule, makeMaintenance } from "./maintenance.ts";
import type { App } from "../app.ts";
import type { Services } from "./services.ts";
import { modules } from "./modules.ts";

/** Creates all background workers. Each looks for due work itself, so any number of processes may run them. */
export function makeWorkers(parts: App, services: Services): Worker[] {
  const { config, db, clock } = parts;
  const { leases } = services;
  const wired = { ...parts, ...services };
  return [
    createRelay({
      db,
      leases,
      subscribers: [services.usageWatch, services.capacityWatch, services.fanOut],
      context: systemContext("relay"),
    }),
    createSealer({
      db,
      leases,
      context: systemContext("audit-sealer"),
      key: deriveKey(parts.secret, "audit-seals"),
    }),
    ...modules.flatMap(({ workers }) => workers?.(wired) ?? []),
    createCron({
      db,
      clock,
      jobs: services.jobs,
      context: systemContext("cron"),
      tasks: [...maintenanceSchedule, ...backupTasks(config)],
    }),
    ...Object.entries({
      maintenance: [...makeMaintenance(parts, services.auditLogs), makeScheduledBackup(parts)],
      billing: services.billingRun.handlers,
    } as const).map(([name, handlers]) => {
      const queue = name as "maintenance" | "billing";
      return createQueueWorker({
        db,
        clock,
        ids: parts.ids,
        logger: parts.logger,
        metrics: parts.metrics,
        queue,
        handlers,
        context: systemContext(queue),
        wake: () => {
          parts.wake(queueWorkerName(queue));
        },
      });
    }),
  ];
}
