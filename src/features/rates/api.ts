import type { App } from "../../app.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { minute } from "../../kernel/clock.ts";
import { systemContext } from "../../platform/database/database.ts";
import type { Worker } from "../../platform/jobs/background.ts";
import { ageOf, gauge, type MetricGroup } from "../../platform/metrics/metrics.ts";
import { listRates, refreshDueRates } from "./rates.ts";
import { pollIntervalMs } from "./rules.ts";

const workerName = "rates";
/** Lease duration: after a crash, another process takes over at the latest after this time. */
const leaseMs = 2 * minute;

/** Returns the worker that queries due sources in the process that holds the lease; none without sources. */
export function ratesWorkers(app: App): readonly Worker[] {
  const { leases } = app;
  const plan = app.config.rates;
  if (plan.pairs.every(({ fixed }) => fixed !== null)) return [];
  return [
    {
      name: workerName,
      everyMs: Math.min(plan.refreshMs, pollIntervalMs),
      async run() {
        const lease = await leases.acquire(workerName, leaseMs);
        if (lease === null) return false;
        await refreshDueRates(app, systemContext(workerName), (tx) => leases.guard(tx, lease));
        return false;
      },
    },
  ];
}

/** The age and the sources of each pair's accepted quote. */
export function ratesMetrics(app: App): MetricGroup {
  return {
    metrics: [
      gauge("till_rates_age_seconds", "Age of the accepted quote.", "pair"),
      gauge("till_rates_sources", "Number of sources that agreed on the accepted quote.", "pair"),
    ],
    async read() {
      const now = app.clock.now();
      const quoted = (await listRates(app)).filter(({ status }) => status !== "fixed");
      return {
        till_rates_age_seconds: quoted.flatMap(({ pair, accepted }) =>
          accepted === null ? [] : { labels: { pair: pair.name }, value: ageOf(accepted.at, now) },
        ),
        till_rates_sources: quoted.map(({ pair, accepted }) => ({
          labels: { pair: pair.name },
          value: accepted?.sources.length ?? 0,
        })),
      };
    },
  };
}

export const ratesModule: FeatureModule = {
  workers: ratesWorkers,
  metrics: (app) => [ratesMetrics(app)],
};
