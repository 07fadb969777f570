import { defineProblem } from "../../kernel/errors.ts";
import type { Network } from "../chain/networks.ts";
import type { Config, ConfiguredNetwork } from "./config.ts";

/** The running server reads networks of another networks file. */
const NetworksUnknown = defineProblem({
  code: "networks_unknown",
  status: 500,
  title: "The running server has networks that this command does not know",
});

/** The enabled networks of the running server, or of this process if none runs. */
export interface EnabledNetworks extends Pick<Config, "networks" | "knownNetworks"> {
  /** The ids of enabled networks that are missing in this process's table. */
  readonly unlisted: readonly string[];
}

/** The networks by their ids. */
export interface Networks {
  /**
   * The enabled networks. `get` of an unlisted one throws NetworksUnknown: the network is enabled, but a command that
   * needs it cannot work with it.
   */
  readonly enabled: ReadonlyMap<string, ConfiguredNetwork>;
  /** The enabled networks and the rest of the table: records may name a network that is disabled now. */
  readonly known: ReadonlyMap<string, Network>;
  /** The ids of the enabled networks, with the unlisted ones. */
  readonly enabledIds: readonly string[];
}

/** Returns the networks; an enabled network's settings take precedence over the table. */
export function networksOf({ networks, knownNetworks, unlisted }: EnabledNetworks): Networks {
  const enabled = networks.map((network) => [network.id, network] as const);
  const table = knownNetworks.map((network): [string, Network] => [network.id, network]);
  return {
    enabled: new ListedNetworks(enabled, unlisted),
    known: new Map([...table, ...enabled]),
    enabledIds: [...networks.map(({ id }) => id), ...unlisted],
  };
}

/** True if every enabled network is known to be a test network, and there is one. */
export function isAllTest({ enabled, enabledIds }: Networks): boolean {
  const known = [...enabled.values()];
  return (
    known.length > 0 && known.length === enabledIds.length && known.every((each) => each.isTest)
  );
}

/** Says which networks a command cannot work with. */
export function unlistedNote(unlisted: readonly string[]): string {
  return `Not in this command's network table: ${unlisted.join(", ")}. Give the command the TILL_NETWORKS_FILE of the server.`;
}

class ListedNetworks extends Map<string, ConfiguredNetwork> {
  readonly #unlisted: readonly string[];

  constructor(
    listed: readonly (readonly [string, ConfiguredNetwork])[],
    unlisted: readonly string[],
  ) {
    super(listed);
    this.#unlisted = unlisted;
  }

  override get(id: string): ConfiguredNetwork | undefined {
    if (this.#unlisted.includes(id)) throw new NetworksUnknown(unlistedNote([id]));
    return super.get(id);
  }
}
