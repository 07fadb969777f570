import { second, type Clock } from "../../kernel/clock.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { networkState } from "../../platform/chain/state/network-state.ts";
import type { Database } from "../../platform/database/database.ts";
import type { Worker } from "../../platform/jobs/background.ts";
import type { Leases } from "../../platform/jobs/leases.ts";
import type { Monitor } from "./watcher/provider-monitor.ts";
import type { Invoices } from "./ledger/invoices-port.ts";
import type { Guard } from "./watcher/recorder.ts";
import type { Watcher } from "./watcher/watcher.ts";

/** The lease on a network, in milliseconds: after a crash, another process takes over at its next run after this time. */
const leaseMs = 20 * second;

/** Returns the name by which a network's watch worker is woken. */
export function watchWorkerName(network: string): string {
  return `watch ${network}`;
}

/** Examines transactions on one network that people named, after each scan and under its lease. */
export interface Examiner {
  readonly network: Pick<Network, "id">;
  /** Examines a bounded batch; returns true if more is due. */
  examine(guard: Guard): Promise<boolean>;
}

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
export function makeWatchWorkers(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly leases: Leases;
  readonly watchers: readonly Watcher[];
  /** The examiners of the same networks. */
  readonly examiners: readonly Examiner[];
  /** The monitors, by network. */
  readonly monitors?: ReadonlyMap<string, Monitor>;
  readonly invoices: Pick<Invoices, "sweepDeadlines">;
}): Worker[] {
  const { db, clock, leases, invoices } = deps;

  async function sweep(watcher: Watcher): Promise<boolean> {
    const { id } = watcher.network;
    const state = await networkState(db, id);
    if (state === null) return false;
    const finalTime = () => watcher.finalTime();
    return (await invoices.sweepDeadlines(id, state, clock.now(), finalTime)) > 0;
  }

  async function examine(network: string, guard: Guard): Promise<boolean> {
    let isMore = false;
    for (const examiner of deps.examiners) {
      if (examiner.network.id === network && (await examiner.examine(guard))) isMore = true;
    }
    return isMore;
  }

  /** The fencing token of the last lease per network. */
  const tokens = new Map<string, number>();

  return deps.watchers.map((watcher) => ({
    name: watchWorkerName(watcher.network.id),
    everyMs: watcher.network.pollMs,
    async run(signal) {
      const { id } = watcher.network;
      const lease = await leases.acquire(watchWorkerName(id), leaseMs);
      if (lease === null) return false;
      const monitor = deps.monitors?.get(id);
      const fate = fateOf(tokens.get(id), lease.token);
      if (fate === "taken") watcher.resume();
      if (fate !== "lasts") await monitor?.resume();
      tokens.set(id, lease.token);
      const guard: Guard = (tx) => leases.guard(tx, lease);
      const isMore = await watcher.look(guard);
      if (signal.aborted) return false;
      const hasExpired = await sweep(watcher);
      const hasClaims = await examine(id, guard);
      const hasUnseen = (await monitor?.recordStatus(guard)) ?? false;
      return isMore || hasExpired || hasClaims || hasUnseen;
    },
  }));
}
