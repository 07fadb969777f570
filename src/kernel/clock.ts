/** A point in time: milliseconds since the Unix epoch, always a whole number. */
export type Instant = number;

/** The source of the current time. It is passed in, so that tests control it. */
export interface Clock {
  now(): Instant;
}

/** The machine's clock; nothing else reads it. */
export const systemClock: Clock = { now: () => Date.now() };

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;

/**
 * Waits for work, in milliseconds; after that time the result of `onLate` counts, which may be the work itself. The work
 * is not stopped, and its error is ignored once another result counts.
 */
export async function within<T, Late>(
  ms: number,
  work: Promise<T>,
  onLate: () => Late | Promise<Late>,
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  }).then(onLate);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Formats a time as ISO 8601 in UTC with milliseconds, as in every API response. */
export function toIso(instant: Instant): string {
  return new Date(instant).toISOString();
}

/** `toIso`, or null for null. */
export function toIsoOrNull(instant: Instant | null): string | null {
  return instant === null ? null : toIso(instant);
}
