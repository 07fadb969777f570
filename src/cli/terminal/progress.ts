import type { Clock, Instant } from "../../kernel/clock.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { Progress } from "../../platform/progress.ts";
import { isDumb } from "../../platform/config/terminal.ts";
import type { Terminal } from "./terminal.ts";
import { widthOf } from "./drawing/width.ts";

/** Work that ends within this time has no bar, in milliseconds. */
const patienceMs = 300;
const redrawMs = 100;
const barMost = 30;
/** Below this length, only the percentage is shown. */
const barLeast = 4;
const usualColumns = 80;
const clearLine = "\r\u001b[2K";

/** A bar on standard error; nothing unless that is a terminal, and nothing with --quiet or --json. */
export interface ProgressBar {
  readonly report: Progress;
  /** Removes the bar. */
  readonly end: () => void;
}

/** Starts to show the progress of a long work. */
export function startProgress(terminal: Terminal, clock: Clock = systemClock): ProgressBar {
  const { stderr, env } = terminal.surroundings;
  const isSeen = stderr.isTTY === true && terminal.form === "people" && !isDumb(env);
  const startedAt = clock.now();
  let drawnAt: Instant | null = null;
  return {
    report(work, done, total) {
      const now = clock.now();
      if (!isSeen || now - startedAt < patienceMs) return;
      if (drawnAt !== null && now - drawnAt < redrawMs) return;
      drawnAt = now;
      stderr.write(clearLine + drawProgress(work, done, total, stderr.columns ?? usualColumns));
    },
    end() {
      if (drawnAt !== null) stderr.write(clearLine);
      drawnAt = null;
    },
  };
}

/** Runs work with a bar that is removed at its end, before anything else is printed. */
export async function withProgress<T>(
  terminal: Terminal,
  work: (report: Progress) => Promise<T>,
): Promise<T> {
  const bar = startProgress(terminal);
  try {
    return await work(bar.report);
  } finally {
    bar.end();
  }
}

/** Draws a line of at most `width` columns: the work with a bar, or only the count if the total is unknown. */
export function drawProgress(
  work: string,
  done: number,
  total: number | null,
  width: number,
): string {
  if (total === null || total <= 0) {
    return `${work}  ${done.toLocaleString("en")}`.slice(0, width - 1);
  }
  const part = Math.min(1, done / total);
  const percent = `${String(Math.floor(part * 100)).padStart(3)} %`;
  // The last column stays free, because some terminals begin a new line after it.
  const space = Math.min(barMost, width - 1 - widthOf(work) - percent.length - 4);
  if (space < barLeast) return percent.trim();
  const full = Math.floor(part * space);
  return `${work}  ${"█".repeat(full)}${"░".repeat(space - full)}  ${percent}`;
}
