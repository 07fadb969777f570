import type { App } from "../../../app.ts";
import { second } from "../../../kernel/clock.ts";
import { networkStates } from "../../../platform/chain/state/network-state.ts";
import { openAlarms, storedProviders } from "../../../platform/chain/state/provider-health.ts";
import {
  ageOf,
  counter,
  gauge,
  type Labels,
  type MetricGroup,
  type Sample,
} from "../../../platform/metrics/metrics.ts";
import { countUnmatched } from "../inbox/store.ts";
import { networkReadersOf } from "./readers.ts";

/** Metrics of the networks from the store, the same on every server. */
export function networkMetrics({ db, clock }: App): MetricGroup {
  return {
    metrics: [
      gauge("till_network_tip_height", "Height of the newest block that was read.", "network"),
      gauge(
        "till_network_head_height",
        "Height of the newest block that a provider reported.",
        "network",
      ),
      gauge("till_network_lag_blocks", "Number of known blocks that were not read yet.", "network"),
      gauge("till_network_lag_seconds", "Age of the newest block that was read.", "network"),
      gauge("till_network_silence_seconds", "Time since the last read of the network.", "network"),
    ],
    async read() {
      const now = clock.now();
      const states = [...(await networkStates(db)).values()];
      const each = (value: (state: (typeof states)[number]) => number): Sample[] =>
        states.map((state) => ({ labels: { network: state.network }, value: value(state) }));
      return {
        till_network_tip_height: each(({ tipHeight }) => tipHeight),
        till_network_head_height: each(({ headHeight }) => headHeight),
        till_network_lag_blocks: each(({ headHeight, tipHeight }) =>
          Math.max(0, headHeight - tipHeight),
        ),
        till_network_lag_seconds: each(({ tipTime }) => ageOf(tipTime, now)),
        till_network_silence_seconds: each(({ scannedAt }) => ageOf(scannedAt, now)),
      };
    },
  };
}

const providerSeries = [
  gauge(
    "till_provider_usable",
    "1 if the network can be read from the provider.",
    "network",
    "provider",
  ),
  gauge(
    "till_provider_lag_blocks",
    "Blocks that the provider is behind the best one.",
    "network",
    "provider",
  ),
  gauge(
    "till_provider_latency_seconds",
    "Smoothed response time of the provider.",
    "network",
    "provider",
  ),
  counter(
    "till_provider_requests_total",
    "Requests from this process to the provider.",
    "network",
    "provider",
  ),
  counter(
    "till_provider_errors_total",
    "Failed requests from this process, by kind.",
    "network",
    "provider",
    "kind",
  ),
  counter(
    "till_provider_dropped_total",
    "Parts of the provider's answers to this process that were dropped alone, by part.",
    "network",
    "provider",
    "part",
  ),
  gauge("till_chain_alarms", "Open alarms about a network.", "network", "kind"),
];

/** Metrics of the providers: their stored health, and the counts of this process. */
export function providerMetrics(app: App): MetricGroup {
  const { db } = app;
  const readers = networkReadersOf(app);
  return {
    metrics: providerSeries,
    async read() {
      const [stored, alarms] = await Promise.all([storedProviders(db), openAlarms(db)]);
      const reported = stored.map(({ network, health }) => ({
        health,
        labels: { network, provider: health.provider },
      }));
      const counted = [...readers].flatMap(([network, { pool }]) =>
        pool.counts().map((counts) => ({
          counts,
          labels: { network, provider: counts.provider },
        })),
      );
      return {
        till_provider_usable: reported.map(({ labels, health: { condition } }) => ({
          labels,
          value: condition === "ok" ? 1 : 0,
        })),
        till_provider_lag_blocks: reported.flatMap(({ labels, health: { lagBlocks } }) =>
          lagBlocks === null ? [] : { labels, value: lagBlocks },
        ),
        till_provider_latency_seconds: reported.flatMap(({ labels, health: { latencyMs } }) =>
          latencyMs === null ? [] : { labels, value: latencyMs / second },
        ),
        till_provider_requests_total: counted.map(({ labels, counts }) => ({
          labels,
          value: counts.calls,
        })),
        till_provider_errors_total: counted.flatMap(({ labels, counts }) =>
          Object.entries(counts.failures).map(([kind, value]) => ({
            labels: { ...labels, kind },
            value,
          })),
        ),
        till_provider_dropped_total: counted.flatMap(({ labels, counts }) =>
          Object.entries(counts.dropped).map(([part, value]) => ({
            labels: { ...labels, part },
            value,
          })),
        ),
        till_chain_alarms: tally(alarms.map(({ network, kind }) => ({ network, kind }))),
      };
    },
  };
}

/** The number of unmatched transfers of each enabled network. */
export function inboxMetrics({ db, config }: App): MetricGroup {
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

/** Counts equal label sets. */
function tally(sets: readonly Labels[]): Sample[] {
  const counts = new Map<string, { readonly labels: Labels; value: number }>();
  for (const labels of sets) {
    const key = JSON.stringify(labels);
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { labels, value: 1 });
    else known.value += 1;
  }
  return [...counts.values()];
}
