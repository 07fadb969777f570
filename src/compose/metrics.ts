import { readBacklogs, readLastReport } from "../features/admin/index.ts";
import { shareOf } from "../features/invoices/index.ts";
import { countUnmatched } from "../features/payments/index.ts";
import { deliveryBacklog } from "../features/webhooks/index.ts";
import { second, type Instant } from "../kernel/clock.ts";
import { openAlarms, storedProviders } from "../platform/chain/state/provider-store.ts";
import { networkStates } from "../platform/chain/state/network-state.ts";
import { oldestWaitingEvent } from "../platform/events/relay.ts";
import type {
  Labels,
  Metrics,
  MetricGroup,
  ReadMetric,
  Reading,
} from "../platform/metrics/metrics.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Services } from "./features/services.ts";

/** Adds metrics read from the store and from this process's providers. Store metrics are the same on every server. */
export function addMetrics(metrics: Metrics, parts: Dependencies, services: Services): void {
  metrics.add(networkMetrics(parts));
  metrics.add(providerMetrics(parts, services));
  metrics.add(moneyMetrics(parts, services));
  metrics.add(ratesMetrics(parts, services));
  metrics.add(workMetrics(parts));
  metrics.add(checkMetrics(parts));
}

const gauge = (name: string, help: string, ...labels: string[]): ReadMetric => ({
  ...{ kind: "gauge", name, help, labels },
});
const counter = (name: string, help: string, ...labels: string[]): ReadMetric => ({
  ...{ kind: "counter", name, help, labels },
});
const alone = (value: number): Reading[] => [{ labels: {}, value }];
const ageOf = (at: Instant | null, now: Instant): number =>
  at === null ? 0 : Math.max(0, now - at) / second;

function networkMetrics({ db, clock }: Dependencies): MetricGroup {
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
      const each = (value: (state: (typeof states)[number]) => number): Reading[] =>
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

function providerMetrics({ db }: Dependencies, { pools }: Services): MetricGroup {
  return {
    metrics: [
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
      gauge("till_chain_alarms", "Open alarms about a network.", "network", "kind"),
    ],
    async read() {
      const [stored, alarms] = await Promise.all([storedProviders(db), openAlarms(db)]);
      const reported = stored.map(({ network, health }) => ({
        health,
        labels: { network, provider: health.provider },
      }));
      const counted = [...pools].flatMap(([network, pool]) =>
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
        till_chain_alarms: tally(alarms.map(({ network, kind }) => ({ network, kind }))),
      };
    },
  };
}

function moneyMetrics({ db, config }: Dependencies, { capacity }: Services): MetricGroup {
  return {
    metrics: [
      gauge(
        "till_unmatched_transfers",
        "Unmatched transfers that await a merchant's decision.",
        "network",
      ),
      gauge(
        "till_hold_use_ratio",
        "Highest share of payment amounts in use at one address and price; at 1, invoices are refused.",
        "network",
      ),
    ],
    async read() {
      const [unmatched, uses] = await Promise.all([countUnmatched(db), capacity.fullest()]);
      const shares = new Map(uses.map((use) => [use.network, shareOf(use)]));
      return {
        till_hold_use_ratio: config.networks.map(({ id }) => ({
          labels: { network: id },
          value: shares.get(id) ?? 0,
        })),
        till_unmatched_transfers: config.networks.map(({ id }) => ({
          labels: { network: id },
          value: unmatched.get(id) ?? 0,
        })),
      };
    },
  };
}

function ratesMetrics({ clock }: Dependencies, { rates }: Services): MetricGroup {
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

function workMetrics({ db, clock }: Dependencies): MetricGroup {
  return {
    metrics: [
      gauge("till_outbox_oldest_seconds", "Age of the oldest event that was not relayed yet."),
      gauge("till_webhook_deliveries", "Deliveries that have not succeeded, by status.", "status"),
      gauge("till_webhook_oldest_seconds", "Time that the oldest due delivery has waited."),
      gauge(
        "till_queue_jobs",
        "Jobs of each queue, including webhook deliveries.",
        "queue",
        "state",
      ),
    ],
    async read() {
      const now = clock.now();
      const [oldest, { webhooks, queues }] = await Promise.all([
        oldestWaitingEvent(db),
        readBacklogs(db, now, deliveryBacklog),
      ]);
      const { pending, inProgress, failed, deadLetter } = webhooks;
      const deliveries = { pending, in_progress: inProgress, failed, dead_letter: deadLetter };
      return {
        till_outbox_oldest_seconds: alone(ageOf(oldest, now)),
        till_webhook_deliveries: Object.entries(deliveries).map(([status, value]) => ({
          labels: { status },
          value,
        })),
        till_webhook_oldest_seconds: alone(ageOf(webhooks.oldestDueAt, now)),
        till_queue_jobs: queues.flatMap(({ queue, ...states }) =>
          Object.entries(states).map(([state, value]) => ({ labels: { queue, state }, value })),
        ),
      };
    },
  };
}

function checkMetrics({ db, clock }: Dependencies): MetricGroup {
  return {
    metrics: [
      gauge(
        "till_check",
        "1 for the current status of each check: ok, unknown, degraded or down.",
        "check",
        "status",
      ),
    ],
    async read() {
      const { report } = await readLastReport(db, clock.now());
      return {
        till_check: Object.entries(report.checks).map(([check, { status }]) => ({
          labels: { check, status },
          value: 1,
        })),
      };
    },
  };
}

/** Counts equal label sets. */
function tally(sets: readonly Labels[]): Reading[] {
  const counts = new Map<string, { readonly labels: Labels; value: number }>();
  for (const labels of sets) {
    const key = JSON.stringify(labels);
    const known = counts.get(key);
    if (known === undefined) counts.set(key, { labels, value: 1 });
    else known.value += 1;
  }
  return [...counts.values()];
}
