import type { App } from "../app.ts";
import { features } from "../features/index.ts";
import { sealKey } from "../features/audit-logs/audit-logs.ts";
import { fanOutEvents } from "../features/webhooks/delivery/fan-out.ts";
import { watchCapacity } from "../features/invoices/capacity/watch.ts";
import { billingHandlers } from "../features/billing/lifecycle/worker.ts";
import { watchUsage } from "../features/billing/subscriptions/usage-watch.ts";
import { createSealer } from "../platform/audit/head.ts";
import { systemContext } from "../platform/database/database.ts";
import type { Worker } from "../platform/jobs/background.ts";
import { createCron } from "../platform/jobs/cron.ts";
import { createQueueWorker } from "../platform/jobs/queue-worker.ts";
import { queueWorkerName } from "../platform/jobs/queue.ts";
import { createRelay } from "../platform/events/outbox.ts";
import { backupTasks, makeScheduledBackup } from "./backup/scheduled.ts";
import { maintenanceSchedule, makeMaintenance } from "./maintenance.ts";

/** Creates all background workers. Each looks for due work itself, so any number of processes may run them. */
export function makeWorkers(app: App): Worker[] {
  const { config, db, clock, leases } = app;
  return [
    createRelay({
      db,
      leases,
      subscribers: [
        (tx, relayed) => watchUsage(tx, app, relayed),
        (tx, relayed) => watchCapacity(tx, app, relayed),
        (tx, relayed) => fanOutEvents(tx, app, relayed),
      ],
      context: systemContext("relay"),
    }),
    createSealer({
      db,
      leases,
      context: systemContext("audit-sealer"),
      key: sealKey(app),
    }),
    ...features.flatMap(({ workers }) => workers?.(app) ?? []),
    createCron({
      app,
      context: systemContext("cron"),
      tasks: [...maintenanceSchedule, ...backupTasks(config)],
    }),
    ...Object.entries({
      maintenance: [...makeMaintenance(app), makeScheduledBackup(app)],
      billing: billingHandlers(app),
    } as const).map(([name, handlers]) => {
      const queue = name as "maintenance" | "billing";
      return createQueueWorker({
        db,
        clock,
        ids: app.ids,
        logger: app.logger,
        metrics: app.metrics,
        queue,
        handlers,
        context: systemContext(queue),
        wake: () => {
          app.running?.wake(queueWorkerName(queue));
        },
      });
    }),
  ];
}
