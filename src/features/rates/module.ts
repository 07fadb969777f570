import type { FeatureModule } from "../../api/declare/feature-module.ts";
import { makeRatesWorkers } from "./jobs.ts";
import { ratesMetrics } from "./metrics.ts";
import type { RatesService } from "./service.ts";

export const ratesModule: FeatureModule<{ readonly rates: RatesService }> = {
  workers: ({ leases, rates, config }) => makeRatesWorkers({ leases, rates, plan: config.rates }),
  metrics: (parts) => [ratesMetrics(parts)],
};
