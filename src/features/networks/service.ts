import type { Network, NetworkToken } from "../../platform/chain/networks.ts";
import { networkStates } from "../../platform/chain/state/network-state.ts";
import type { Reader } from "../../platform/database/database.ts";

/** A network with the tokens in which invoices can be issued. */
export interface OfferedNetwork {
  readonly network: Network;
  readonly tokens: readonly NetworkToken[];
}

export interface NetworkService {
  /** The enabled networks, in the order of the settings. */
  list(): Promise<readonly OfferedNetwork[]>;
}

export function makeNetworkService(deps: {
  readonly db: Reader;
  /** The enabled networks. */
  readonly networks: readonly Network[];
}): NetworkService {
  return {
    async list() {
      const states = await networkStates(deps.db);
      return deps.networks.map((network) => {
        // The watcher disables a token whose contract has different decimals than configured.
        const disabled = states.get(network.id)?.disabledTokens ?? [];
        return {
          network,
          tokens: network.tokens.filter(({ symbol }) => !disabled.includes(symbol)),
        };
      });
    },
  };
}
