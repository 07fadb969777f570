import { basename, dirname } from "node:path";
import type { App } from "../app.ts";
import { features } from "../features/index.ts";
import { sealKey } from "../features/audit-logs/audit-logs.ts";
import { platformOrganizationId } from "../features/organizations/store.ts";
import { fanOutEvents } from "../features/webhooks/delivery/fan-out.ts";
import { watchCapacity } from "../features/invoices/capacity/watch.ts";
import { billingHandlers } from "../features/billing/lifecycle/worker.ts";
import { watchUsage } from "../features/billing/subscriptions/usage-watch.ts";
import { day, hour } from "../kernel/clock.ts";
import { createSealer } from "../platform/audit/head.ts";
import { readBackupRecord, recordBackup } from "../platform/backup/history.ts";
import type { Config } from "../platform/config/config.ts";
import { systemContext } from "../platform/database/database.ts";
import type { Worker } from "../platform/jobs/background.ts";
import { createCron, type CronTask } from "../platform/jobs/cron.ts";
import { createQueueWorker } from "../platform/jobs/queue-worker.ts";
import { queueWorkerName, type JobHandler } from "../platform/jobs/queue.ts";
import { createRelay } from "../platform/events/outbox.ts";
import { pruneBackups, targetOf } from "./backup/files.ts";
import { makeBackup, type MadeBackup } from "./backup/make-backup.ts";
import { recordOf } from "./backup/record.ts";
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

const name = "back up";
/** The time limit of a scheduled backup with its verification, in milliseconds. */
const timeMax = 6 * hour;

type Parts = Pick<App, "config" | "db" | "secret" | "clock" | "logger">;

/** Returns the task that enqueues scheduled backups, if there is a schedule. */
function backupTasks({
  backupSchedule: line,
}: Pick<Config, "backupSchedule">): readonly CronTask[] {
  return line === null ? [] : [{ name, line, job: { queue: "maintenance", name, payload: {} } }];
}

/** Creates the handler that makes a scheduled backup, and removes old ones after a success. */
export function makeScheduledBackup(parts: Parts): JobHandler {
  const { db, clock, logger } = parts;
  return {
    name,
    timeMax,
    async run({ signal }) {
      try {
        const made = await run(parts, signal);
        await recordBackup(db, recordOf(made, clock.now()));
        await report(parts, made);
      } catch (error) {
        // The program stops; the job runs again on the next server. Other reasons are errors with names of their own.
        if (signal.aborted && isStop(signal.reason)) throw error;
        const message = error instanceof Error ? error.message : String(error);
        logger.error({ alarm: "backup_failed", err: error }, "the scheduled backup failed");
        const { made } = await readBackupRecord(db);
        await recordBackup(db, { made, failure: { at: clock.now(), message } });
        throw error;
      }
    },
  };
}

/** Whether a signal was given by a stopping program: its reason is the platform's own. */
function isStop(reason: unknown): boolean {
  return reason instanceof DOMException && reason.name === "AbortError";
}

async function run({ config, db, secret, clock }: Parts, signal: AbortSignal): Promise<MadeBackup> {
  return makeBackup({
    location: config,
    secret,
    clock,
    signal,
    path: await targetOf(config, null, clock.now(), await platformOrganizationId(db)),
    withSecret: false,
    verify: "store",
  });
}

async function report({ config, clock, logger }: Parts, made: MadeBackup): Promise<void> {
  const { path, bytes, broken } = made;
  logger.info({ backup: path, bytes }, "the store was backed up");
  if (broken.length > 0) {
    const checks = broken.map(({ check }) => check.name);
    const alarm = "backup_broken";
    logger.error({ alarm, checks }, "the backed up rows violate checks: run till db verify");
    // The older backups may be from before the fault.
    return;
  }
  const limits = { count: config.backupKeepCount, age: config.backupKeepDays * day };
  const { instance } = made.manifest;
  try {
    const removed = await pruneBackups(
      dirname(path),
      basename(path),
      instance,
      limits,
      clock.now(),
    );
    if (removed.length > 0) logger.info({ removed }, "old backups were removed");
  } catch (error) {
    // The backup itself is complete.
    logger.warn({ err: error }, "old backups could not be removed");
  }
}
