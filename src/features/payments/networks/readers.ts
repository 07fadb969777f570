import { perApp, type App, type InTx } from "../../../app.ts";
import type { ChainClient } from "../../../platform/chain/client.ts";
import type { FetchInit } from "../../../platform/chain/evm/transport.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import { makeProviderPool, type ProviderPool } from "../../../platform/chain/providers/pool.ts";
import { createAlarms, type ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import type { ConfiguredNetwork } from "../../../platform/config/config.ts";
import { makeOutwardFetch } from "../../../platform/outbound/proxy.ts";
import { makeClaimExaminer, type ClaimExaminer } from "../hash-claims/examiner.ts";
import { watchWorkerName } from "../wake.ts";
import { makeBlockTimes } from "../watcher/block-times.ts";
import { makeProviderCrossCheck } from "../watcher/provider-cross-check.ts";
import { makeMonitor, type Monitor } from "../watcher/provider-monitor.ts";
import { makeScanner, type Scanner } from "../watcher/readings/rescanner.ts";
import { makeWalletReader } from "../watcher/readings/wallet-reading.ts";
import { makeWatcher, type Watcher } from "../watcher/watcher.ts";

/** The objects of this process that read a network: its providers, and those that keep a state about it. */
export interface NetworkReader {
  readonly network: Network;
  readonly pool: ProviderPool;
  /** The individual providers, in order of preference. */
  readonly providers: readonly ChainClient[];
  readonly alarms: ChainAlarms;
  readonly scanner: Scanner;
  readonly watcher: Watcher;
  readonly claims: ClaimExaminer;
  readonly monitor: Monitor;
}

/** Returns the readers of every enabled network that has providers, by network. */
export const networkReadersOf = perApp((app): ReadonlyMap<string, NetworkReader> => {
  const read = [...app.networks.enabled.values()].flatMap((network) => {
    const members = membersOf(app, network);
    return members.length === 0 ? [] : [{ network, members }];
  });
  const examined = new Set(read.map(({ network }) => network.id));
  const unread = [...app.networks.known.keys()].filter((id) => !examined.has(id));
  return new Map(
    read.map(({ network, members }, index) => [
      network.id,
      // The first one takes over the claims of networks that nobody reads.
      makeNetworkReader(app, network, members, { examined, unread: index === 0 ? unread : [] }),
    ]),
  );
});

/** Nudges the worker that examines the claims of a network, for somebody without a credential. */
export function nudgeExaminer(app: InTx, network: string): void {
  if (app.running === null) return;
  const readers = networkReadersOf(app);
  const [first] = readers.keys();
  app.running.nudge(watchWorkerName(readers.has(network) ? network : (first ?? network)));
}

/** Returns the configured providers of a network. */
function membersOf(app: App, network: ConfiguredNetwork) {
  const { db: reader, clock, stopping } = app;
  const { endpoints } = network;
  const configured = app.providersOf?.(network);
  if (configured !== undefined) return configured;
  const fetch = makeOutwardFetch<FetchInit>(app.config.proxy);
  return network.kind.connect(network, { endpoints, reader, clock, fetch, stopping });
}

function makeNetworkReader(
  app: App,
  network: Network,
  members: ReturnType<typeof membersOf>,
  memories: Pick<Parameters<typeof makeClaimExaminer>[0], "examined" | "unread">,
): NetworkReader {
  const { db, clock, journal, logger, randomBytes } = app;
  const alarms = createAlarms({ clock, logger: logger.child({ network: network.id }) });
  const random = () => (randomBytes(1)[0] ?? 0) / 256;
  const pool = makeProviderPool({ network, members, clock, random, alarms });
  const { providers, client } = pool;
  const times = makeBlockTimes({ clock, providers, alarms, pool });
  const common = { app, db, clock, journal, logger, network };
  const shared = { ...common, pool, alarms, client, providers, times };
  const scanner = makeScanner(shared);
  const crossCheck = makeProviderCrossCheck({ ...shared, scanner });
  const wallets = makeWalletReader({ ...shared, scanner });
  return {
    network,
    pool,
    providers,
    alarms,
    scanner,
    watcher: makeWatcher(shared),
    claims: makeClaimExaminer({ ...shared, ...memories }),
    monitor: makeMonitor({ ...shared, crossCheck, wallets }),
  };
}
