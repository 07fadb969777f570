import { Defect } from "../../kernel/errors.ts";
import { networkKinds } from "./kinds.ts";
import type { Network } from "./networks.ts";

/** A network without functions: its kind is named. */
type KeptNetwork = Omit<Network, "kind"> & { readonly kind: string };

/** Replaces the kinds of networks by their names. */
export function packNetworks(networks: readonly Network[]): readonly KeptNetwork[] {
  return networks.map(({ kind, ...network }) => {
    const named = Object.entries(networkKinds).find(([, each]) => each === kind);
    if (named === undefined) throw new Defect(`the kind of ${network.id} has no name`);
    return { ...network, kind: named[0] };
  });
}

/** Returns the networks that `packNetworks` packed. */
export function unpackNetworks(kept: unknown): readonly Network[] {
  return (kept as readonly KeptNetwork[]).map(({ kind: name, ...network }) => {
    const kind = networkKinds[name];
    if (kind === undefined) throw new Defect(`no kind of network is named ${name}`);
    return { ...network, kind };
  });
}
