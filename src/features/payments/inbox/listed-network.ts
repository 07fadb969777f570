import type { Network } from "../../../platform/chain/networks.ts";
import { NetworkNotEnabled } from "../../wallets/errors.ts";

/** Returns the network of something to be decided on. 422 `network_not_enabled` if its table no longer has it. */
export function listedNetwork(networks: ReadonlyMap<string, Network>, id: string): Network {
  const network = networks.get(id);
  if (network !== undefined) return network;
  throw new NetworkNotEnabled(
    `The table of networks no longer has ${id}, so nothing of it can be decided. Ask the operator to add it again, then try again.`,
  );
}
