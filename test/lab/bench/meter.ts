// The figures of a server process, taken inside it.
import { readdirSync, readFileSync } from "node:fs";
import { PerformanceObserver } from "node:perf_hooks";
import { countStatements, type StatementCounts } from "../../support/store/statement-counter.ts";

/** The figures of one window. */
export interface Metered extends StatementCounts {
  /** CPU time of the thread that runs JavaScript, in milliseconds. */
  readonly mainMs: number;
  /** CPU time of all other threads: SQLite, garbage collection, compilation, in milliseconds. */
  readonly othersMs: number;
  /** Time in which garbage collection stopped the main thread, in milliseconds; part of `mainMs`. */
  readonly gcMs: number;
  /** Resident memory at the end, in MiB. */
  readonly rssMiB: number;
}

/** Returns a function that gives the figures since its last call. */
export function startMeter(): () => Metered {
  const statements = countStatements();
  let gcMs = 0;
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) gcMs += duration;
  }).observe({ entryTypes: ["gc"] });
  let last = threadTimes();
  return () => {
    const now = threadTimes();
    const metered = {
      ...statements.take(),
      mainMs: now.main - last.main,
      othersMs: now.others - last.others,
      gcMs,
      rssMiB: process.memoryUsage().rss / 2 ** 20,
    };
    last = now;
    gcMs = 0;
    return metered;
  };
}

/** CPU times in milliseconds. Linux counts the main thread apart; elsewhere all time counts as its own. */
function threadTimes(): { main: number; others: number } {
  const { user, system } = process.cpuUsage();
  const all = (user + system) / 1_000;
  try {
    const main = mainThreadMs();
    return { main, others: all - main };
  } catch {
    return { main: all, others: 0 };
  }
}

/** Reads the run time of the main thread, in nanoseconds in the first field of schedstat. */
function mainThreadMs(): number {
  const own = readdirSync("/proc/self/task").find((id) => id === String(process.pid)) ?? "";
  const [nanoseconds = ""] = readFileSync(`/proc/self/task/${own}/schedstat`, "utf8").split(" ");
  return Number(nanoseconds) / 1e6;
}
