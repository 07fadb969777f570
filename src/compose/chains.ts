import type { ChainClient } from "../platform/chain/client.ts";
import { createJsonRpcClient } from "../platform/chain/json-rpc.ts";
import { makeSandbox, type Sandbox } from "../platform/chain/sandbox/chain.ts";
import { createSandboxClient } from "../platform/chain/sandbox/client.ts";
import type { ConfiguredNetwork } from "../platform/config/index.ts";
import type { Parts } from "./parts.ts";

/** The id of the chain of Till's own. */
export const sandboxNetwork = "sandbox";

/** The providers of a network, in order of preference. */
export function providersOf(network: ConfiguredNetwork, parts: Parts): ChainClient[] {
  if (network.id === sandboxNetwork) {
    const { db: reader, clock } = parts;
    return [
      createSandboxClient({ reader, network, clock, provider: "sandbox" }),
      createSandboxClient({ reader, network, clock, provider: "sandbox-witness" }),
    ];
  }
  return network.endpoints.map(({ url, headers, batchMax }) =>
    createJsonRpcClient({ network, url, headers, batchMax, signal: parts.stopping }),
  );
}

/** The commands of the sandbox chain; null where it is not enabled. */
export function sandboxOf(parts: Parts): Sandbox | null {
  const network = parts.config.networks.find(({ id }) => id === sandboxNetwork);
  return network === undefined
    ? null
    : makeSandbox({ network, clock: parts.clock, randomBytes: parts.randomBytes });
}
