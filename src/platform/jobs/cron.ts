import { hour, type Clock, type Instant } from "../../kernel/clock.ts";
import type { Database, Reader, WriteContext } from "../database/database.ts";
import type { Worker } from "./background.ts";
import { cronLines, lastTime } from "./cron-line.ts";
import { enqueueJob, type Enqueuing, type NewJob } from "./queue.ts";
import { cronRuns } from "./table.ts";

/** How long completed schedule times are kept, in milliseconds. */
const takenFor = 48 * hour;

/** A job that is enqueued at the times of a cron line. */
export interface CronTask {
  readonly name: string;
  /** A cron line in UTC. */
  readonly line: string;
  readonly job: NewJob;
}

/** Returns the last enqueued schedule time of each task. */
export async function lastRuns(reader: Reader): Promise<ReadonlyMap<string, Instant>> {
  const rows = await reader.all<{ task: string; last: Instant }>(
    'SELECT task AS "task", MAX(scheduled_at) AS "last" FROM cron_runs GROUP BY task',
  );
  return new Map(rows.map(({ task, last }) => [task, last]));
}

/**
 * Creates the worker that enqueues scheduled jobs. Each time of a task is enqueued once, by whichever process comes
 * first; missed times collapse into one.
 */
export function createCron(deps: {
  readonly app: Enqueuing & { readonly db: Database; readonly clock: Clock };
  readonly context: WriteContext;
  readonly tasks: readonly CronTask[];
}): Worker {
  const { app, context, tasks } = deps;
  const { db, clock } = app;

  async function isTaken(task: CronTask, scheduledAt: Instant): Promise<boolean> {
    const [row] = await db.all(
      "SELECT 1 AS found FROM cron_runs WHERE task = $1 AND scheduled_at = $2",
      [task.name, scheduledAt],
    );
    return row !== undefined;
  }

  return {
    name: "cron",
    lines: [...new Set(tasks.flatMap(({ line }) => cronLines(line)))],
    async run() {
      for (const task of tasks) {
        const now = clock.now();
        const scheduledAt = lastTime(task.line, now);
        if (scheduledAt === null || (await isTaken(task, scheduledAt))) continue;
        await db.write(context, async (tx) => {
          const isFirst = await tx.insertIfAbsent(cronRuns, { task: task.name, scheduledAt });
          if (!isFirst) return;
          await enqueueJob(tx, app, now, { ...task.job, dedupeKey: `cron ${task.name}` });
          // The time of a rare task may be long ago, and must not be forgotten.
          await tx.run("DELETE FROM cron_runs WHERE task = $1 AND scheduled_at < $2", [
            task.name,
            Math.min(scheduledAt, now - takenFor),
          ]);
        });
      }
      return false;
    },
  };
}
