import type { App } from "../../app.ts";
import type { Network, NetworkToken } from "../../platform/chain/networks.ts";
import { networkStates } from "../../platform/chain/state/network-state.ts";

/** A network with the tokens in which invoices can be issued. */
export interface OfferedNetwork {
  readonly network: Network;
  readonly tokens: readonly NetworkToken[];
}

/** Returns the enabled networks, in the order of the settings. */
export async function listNetworks({ db, networks }: App): Promise<readonly OfferedNetwork[]> {
  const states = await networkStates(db);
  return [...networks.enabled.values()].map((network) => {
    // The watcher disables a token whose contract has different decimals than configured.
    const disabled = states.get(network.id)?.disabledTokens ?? [];
    return {
      network,
      tokens: network.tokens.filter(({ symbol }) => !disabled.includes(symbol)),
    };
  });
}
