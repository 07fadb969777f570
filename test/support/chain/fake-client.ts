import type { ChainClient, Head } from "../../../src/platform/chain/client.ts";
import { ProviderError, type ProviderFault } from "../../../src/platform/chain/providers/error.ts";
import { Refusal, toldBy, type Faults, type ToldChain } from "./fake-provider.ts";

/** Returns a provider of a fake chain in this process, which notes the names of the methods that are called. */
export function clientOf(
  chain: ToldChain,
  provider: string,
  faults: Faults,
  calls: string[],
): ChainClient {
  const told = toldBy(chain, faults);
  const failure = (kind: ProviderFault) => new ProviderError(`it is ${kind}`, { kind, provider });
  const latest = (): Head => {
    const head = told.latest();
    if (head === null) throw failure("malformed");
    return head;
  };

  async function call<T>(method: string, answer: () => T): Promise<T> {
    calls.push(method);
    await Promise.resolve();
    if (faults.failure !== null) throw failure(faults.failure);
    try {
      return answer();
    } catch (error) {
      throw error instanceof Refusal ? failure(error.kind) : error;
    }
  }

  return {
    network: "ethereum",
    provider,
    chainId: () => call("chainId", () => faults.chainId),
    heads: (known) =>
      call("heads", () => ({
        latest: latest(),
        finalized: told.finalized() ?? latest(),
        known: known === undefined ? null : told.block(known.final.height),
      })),
    transfers: (query) =>
      call("transfers", () => ({ logs: told.transfers(query), latest: latest() })),
    blockTransfers: () => Promise.resolve(null),
    blocks: (heights) => call("blocks", () => heights.map((height) => told.block(height))),
    receipt: (transactionHash) => call("receipt", () => told.receipt(transactionHash)),
    decimals: () =>
      call("decimals", () => {
        if (typeof faults.decimals !== "number") throw failure(faults.decimals);
        return faults.decimals;
      }),
  };
}
