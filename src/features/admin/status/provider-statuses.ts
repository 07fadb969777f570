import type { App } from "../../../app.ts";
import { networkStates } from "../../../platform/chain/state/network-state.ts";
import { countOpenAlarms, storedProviders } from "../../../platform/chain/state/provider-health.ts";
import { heldLeases } from "../../../platform/jobs/leases.ts";
import { networkReadersOf } from "../../payments/networks/readers.ts";
import { watchWorkerName } from "../../payments/wake.ts";
import type { Watcher } from "../../payments/watcher/watcher.ts";
import { networkHealth, providerHealth } from "./health.ts";
import type { ProviderStatus } from "./report.ts";

/** The parts of a watcher that the status reads. */
type ProviderWatcher = Pick<Watcher, "network" | "providers" | "health">;

/** Returns the status of every configured provider as recorded in the store. */
export function readProviderStatuses(app: App): Promise<ProviderStatus[]> {
  const readers = [...networkReadersOf(app).values()];
  return providerStatuses(
    app,
    readers.map(({ watcher }) => watcher),
  );
}

/**
 * Returns the status of every configured provider, by network and in order of preference. The provider in use has the
 * status of the network's reading. A network without a provider has one entry named `none`.
 */
export async function providerStatuses(
  app: App,
  watchers: readonly ProviderWatcher[],
): Promise<ProviderStatus[]> {
  const { db, clock, networks, leases } = app;
  const now = clock.now();
  const held = await heldLeases(db, now);
  const states = await networkStates(db);
  const alarms = await countOpenAlarms(db);
  const stored = await storedProviders(db);
  return [...networks.enabled.values()].flatMap((network): ProviderStatus[] => {
    const { id } = network;
    const watcher = watchers.find((each) => each.network.id === id);
    const lease = watchWorkerName(id);
    const rows = stored.filter((row) => row.network === id);
    const names = watcher?.providers ?? [];
    const inUse = rows.find(({ health }) => health.isInUse)?.health.provider;
    const [first = "none"] = names;
    const read = inUse !== undefined && names.includes(inUse) ? inUse : first;
    const isWatched = held.has(lease);
    const reading = networkHealth(
      {
        network,
        provider: watcher === undefined ? null : read,
        state: states.get(id) ?? null,
        isWatched,
        alarms: alarms.get(id) ?? 0,
        own: leases.holds(lease) ? (watcher?.health() ?? null) : null,
      },
      now,
    );
    if (watcher === undefined) return [{ network: id, provider: read, ...reading }];
    return names.map((provider) => {
      if (provider === read) return { network: id, provider, ...reading };
      const row = rows.find(({ health }) => health.provider === provider) ?? null;
      return { network: id, provider, ...providerHealth(row, isWatched, now) };
    });
  });
}
