/** The labels of a series. Each label must have few values: every combination is kept in memory. */
export type Labels = Readonly<Record<string, string>>;

export interface Reading {
  readonly labels: Labels;
  readonly value: number;
}

/** A metric that is read at each scrape, from the store or from existing counters. */
export interface ReadMetric {
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
  read(): Promise<Readonly<Record<string, readonly Reading[]>>>;
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
