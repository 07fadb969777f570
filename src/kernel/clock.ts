/** A moment: milliseconds since the Unix epoch, always a whole number. */
export type Instant = number;

/** Where the program learns the time. It is passed in, so that tests move it. */
export interface Clock {
  now(): Instant;
}

/** The machine's own clock; the only place that reads it. */
export const systemClock: Clock = { now: () => Date.now() };

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/** ISO 8601 with milliseconds and Z, the form of every time on the wire. */
export function toIso(instant: Instant): string {
  return new Date(instant).toISOString();
}

/** The same for a time that may be missing. */
export function toIsoOrNull(instant: Instant | null): string | null {
  return instant === null ? null : toIso(instant);
}
