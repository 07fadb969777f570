import type { App } from "../../../app.ts";
import type { MetricGroup } from "../../../platform/metrics/metrics.ts";
import { gauge } from "../../../platform/metrics/read-metrics.ts";
import { shareOf } from "./rules.ts";
import { readHoldUse } from "./service.ts";

/** The highest used share of payment amounts of each enabled network. */
export function capacityMetrics(app: App): MetricGroup {
  return {
    metrics: [
      gauge(
        "till_hold_use_ratio",
        "Highest share of payment amounts in use at one address and price; at 1, invoices are refused.",
        "network",
      ),
    ],
    async read() {
      const uses = await readHoldUse(app);
      const shares = new Map(uses.map((use) => [use.network, shareOf(use)]));
      return {
        till_hold_use_ratio: app.config.networks.map(({ id }) => ({
          labels: { network: id },
          value: shares.get(id) ?? 0,
        })),
      };
    },
  };
}
