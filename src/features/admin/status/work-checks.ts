import { hour, minute, toIso, type Instant } from "../../../kernel/clock.ts";
import type { BackupRecord } from "../../../platform/backup/history.ts";
import type { Database } from "../../../platform/database/database.ts";
import type { SealKey } from "../../../platform/audit/chain.ts";
import { headBroken, oldestUnsealed, readHead } from "../../../platform/audit/head.ts";
import { lastRuns, type CronTask } from "../../../platform/jobs/cron.ts";
import { intervalOf } from "../../../platform/jobs/cron-line.ts";
import type { RatesHealth } from "../../rates/rates.ts";
import type { Check } from "./health.ts";

/** A running server seals audit entries within seconds. */
const unsealedMax = 1 * minute;
/** Number of intervals without a run after which a task counts as late; a missed run is made up by the next one. */
const intervalsMax = 2;
/** Time that a scheduled backup may take before it counts as overdue. */
const backupLateAfter = 1 * hour;

/** Checks that audit entries are being added to the hash chain. */
export async function auditCheck(db: Database, key: SealKey, now: Instant): Promise<Check> {
  if ((await readHead(db, key)) === null) {
    return { status: "degraded", message: `${headBroken} Run till audit verify.` };
  }
  const oldest = await oldestUnsealed(db);
  if (oldest === null) return { status: "ok", message: "All entries are sealed." };
  const age = Math.max(0, now - oldest);
  const message = `The oldest unsealed entry is ${String(age)} ms old.`;
  return { status: age > unsealedMax ? "degraded" : "ok", message };
}

/** Checks that each scheduled task runs on time. Without a running server, none is due. */
export async function cronCheck(
  db: Database,
  now: Instant,
  tasks: readonly Pick<CronTask, "name" | "line">[],
  isServed: boolean,
): Promise<Check> {
  const last = await lastRuns(db);
  const late = tasks.filter(({ name, line }) => {
    const at = last.get(name);
    return at !== undefined && now - at > intervalsMax * intervalOf(line);
  });
  const unseen = tasks.filter(({ name }) => !last.has(name));
  const names = (some: typeof tasks) => some.map(({ name }) => name).join(", ");
  if (!isServed) {
    return { status: "unknown", message: "No server seems to be running on this store." };
  }
  if (late.length > 0) {
    return { status: "degraded", message: `Overdue tasks: ${names(late)}.` };
  }
  if (unseen.length > 0) {
    return { status: "unknown", message: `Tasks that have not run yet: ${names(unseen)}.` };
  }
  return { status: "ok", message: "All scheduled tasks run on time." };
}

/**
 * Checks that the configured pairs have quotes. At worst degraded, because only invoices in other currencies are
 * affected.
 */
export function ratesCheck({ status, problems }: Pick<RatesHealth, "status" | "problems">): Check {
  if (status === "ok") return { status, message: "All pairs have quotes." };
  return {
    status: "degraded",
    message: `${problems.join("; ")}. See till rates list. TILL_RATES=off disables rate sources.`,
  };
}

/**
 * Checks that scheduled backups are made. Without a schedule, the age of the newest backup is only shown.
 * @param dueAt the latest time of the schedule; null without one
 */
export function backupCheck(
  { made, failure }: BackupRecord,
  dueAt: Instant | null,
  now: Instant,
): Check {
  const newest =
    made === null
      ? "No backup has been made."
      : `The newest backup is ${String(Math.floor(Math.max(0, now - made.at) / hour))} h old.`;
  if (failure !== null) {
    const message = `The backup of ${toIso(failure.at)} failed: ${failure.message} ${newest}`;
    return { status: "degraded", message };
  }
  if (dueAt === null) {
    const advice = made === null ? " Set TILL_BACKUP_SCHEDULE, or run till backup." : "";
    return { status: "ok", message: newest + advice };
  }
  if (made !== null && made.at >= dueAt) return { status: "ok", message: newest };
  const isLate = now - dueAt > backupLateAfter;
  if (made === null && !isLate)
    return { status: "unknown", message: `${newest} The first is due.` };
  return {
    status: isLate ? "degraded" : "ok",
    message: `${newest} One is due since ${toIso(dueAt)}.`,
  };
}
