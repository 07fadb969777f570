import { setTimeout as sleep } from "node:timers/promises";
import { createAlarms, type ChainAlarms } from "../../platform/chain/state/alarms.ts";
import { createJsonRpcClient } from "../../platform/chain/evm/client.ts";
import { makeBudget } from "../../platform/chain/providers/budget.ts";
import type { PooledProvider } from "../../platform/chain/providers/member.ts";
import { makeProviderPool, type ProviderPool } from "../../platform/chain/providers/pool.ts";
import { makeSandbox, type Sandbox } from "../../platform/chain/sandbox/chain.ts";
import { createSandboxClient } from "../../platform/chain/sandbox/client.ts";
import type { ConfiguredNetwork } from "../../platform/config/index.ts";
import type { Dependencies } from "../dependencies.ts";

/** Id of Till's built-in test network. */
export const sandboxNetwork = "sandbox";

/** A network's providers and the alarms about them. */
export interface NetworkAccess {
  readonly pool: ProviderPool;
  readonly alarms: ChainAlarms;
}

/** Returns access to a network; null if it has no provider. */
export function accessTo(network: ConfiguredNetwork, parts: Dependencies): NetworkAccess | null {
  const { clock, logger, randomBytes } = parts;
  const members = (parts.providersOf ?? configuredProviders)(network, parts);
  if (members.length === 0) return null;
  const alarms = createAlarms({ clock, logger: logger.child({ network: network.id }) });
  const random = () => (randomBytes(1)[0] ?? 0) / 256;
  return { alarms, pool: makeProviderPool({ network, members, clock, random, alarms }) };
}

/** Creates the clients of a network's providers, in order of preference. */
function configuredProviders(network: ConfiguredNetwork, parts: Dependencies): PooledProvider[] {
  if (network.id === sandboxNetwork) {
    const { db: reader, clock } = parts;
    return (["sandbox", "sandbox-witness"] as const).map((provider) => ({
      client: createSandboxClient({ reader, network, clock, provider }),
      budget: null,
    }));
  }
  const origins = network.endpoints.map(({ url }) => new URL(url).origin);
  return network.endpoints.map(({ url, headers, batchMax, ...limits }, place) => {
    const origin = origins[place];
    const member = origins.slice(0, place + 1).filter((each) => each === origin).length;
    const budget = makeBudget({
      limits,
      clock: parts.clock,
      provider: new URL(url).origin,
      delay: (milliseconds) =>
        // On shutdown the wait ends early; the request itself is then refused.
        sleep(milliseconds, undefined, { signal: parts.stopping }).catch(() => undefined),
    });
    const client = createJsonRpcClient({
      network,
      url,
      member,
      headers,
      batchMax,
      signal: parts.stopping,
      beforeRequest: () => budget.take(),
    });
    return { client, budget };
  });
}

/** Returns the sandbox chain; null if it is not enabled. */
export function sandboxOf(parts: Dependencies): Sandbox | null {
  const network = parts.config.networks.find(({ id }) => id === sandboxNetwork);
  return network === undefined
    ? null
    : makeSandbox({ network, clock: parts.clock, randomBytes: parts.randomBytes });
}
