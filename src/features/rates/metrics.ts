import type { ModuleParts } from "../../api/declare/feature-module.ts";
import type { MetricGroup } from "../../platform/metrics/metrics.ts";
import { ageOf, gauge } from "../../platform/metrics/read-metrics.ts";
import type { RatesService } from "./service.ts";

/** The age and the sources of each pair's accepted quote. */
export function ratesMetrics({
  clock,
  rates,
}: ModuleParts & { readonly rates: RatesService }): MetricGroup {
  return {
    metrics: [
      gauge("till_rates_age_seconds", "Age of the accepted quote.", "pair"),
      gauge("till_rates_sources", "Number of sources that agreed on the accepted quote.", "pair"),
    ],
    async read() {
      const now = clock.now();
      const quoted = (await rates.list()).filter(({ status }) => status !== "fixed");
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
