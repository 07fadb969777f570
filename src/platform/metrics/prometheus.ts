import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { Logger } from "../logger/index.ts";
import type { MetricGroup, Metrics, Sample } from "./metrics.ts";

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const attemptSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** Creates the metrics of a server, in a separate registry. */
export function createPrometheus(deps: {
  readonly version: string;
  readonly logger: Logger;
}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const groups: { readonly group: MetricGroup; readonly set: (found: Found) => void }[] = [];

  const { requests, attempts, jobs, faults } = declareOwn(registers, deps.version);

  /** The series of requests by labels, which are slow to find in the histogram. */
  const answered = new Map<string, ReturnType<typeof requests.labels>>();

  return {
    requestAnswered({ method, route, status }, seconds) {
      const key = `${method} ${String(status)} ${route}`;
      let series = answered.get(key);
      if (series === undefined) {
        series = requests.labels(method, route, String(status));
        answered.set(key, series);
      }
      series.observe(seconds);
    },
    deliveryAttempted(outcome, seconds) {
      attempts.observe({ outcome }, seconds);
    },
    jobEnded(queue, outcome) {
      jobs.inc({ queue, outcome });
    },

    add(group) {
      groups.push({ group, set: settersOf(group, registers) });
    },

    async scrape() {
      await Promise.all(
        groups.map(async ({ group, set }) => {
          try {
            set(await group.read());
          } catch (error) {
            set({});
            faults.inc();
            deps.logger.warn({ err: error }, "metrics could not be read");
          }
        }),
      );
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
  };
}

/** Declares the metrics that this process counts. */
function declareOwn(registers: Registry[], version: string) {
  new Gauge({
    name: "till_build_info",
    help: "Always 1; the label is the program's version.",
    labelNames: ["version"],
    registers,
  }).set({ version }, 1);
  const requests = new Histogram({
    name: "till_http_request_duration_seconds",
    help: "Time from receiving a request's headers to its response, by route and status.",
    labelNames: ["method", "route", "status"],
    buckets: requestSeconds,
    registers,
  });
  const attempts = new Histogram({
    name: "till_webhook_attempt_duration_seconds",
    help: "Duration of webhook delivery attempts, by outcome.",
    labelNames: ["outcome"],
    buckets: attemptSeconds,
    registers,
  });
  const jobs = new Counter({
    name: "till_jobs_ended_total",
    help: "Jobs that succeeded or failed in this process; a failed job may be retried.",
    labelNames: ["queue", "outcome"],
    registers,
  });
  const faults = new Counter({
    name: "till_metrics_read_failures_total",
    help: "Metric readings that failed; their metrics are missing from this response.",
    registers,
  });
  return { requests, attempts, jobs, faults };
}

type Found = Readonly<Record<string, readonly Sample[]>>;

function settersOf({ metrics }: MetricGroup, registers: Registry[]): (found: Found) => void {
  const known = metrics.map(({ name, help, kind, labels }) => {
    const options = { name, help, labelNames: [...labels], registers };
    if (kind === "counter") {
      const counter = new Counter(options);
      const put = ({ labels: at, value }: Sample) => {
        counter.inc(at, value);
      };
      return { name, metric: counter, put };
    }
    const gauge = new Gauge(options);
    const put = ({ labels: at, value }: Sample) => {
      gauge.set(at, value);
    };
    return { name, metric: gauge, put };
  });
  return (found) => {
    for (const { name, metric, put } of known) {
      // A series without a reading, such as that of a removed provider, must disappear rather than show 0.
      metric.reset();
      metric.remove({});
      for (const sample of found[name] ?? []) put(sample);
    }
  };
}
