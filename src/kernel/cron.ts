import { day, hour, minute, type Instant } from "./clock.ts";

/** The times of a cron line. */
export interface Cron {
  /** Returns the latest matching time up to `now`; null if the last five years contain none. */
  lastTime(now: Instant): Instant | null;
}

/** The smallest and largest value of each field: minute, hour, day of the month, month, day of the week (0 and 7: Sunday). */
const ranges = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;
/** 29 February is the rarest day. */
const daysBack = 5 * 366;

/** Parses the five fields of a cron line, in UTC; null if it is invalid or never matches. */
export function parseCron(line: string): Cron | null {
  const fields = line.trim().split(/\s+/);
  if (fields.length !== ranges.length) return null;
  const sets = fields.map((field, place) => parseField(field, ranges[place] ?? [0, 0]));
  const [minutes, hours, dates, months, weekdays] = sets;
  if (!minutes || !hours || !dates || !months || !weekdays) return null;
  if (weekdays.has(7)) weekdays.add(0);
  // As in every cron: if both are restricted, either is enough.
  const isEither = fields[2] !== "*" && fields[4] !== "*";

  const isOn = (midnight: Instant): boolean => {
    const date = new Date(midnight);
    const [isDate, isWeekday] = [dates.has(date.getUTCDate()), weekdays.has(date.getUTCDay())];
    if (!months.has(date.getUTCMonth() + 1)) return false;
    return isEither ? isDate || isWeekday : isDate && isWeekday;
  };
  const times = [...hours]
    .flatMap((each) => [...minutes].map((one) => each * hour + one * minute))
    .sort((one, other) => other - one);

  const cron: Cron = {
    lastTime(now) {
      const today = now - (now % day);
      for (let back = 0; back <= daysBack; back += 1) {
        const midnight = today - back * day;
        if (!isOn(midnight)) continue;
        const time = times.find((each) => midnight + each <= now);
        if (time !== undefined) return midnight + time;
      }
      return null;
    },
  };
  // 30 February, for example. Any five years contain every other day.
  return cron.lastTime(Date.UTC(2030, 0, 1)) === null ? null : cron;
}

/** Parses `*`, `5`, `1-5`, each with an optional step such as `/15`, and lists of them. */
function parseField(field: string, [least, most]: readonly [number, number]): Set<number> | null {
  const values = new Set<number>();
  for (const part of field.split(",")) {
    const match = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part);
    if (match === null) return null;
    const [, first, last, step] = match;
    const from = first === undefined ? least : Number(first);
    const isOne = first !== undefined && last === undefined && step === undefined;
    const to = isOne ? from : Number(last ?? most);
    const by = Number(step ?? 1);
    if (from < least || to > most || from > to || by < 1) return null;
    for (let value = from; value <= to; value += by) values.add(value);
  }
  return values;
}
