import { createAlarms, type ChainAlarms } from "../platform/chain/state/alarms.ts";
import type { Network } from "../platform/chain/networks.ts";
import { makeProviderPool, type ProviderPool } from "../platform/chain/providers/pool.ts";
import type { FetchInit } from "../platform/chain/evm/fetch.ts";
import { makeOutwardFetch } from "../platform/outbound/proxy.ts";
import { makeSandbox, type Sandbox } from "../platform/chain/sandbox/chain.ts";
import type { ConfiguredNetwork } from "../platform/config/config.ts";
import type { App } from "../app.ts";

/** A network's providers and the alarms about them. */
export interface WatchedProviders {
  readonly pool: ProviderPool;
  readonly alarms: ChainAlarms;
}

/** Returns access to a network; null if it has no provider. */
export function accessTo(network: ConfiguredNetwork, parts: App): WatchedProviders | null {
  const { db: reader, clock, logger, randomBytes, stopping } = parts;
  const { endpoints } = network;
  const fetch = makeOutwardFetch<FetchInit>(parts.config.proxy);
  const members =
    parts.providersOf?.(network) ??
    network.kind.connect(network, { endpoints, reader, clock, fetch, stopping });
  if (members.length === 0) return null;
  const alarms = createAlarms({ clock, logger: logger.child({ network: network.id }) });
  const random = () => (randomBytes(1)[0] ?? 0) / 256;
  return { alarms, pool: makeProviderPool({ network, members, clock, random, alarms }) };
}

/** Returns the simulated network with its chain; null if none is enabled. */
export function sandboxOf(
  { clock, randomBytes }: Pick<App, "clock" | "randomBytes">,
  enabled: readonly Network[],
): { network: Network; sandbox: Sandbox } | null {
  const network = enabled.find(({ kind }) => kind.isSimulated);
  if (network === undefined) return null;
  return { network, sandbox: makeSandbox({ network, clock, randomBytes }) };
}
