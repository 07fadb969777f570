import { basename, dirname } from "node:path";
import { platformOrganizationId } from "../../features/organizations/store.ts";
import { day, hour } from "../../kernel/clock.ts";
import { readBackupRecord, recordBackup } from "../../platform/backup/history.ts";
import type { Config } from "../../platform/config/config.ts";
import type { CronTask } from "../../platform/jobs/cron.ts";
import type { JobHandler } from "../../platform/jobs/queue.ts";
import type { App } from "../../app.ts";
import { pruneBackups, targetOf } from "./files.ts";
import { makeBackup, type MadeBackup } from "./make-backup.ts";
import { recordOf } from "./record.ts";

const name = "back up";
/** The time limit of a scheduled backup with its verification, in milliseconds. */
const timeMax = 6 * hour;

type Parts = Pick<App, "config" | "db" | "secret" | "clock" | "logger">;

/** Returns the task that enqueues scheduled backups, if there is a schedule. */
export function backupTasks({
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
    place: config,
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
