import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { Logger } from "../logger/index.ts";
import type { MetricGroup, Metrics, Reading } from "./metrics.ts";

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const attemptSeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15];

/** The metrics of a server, in a registry of their own. */
export function createPrometheus(deps: {
  readonly version: string;
  readonly logger: Logger;
}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const groups: { readonly group: MetricGroup; readonly set: (found: Found) => void }[] = [];

  new Gauge({
    name: "till_build_info",
    help: "Always 1; its label is the program's version.",
    labelNames: ["version"],
    registers,
  }).set({ version: deps.version }, 1);
  const requests = new Histogram({
    name: "till_http_request_duration_seconds",
    help: "Time from a request's head to its answer, by route and status.",
    labelNames: ["method", "route", "status"],
    buckets: requestSeconds,
    registers,
  });
  const attempts = new Histogram({
    name: "till_webhook_attempt_duration_seconds",
    help: "Time of attempts to deliver webhooks, by how they came out.",
    labelNames: ["outcome"],
    buckets: attemptSeconds,
    registers,
  });
  const jobs = new Counter({
    name: "till_jobs_ended_total",
    help: "Jobs that were done or failed in this process; a failed one may be tried again.",
    labelNames: ["queue", "outcome"],
    registers,
  });
  const faults = new Counter({
    name: "till_metrics_read_failures_total",
    help: "Readings for this page that failed; their metrics are missing from it.",
    registers,
  });

  return {
    requestAnswered({ method, route, status }, seconds) {
      requests.observe({ method, route, status: String(status) }, seconds);
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

type Found = Readonly<Record<string, readonly Reading[]>>;

function settersOf({ metrics }: MetricGroup, registers: Registry[]): (found: Found) => void {
  const known = metrics.map(({ name, help, kind, labels }) => {
    const options = { name, help, labelNames: [...labels], registers };
    if (kind === "counter") {
      const counter = new Counter(options);
      const put = ({ labels: at, value }: Reading) => {
        counter.inc(at, value);
      };
      return { name, metric: counter, put };
    }
    const gauge = new Gauge(options);
    const put = ({ labels: at, value }: Reading) => {
      gauge.set(at, value);
    };
    return { name, metric: gauge, put };
  });
  return (found) => {
    for (const { name, metric, put } of known) {
      // A series that is not read any more is gone, such as a provider that was taken out: nothing is better than 0.
      metric.reset();
      metric.remove({});
      for (const reading of found[name] ?? []) put(reading);
    }
  };
}
