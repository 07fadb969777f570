import { second, type Instant } from "../../kernel/clock.ts";
import type { ReadMetric, Reading } from "./metrics.ts";

/** Declares a gauge that is read at each scrape. */
export function gauge(name: string, help: string, ...labels: string[]): ReadMetric {
  return { kind: "gauge", name, help, labels };
}

/** Declares a counter that is read at each scrape. */
export function counter(name: string, help: string, ...labels: string[]): ReadMetric {
  return { kind: "counter", name, help, labels };
}

/** Returns the reading of a metric without labels. */
export function alone(value: number): Reading[] {
  return [{ labels: {}, value }];
}

/** Returns the age in seconds; 0 for a time that is unknown or in the future. */
export function ageOf(at: Instant | null, now: Instant): number {
  return at === null ? 0 : Math.max(0, now - at) / second;
}
