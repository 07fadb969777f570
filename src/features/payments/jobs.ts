import { second, type Clock } from "../../kernel/clock.ts";
import { networkState } from "../../platform/chain/state.ts";
import type { Database } from "../../platform/database/index.ts";
import type { Worker } from "../../platform/jobs/background.ts";
import type { Leases } from "../../platform/jobs/leases.ts";
import type { ClaimExaminer } from "./claim-examiner.ts";
import type { Monitor } from "./monitor.ts";
import type { Invoices } from "./ports.ts";
import type { Guard } from "./recorder.ts";
import type { Watcher } from "./watcher.ts";

/** How long after a process died another one reads its networks, at most, but for the scheduler's next waking. */
const leaseMs = 20 * second;

/** The name under which a network's watching is nudged. */
export function watchWorkerName(network: string): string {
  return `watch ${network}`;
}

/**
 * One worker a network: it looks at the chain, expires what is due by the time of the newest scanned block, then looks
 * at the transactions that payers submitted. Only the process that holds the network's lease does.
 */
export function makeWatchWorkers(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly leases: Leases;
  readonly watchers: readonly Watcher[];
  /** Of the same networks. */
  readonly examiners: readonly ClaimExaminer[];
  /** By network: what is told to operators. */
  readonly monitors?: ReadonlyMap<string, Monitor>;
  readonly invoices: Pick<Invoices, "sweepDeadlines">;
}): Worker[] {
  const { db, clock, leases, invoices } = deps;

  async function sweep(watcher: Watcher): Promise<boolean> {
    const { id } = watcher.network;
    const state = await networkState(db, id);
    if (state === null) return false;
    const finalTime = () => watcher.finalTime();
    return (await invoices.sweepDeadlines(db, id, state, clock.now(), finalTime)) > 0;
  }

  const examiners = new Map(deps.examiners.map((examiner) => [examiner.network.id, examiner]));

  /** The lease that a network was last read under: another one means that others may have read it meanwhile. */
  const tokens = new Map<string, number>();

  return deps.watchers.map((watcher) => ({
    name: watchWorkerName(watcher.network.id),
    everyMs: watcher.network.pollMs,
    async run(signal) {
      const { id } = watcher.network;
      const lease = await leases.acquire(watchWorkerName(id), leaseMs);
      if (lease === null) return false;
      const monitor = deps.monitors?.get(id);
      if (tokens.get(id) !== lease.token) await monitor?.takeOver();
      tokens.set(id, lease.token);
      const guard: Guard = (tx) => leases.guard(tx, lease);
      const isMore = await watcher.look(guard);
      if (signal.aborted) return false;
      const hasExpired = await sweep(watcher);
      const hasClaims = (await examiners.get(id)?.examine(guard)) ?? false;
      const hasUnseen = (await monitor?.attend(guard)) ?? false;
      return isMore || hasExpired || hasClaims || hasUnseen;
    },
  }));
}
