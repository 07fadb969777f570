import { parseCron, type Cron } from "../../kernel/cron.ts";
import type { Config } from "../../platform/config/index.ts";

/** Returns the times of scheduled backups; null if there is no schedule. */
export function backupTimes({ backupSchedule }: Pick<Config, "backupSchedule">): Cron | null {
  return backupSchedule === null ? null : parseCron(backupSchedule);
}
