import { setTimeout as sleep } from "node:timers/promises";
import type { Network, NetworkAccess } from "../networks.ts";
import { makeBudget } from "../providers/budget.ts";
import { makeProviderLimits } from "../providers/limits.ts";
import type { PooledProvider } from "../providers/provider.ts";
import { createJsonRpcClient } from "./client.ts";

/** Creates a JSON-RPC client with its budget of requests for each endpoint, in the same order. */
export function connectJsonRpc(
  network: Network,
  { endpoints, clock, fetch, stopping }: NetworkAccess,
): PooledProvider[] {
  const origins = endpoints.map(({ url }) => new URL(url).origin);
  return endpoints.map(({ url, headers, batchMax, ...rates }, place) => {
    const provider = new URL(url).origin;
    const member = origins.slice(0, place + 1).filter((each) => each === provider).length;
    const { requestsPerSecond } = rates;
    const limits = makeProviderLimits({ clock, network, batchMax, requestsPerSecond });
    const budget = makeBudget({
      limits: rates,
      tolerated: () => limits.requestsPerSecond.current(),
      clock,
      provider,
      delay: (milliseconds) =>
        // On shutdown the wait ends early; the request itself is then refused.
        sleep(milliseconds, undefined, { signal: stopping }).catch(() => undefined),
    });
    const client = createJsonRpcClient({
      network,
      url,
      member,
      headers,
      limits,
      fetch,
      signal: stopping,
      beforeRequest: () => budget.take(),
    });
    return { client, budget, limits };
  });
}
