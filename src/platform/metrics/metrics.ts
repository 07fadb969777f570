import { second, type Instant } from "../../kernel/clock.ts";

/** The labels of a series. Each label must have few values: every combination is kept in memory. */
export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
}

/** A metric that is read at each scrape, from the store or from existing counters. */
interface ReadMetric {
  readonly name: string;
  readonly help: string;
  /** A counter only increases during the life of the process; a gauge goes up and down. */
  readonly kind: "gauge" | "counter";
  readonly labels: readonly string[];
}

/** Metrics that are read together, so that each query runs once per scrape. */
export interface MetricGroup {
  readonly metrics: readonly ReadMetric[];
  /** Returns the readings by metric name; a metric without readings has no series. */
  read(): Promise<Readonly<Record<string, readonly Sample[]>>>;
}

/** The counters of this process. */
export interface Counts {
  /** Counts a response. `route` is the path pattern, never the path itself. */
  requestAnswered(
    request: { readonly method: string; readonly route: string; readonly status: number },
    seconds: number,
  ): void;
  /** Counts a completed webhook delivery attempt. */
  deliveryAttempted(outcome: "succeeded" | "failed", seconds: number): void;
  /** Counts a job that succeeded, or that failed with or without a retry to come. */
  jobEnded(queue: string, outcome: "done" | "failed"): void;
}

/** The counters of this process, and the metrics that are read at each scrape. */
export interface Metrics extends Counts {
  /** Adds metrics that are read at each scrape. */
  add(group: MetricGroup): void;
  /** Returns all metrics in the Prometheus format. Metrics that cannot be read are left out and counted. */
  scrape(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Discards all counts: for commands, which nobody scrapes. */
export const noMetrics: Metrics = {
  requestAnswered: () => undefined,
  deliveryAttempted: () => undefined,
  jobEnded: () => undefined,
  add: () => undefined,
  scrape: () => Promise.resolve({ contentType: "text/plain", body: "" }),
};

/** Declares a gauge that is read at each scrape. */
export function gauge(name: string, help: string, ...labels: string[]): ReadMetric {
  return { kind: "gauge", name, help, labels };
}

/** Declares a counter that is read at each scrape. */
export function counter(name: string, help: string, ...labels: string[]): ReadMetric {
  return { kind: "counter", name, help, labels };
}

/** Returns the reading of a metric without labels. */
export function alone(value: number): Sample[] {
  return [{ labels: {}, value }];
}

/** Returns the age in seconds; 0 for a time that is unknown or in the future. */
export function ageOf(at: Instant | null, now: Instant): number {
  return at === null ? 0 : Math.max(0, now - at) / second;
}
