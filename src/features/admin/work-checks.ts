import { minute, type Instant } from "../../kernel/clock.ts";
import type { Database } from "../../platform/database/index.ts";
import { oldestUnsealed } from "../../platform/audit/sealer.ts";
import { lastRuns, type CronTask } from "../../platform/jobs/cron.ts";
import type { Check } from "./health.ts";

/** What is told of exchange rates: `down` where a pair is not quoted. */
export interface RatesReport {
  readonly status: "ok" | "degraded" | "down";
  readonly problems: readonly string[];
}

/** An entry is sealed within seconds where a server runs. */
const unsealedMax = 1 * minute;
/** A time of the schedule is taken at once; one that was missed is made up for by the next. */
const intervalsMax = 2;

/** Whether audit entries are linked into their chain. */
export async function auditCheck(db: Database, now: Instant): Promise<Check> {
  const oldest = await oldestUnsealed(db);
  if (oldest === null) return { status: "ok", message: "Every entry is sealed." };
  const age = Math.max(0, now - oldest);
  const message = `An entry has waited ${String(age)} ms to be sealed.`;
  return { status: age > unsealedMax ? "degraded" : "ok", message };
}

/** Whether each task of the schedule is begun in time. Where no server runs, none is due. */
export async function cronCheck(
  db: Database,
  now: Instant,
  tasks: readonly Pick<CronTask, "name" | "everyMs">[],
  isServed: boolean,
): Promise<Check> {
  const last = await lastRuns(db);
  const late = tasks.filter(({ name, everyMs }) => {
    const at = last.get(name);
    return at !== undefined && now - at > intervalsMax * everyMs;
  });
  const unseen = tasks.filter(({ name }) => !last.has(name));
  const names = (some: typeof tasks) => some.map(({ name }) => name).join(", ");
  if (!isServed) {
    return { status: "unknown", message: "No server seems to work on this store." };
  }
  if (late.length > 0) {
    return { status: "degraded", message: `Not begun in time: ${names(late)}.` };
  }
  if (unseen.length > 0) {
    return { status: "unknown", message: `Not begun yet: ${names(unseen)}.` };
  }
  return { status: "ok", message: "Every task of the schedule was begun in time." };
}

/** Whether the configured pairs are quoted. Only what is priced in another waits for it: nothing else is down. */
export function ratesCheck({ status, problems }: RatesReport): Check {
  if (status === "ok") return { status, message: "Every pair is quoted." };
  return {
    status: "degraded",
    message: `${problems.join("; ")}. See till rates list; TILL_RATES=off asks nobody.`,
  };
}
