import type { App } from "../../app.ts";
import type { FeatureModule } from "../../http/declare/feature-module.ts";
import { second } from "../../kernel/clock.ts";
import { networkState } from "../../platform/chain/state/network-state.ts";
import type { Worker } from "../../platform/jobs/background.ts";
import { sweepDeadlines } from "../invoices/settlement/settlement.ts";
import { paymentOperations } from "./api.ts";
import { pruneClaims } from "./hash-claims/retention.ts";
import { paymentChecks } from "./ledger/checks.ts";
import { inboxMetrics, networkMetrics, providerMetrics } from "./networks/metrics.ts";
import { networkReadersOf, type NetworkReader } from "./networks/readers.ts";
import { watchWorkerName } from "./wake.ts";
import type { LeaseGuard } from "./watcher/recorder.ts";
import type { Watcher } from "./watcher/watcher.ts";

/** The lease on a network, in milliseconds: after a crash, another process takes over at its next run after this time. */
const leaseMs = 20 * second;

/**
 * The fate of a process's last lease: it `lasts`; it has `ended`, and nobody else has read the network since; or it was
 * `taken` by another process.
 */
type LeaseFate = "lasts" | "ended" | "taken";

/** Returns the fate of the lease with the fencing token `before`; `token` is that of the process's present lease. */
export function fateOf(before: number | undefined, token: number): LeaseFate {
  if (before === token) return "lasts";
  // A process whose lease has only ended gets the next token.
  return before === undefined || before === token - 1 ? "ended" : "taken";
}

/**
 * Makes one worker per network. It scans the chain, expires invoices by the time of the newest scanned block, examines
 * the transactions that payers and merchants named, and runs the monitor. Only the process that holds the network's lease
 * does this.
 */
export function makeWatchWorkers(app: App): Worker[] {
  const { leases } = app;
  /** The fencing token of the last lease per network. */
  const tokens = new Map<string, number>();

  return [...networkReadersOf(app).values()].map((reader) => {
    const { network, watcher, monitor } = reader;
    const name = watchWorkerName(network.id);
    return {
      name,
      everyMs: network.pollMs,
      async run(signal) {
        const lease = await leases.acquire(name, leaseMs);
        if (lease === null) return false;
        const fate = fateOf(tokens.get(network.id), lease.token);
        if (fate === "taken") watcher.resume();
        if (fate !== "lasts") await monitor.resume();
        tokens.set(network.id, lease.token);
        const guard: LeaseGuard = (tx) => leases.guard(tx, lease);
        const isMore = await watcher.scan(guard);
        if (signal.aborted) return false;
        const hasExpired = await sweep(app, watcher);
        const hasClaims = await examine(app, reader, guard);
        const hasUnseen = await monitor.recordStatus(guard);
        return isMore || hasExpired || hasClaims || hasUnseen;
      },
    };
  });
}

async function sweep(app: App, watcher: Watcher): Promise<boolean> {
  const { id } = watcher.network;
  const state = await networkState(app.db, id);
  if (state === null) return false;
  const finalTime = () => watcher.finalTime();
  return (await sweepDeadlines(app, app.clock.now(), id, state, finalTime)) > 0;
}

/** Examines a bounded batch of the transactions that people named; returns true if more is due. */
async function examine(app: App, reader: NetworkReader, guard: LeaseGuard): Promise<boolean> {
  const hasClaims = await reader.claims.examine(guard);
  const hasRefunds = await app.hooks.examineRefunds(app, reader, guard);
  return hasClaims || hasRefunds;
}

/** Stands beside the workers, because commands load the operations without them. */
export const paymentsModule: FeatureModule = {
  operations: paymentOperations,
  checks: paymentChecks,
  workers: makeWatchWorkers,
  prunings: { "prune claims": pruneClaims },
  metrics: (app) => [networkMetrics(app), providerMetrics(app), inboxMetrics(app)],
};
