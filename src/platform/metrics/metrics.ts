/** Names and values that tell series of one metric apart. Few values each: every combination is kept in memory. */
export type Labels = Readonly<Record<string, string>>;

export interface Reading {
  readonly labels: Labels;
  readonly value: number;
}

/** A metric that is read when somebody asks, from the store or from counts that are kept anyway. */
export interface ReadMetric {
  readonly name: string;
  readonly help: string;
  /** A counter only grows while the process lives; a gauge goes up and down. */
  readonly kind: "gauge" | "counter";
  readonly labels: readonly string[];
}

/** Metrics that come out of one look, so that each thing is asked for once. */
export interface MetricGroup {
  readonly metrics: readonly ReadMetric[];
  /** Readings by the metric's name; a metric without one has no series. */
  read(): Promise<Readonly<Record<string, readonly Reading[]>>>;
}

/** What a process counts about its own work. */
export interface Counts {
  /** A request that was answered. `route` is the pattern of its path, never the path itself. */
  requestAnswered(
    request: { readonly method: string; readonly route: string; readonly status: number },
    seconds: number,
  ): void;
  /** An attempt to deliver a webhook that has ended. */
  deliveryAttempted(outcome: "succeeded" | "failed", seconds: number): void;
  /** A job that was done, or that failed, for now or for good. */
  jobEnded(queue: string, outcome: "done" | "failed"): void;
}

/** What a process counts, and what it can read besides, for whoever asks. */
export interface Metrics extends Counts {
  /** Adds metrics that are read when somebody asks. */
  add(group: MetricGroup): void;
  /** Everything, as Prometheus reads it. What cannot be read is left out and counted. */
  scrape(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Counts nothing: for commands, which nobody asks. */
export const noMetrics: Metrics = {
  requestAnswered: () => undefined,
  deliveryAttempted: () => undefined,
  jobEnded: () => undefined,
  add: () => undefined,
  scrape: () => Promise.resolve({ contentType: "text/plain", body: "" }),
};
