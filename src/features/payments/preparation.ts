import type { ChainAlarms } from "../../platform/chain/alarms.ts";
import type { ChainClient } from "../../platform/chain/client.ts";
import type { Network, NetworkToken } from "../../platform/chain/networks.ts";
import { ProviderError } from "../../platform/chain/provider-error.ts";
import type { NetworkState } from "../../platform/chain/state.ts";

/** The network cannot be watched as it is configured. The server goes on; an operator has to act. */
export class NetworkStopped extends Error {
  override readonly name = "NetworkStopped";
}

/** Makes sure that the provider is of the configured chain; throws NetworkStopped where it is of another. */
export async function checkChainId(client: ChainClient, network: Network): Promise<void> {
  const chainId = await client.chainId();
  if (chainId === network.chainId) return;
  throw new NetworkStopped(
    `${client.provider} is of chain ${String(chainId)} and ${network.title} is chain ` +
      `${String(network.chainId)}. Correct the network's provider.`,
  );
}

/** Throws NetworkStopped where another chain was scanned than is configured now. */
export function checkSameChain({ chainId }: NetworkState, network: Network): void {
  if (chainId === network.chainId) return;
  throw new NetworkStopped(
    `What was scanned of ${network.title} is of chain ${String(chainId)}, and it is configured as ` +
      `chain ${String(network.chainId)}. Correct the network's chain id.`,
  );
}

/**
 * Asks every token's contract for its decimals and gives the symbols of those that answer otherwise than configured, or
 * not at all. A provider that cannot be reached throws: it says nothing about a token.
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
      `${token.symbol} is switched off: its contract does not count as configured (${fault})`,
      { network: network.id, token: token.symbol, fault },
    );
  }
  return disabled.sort();
}

/** An answer that is none, such as a page that says to come back later, is not the contract's: it is asked twice. */
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
