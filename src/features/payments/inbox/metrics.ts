import type { ModuleParts } from "../../../api/declare/feature-module.ts";
import type { MetricGroup } from "../../../platform/metrics/metrics.ts";
import { gauge } from "../../../platform/metrics/read-metrics.ts";
import { countUnmatched } from "./store.ts";

/** The number of unmatched transfers of each enabled network. */
export function inboxMetrics({ db, config }: ModuleParts): MetricGroup {
  return {
    metrics: [
      gauge(
        "till_unmatched_transfers",
        "Unmatched transfers that await a merchant's decision.",
        "network",
      ),
    ],
    async read() {
      const unmatched = await countUnmatched(db);
      return {
        till_unmatched_transfers: config.networks.map(({ id }) => ({
          labels: { network: id },
          value: unmatched.get(id) ?? 0,
        })),
      };
    },
  };
}
