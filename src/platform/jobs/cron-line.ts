import { createTask, parse, validate, type ScheduledTask } from "node-cron";
import { day, hour, minute, type Instant } from "../../kernel/clock.ts";

export const everyMinute = "* * * * *";
export const everyHour = "0 * * * *";

/** The largest values of the fields: minute, hour, day of the month, month, day of the week. */
const largest = [59, 23, 31, 12, 7];
/** 29 February is the rarest day. */
const daysBack = 5 * 366;

/** Returns the lines for node-cron that together have the times of a cron line of five fields; none if it is invalid. */
export function cronLines(line: string): readonly string[] {
  // node-cron takes a step only of a range.
  const fields = line
    .trim()
    .split(/\s+/)
    .map((field, index) =>
      field.replaceAll(/(^|,)(\d+)\//g, `$1$2-${String(largest[index] ?? "")}/`),
    );
  if (fields.length !== largest.length || !validate(fields.join(" "))) return [];
  const [minutes, hours, date = "", month, weekday = ""] = fields;
  const isRestricted = (field: string) => field !== "*" && field !== "?";
  // As in every cron, either is enough if both are restricted. node-cron wants both.
  const days =
    isRestricted(date) && isRestricted(weekday)
      ? [`${date} ${String(month)} *`, `* ${String(month)} ${weekday}`]
      : [`${date} ${String(month)} ${weekday}`];
  return days.map((each) => `${String(minutes)} ${String(hours)} ${each}`);
}

/** Returns the latest time of a cron line in UTC up to `now`; null if the last five years contain none. */
export function lastTime(line: string, now: Instant): Instant | null {
  const times = cronLines(line).flatMap((each) => lastTimeOf(each, now) ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

/** Looks back day by day, because node-cron only looks ahead. */
function lastTimeOf(line: string, now: Instant): Instant | null {
  const { hour: hours, minute: minutes } = parse(line);
  const times = hours
    .flatMap((each) => minutes.map((one) => each * hour + one * minute))
    .sort((one, other) => other - one);
  return withTask(line, (task) => {
    const today = now - (now % day);
    for (let midnight = today; midnight >= today - daysBack * day; midnight -= day) {
      const time = times.find((each) => midnight + each <= now);
      if (time !== undefined && task.match(new Date(midnight + time))) return midnight + time;
    }
    return null;
  });
}

/** Returns the time between the next two times of a cron line, in milliseconds. */
export function intervalOf(line: string): number {
  return withTask(line, (task) => {
    const [next = new Date(0), following = next] = task.getNextRuns(2);
    return following.getTime() - next.getTime();
  });
}

function withTask<T>(line: string, use: (task: ScheduledTask) => T): T {
  const task = createTask(line, () => undefined, { timezone: "UTC" });
  try {
    return use(task);
  } finally {
    void task.destroy();
  }
}
