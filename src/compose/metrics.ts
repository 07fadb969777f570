import { readBacklogs, readLastReport } from "../features/admin/index.ts";
import { shareOf } from "../features/invoices/index.ts";
import { countUnmatched } from "../features/payments/index.ts";
import { deliveryBacklog } from "../features/webhooks/index.ts";
import { second, type Instant } from "../kernel/clock.ts";
import { openAlarms, storedProviders } from "../platform/chain/monitor-store.ts";
import { networkStates } from "../platform/chain/state.ts";
import { oldestWaitingEvent } from "../platform/events/relay.ts";
import type {
  Labels,
  Metrics,
  MetricGroup,
  ReadMetric,
  Reading,
} from "../platform/metrics/metrics.ts";
import type { Parts } from "./parts.ts";
import type { Services } from "./services.ts";

/** Adds what can be read of the store and of this process's providers: every server tells of the whole store. */
export function addMetrics(metrics: Metrics, parts: Parts, services: Services): void {
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

function networkMetrics({ db, clock }: Parts): MetricGroup {
  return {
    metrics: [
      gauge("till_network_tip_height", "The newest block that was read.", "network"),
      gauge("till_network_head_height", "The newest block that the provider told of.", "network"),
      gauge("till_network_lag_blocks", "Blocks that are known of and not read yet.", "network"),
      gauge("till_network_lag_seconds", "The age of the newest block that was read.", "network"),
      gauge("till_network_silence_seconds", "Time since the network was last read.", "network"),
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

function providerMetrics({ db }: Parts, { pools }: Services): MetricGroup {
  return {
    metrics: [
      gauge(
        "till_provider_usable",
        "1 where the network can be read from the provider.",
        "network",
        "provider",
      ),
      gauge(
        "till_provider_lag_blocks",
        "Blocks that the provider is behind the best.",
        "network",
        "provider",
      ),
      gauge(
        "till_provider_latency_seconds",
        "The provider's time to answer, smoothed.",
        "network",
        "provider",
      ),
      counter(
        "till_provider_requests_total",
        "Calls of this process to the provider.",
        "network",
        "provider",
      ),
      counter(
        "till_provider_errors_total",
        "Calls of this process that failed.",
        "network",
        "provider",
        "kind",
      ),
      gauge("till_chain_alarms", "What is wrong with a network at present.", "network", "kind"),
    ],
    async read() {
      const [stored, alarms] = await Promise.all([storedProviders(db), openAlarms(db)]);
      const told = stored.map(({ network, health }) => ({
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
        till_provider_usable: told.map(({ labels, health: { condition } }) => ({
          labels,
          value: condition === "ok" ? 1 : 0,
        })),
        till_provider_lag_blocks: told.flatMap(({ labels, health: { lagBlocks } }) =>
          lagBlocks === null ? [] : { labels, value: lagBlocks },
        ),
        till_provider_latency_seconds: told.flatMap(({ labels, health: { latencyMs } }) =>
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

function moneyMetrics({ db, config }: Parts, { capacity }: Services): MetricGroup {
  return {
    metrics: [
      gauge("till_unmatched_transfers", "Transfers that wait in merchants' inboxes.", "network"),
      gauge(
        "till_hold_use_ratio",
        "The share of amounts in use at the address and price where it is largest; 1 refuses invoices.",
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

function ratesMetrics({ clock }: Parts, { rates }: Services): MetricGroup {
  return {
    metrics: [
      gauge("till_rates_age_seconds", "The age of the accepted quote of sources.", "pair"),
      gauge("till_rates_sources", "How many sources agreed on the accepted quote.", "pair"),
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

function workMetrics({ db, clock }: Parts): MetricGroup {
  return {
    metrics: [
      gauge("till_outbox_oldest_seconds", "How long an event has waited to be passed on."),
      gauge("till_webhook_deliveries", "Deliveries that did not succeed, yet.", "status"),
      gauge("till_webhook_oldest_seconds", "How long a due delivery has waited."),
      gauge("till_queue_jobs", "Jobs of each queue, deliveries among them.", "queue", "state"),
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

function checkMetrics({ db, clock }: Parts): MetricGroup {
  return {
    metrics: [
      gauge(
        "till_check",
        "1 under the status that servers last found: ok, unknown, degraded or down.",
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

/** How often each set of labels is there. */
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
