import type { ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import type { ChainClient } from "../../../platform/chain/client.ts";
import type { Network, NetworkToken } from "../../../platform/chain/networks.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import type { NetworkState } from "../../../platform/chain/state/network-state.ts";

/** The network cannot be watched with its configuration. The server continues; an operator has to act. */
export class NetworkStopped extends Error {
  override readonly name = "NetworkStopped";
}

/** Throws NetworkStopped if the provider serves another chain than the configured one. */
export async function checkChainId(client: ChainClient, network: Network): Promise<void> {
  const chainId = await client.chainId();
  if (chainId === network.chainId) return;
  throw new NetworkStopped(
    `${client.provider} serves chain ${String(chainId)}, but ${network.title} is chain ` +
      `${String(network.chainId)}. Correct the network's provider.`,
  );
}

/** Throws NetworkStopped if the scanned chain is not the configured one. */
export function checkSameChain({ chainId }: NetworkState, network: Network): void {
  if (chainId === network.chainId) return;
  throw new NetworkStopped(
    `The stored blocks of ${network.title} are of chain ${String(chainId)}, but it is configured as ` +
      `chain ${String(network.chainId)}. Correct the network's chain id.`,
  );
}

/**
 * Asks every token's contract for its decimals, and returns the symbols of tokens whose contract gives a value other
 * than the configured one, or no valid one. Throws ProviderError if the provider cannot be reached.
 */
export async function findDisabledTokens(
  client: ChainClient,
  network: Network,
  alarms: ChainAlarms,
): Promise<readonly string[]> {
  const disabled: string[] = [];
  for (const token of network.tokens) {
    const fault = await lastingFaultOf(client, network, token);
    if (fault === null) {
      alarms.clear("token_disabled", token.symbol);
      continue;
    }
    disabled.push(token.symbol);
    alarms.raise(
      "token_disabled",
      token.symbol,
      `${token.symbol} is disabled: its contract does not report the configured decimals (${fault})`,
      { network: network.id, token: token.symbol, fault },
    );
  }
  return disabled.sort();
}

/** Asks twice, because a malformed answer, such as a maintenance page, may be the provider's and not the contract's. */
async function lastingFaultOf(
  client: ChainClient,
  network: Network,
  { contract, decimals }: NetworkToken,
): Promise<string | null> {
  const fault = await faultOf(client, contract, decimals);
  if (fault === null) return null;
  await checkChainId(client, network);
  return faultOf(client, contract, decimals);
}

async function faultOf(
  client: ChainClient,
  contract: string,
  configured: number,
): Promise<string | null> {
  try {
    const decimals = await client.decimals(contract);
    if (decimals === configured) return null;
    return `it has ${String(decimals)} decimals, not ${String(configured)}`;
  } catch (error) {
    const isItsAnswer =
      error instanceof ProviderError && ["refused", "malformed"].includes(error.kind);
    if (isItsAnswer) return error.message;
    throw error;
  }
}
