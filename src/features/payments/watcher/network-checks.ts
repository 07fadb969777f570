import { day, minute, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import type { ChainClient, Head } from "../../../platform/chain/client.ts";
import type { Network, NetworkToken } from "../../../platform/chain/networks.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import {
  lagAllowedMs,
  lagOfNew,
  type NetworkState,
  type NetworkStateRow,
} from "../../../platform/chain/state/network-state.ts";
import { ReplyDropped } from "./chain-reader.ts";

/** How often disabled tokens are re-checked, in milliseconds: the provider may have been at fault. */
const disabledAgainMs = 10 * minute;
/** How long a chain must stay shorter before that is believed, in milliseconds; until then the provider is behind. */
const shorterMs = 2 * minute;

/** The network cannot be watched with its configuration. The server continues; an operator has to act. */
export class NetworkStopped extends Error {
  override readonly name = "NetworkStopped";
}

/** Throws NetworkStopped if the provider serves another chain than the configured one. */
async function checkChainId(client: ChainClient, network: Network): Promise<void> {
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
async function findDisabledTokens(
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
      { network: network.id, symbol: token.symbol, fault },
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
    const isItsReply =
      error instanceof ProviderError && ["refused", "malformed"].includes(error.kind);
    if (isItsReply) return error.message;
    throw error;
  }
}

interface CheckDependencies {
  readonly clock: Clock;
  readonly network: Network;
  readonly client: ChainClient;
  readonly alarms: ChainAlarms;
}

/** Returns the disabled tokens. Asks once a day, because the contract behind a proxy may change. */
export function makeTokenCheck(deps: CheckDependencies): () => Promise<readonly string[]> {
  const { clock, network, client, alarms } = deps;
  let tokens: { readonly at: Instant; readonly disabled: readonly string[] } | null = null;

  return async () => {
    const at = clock.now();
    const againMs = tokens?.disabled.length === 0 ? day : disabledAgainMs;
    if (tokens !== null && at - tokens.at < againMs) return tokens.disabled;
    await checkChainId(client, network);
    tokens = { at, disabled: await findDisabledTokens(client, network, alarms) };
    return tokens.disabled;
  };
}

/**
 * Raises an alarm if the newest block of the chain was mined with a time that is further behind the clock than usual: a
 * sequencer is behind, or this server's clock is ahead. `before` is the state before the scan.
 */
export function noteLag(
  { network, alarms }: Pick<CheckDependencies, "network" | "alarms">,
  before: Pick<NetworkState, "tipHeight" | "scannedAt" | "usualLagMs">,
  newest: Head,
): void {
  const lagMs = lagOfNew(before, newest);
  if (lagMs === null) return;
  const allowedMs = lagAllowedMs(network, before);
  if (lagMs <= allowedMs) {
    alarms.clear("chain_time_lags", network.id);
    return;
  }
  const inMinutes = (ms: number) => String(Math.floor(ms / minute));
  alarms.raise(
    "chain_time_lags",
    network.id,
    `new blocks have times ${inMinutes(lagMs)} minutes behind this server's clock, usually at most ` +
      `${inMinutes(allowedMs)}: the chain produces blocks late, the provider shows them late, or this clock is ahead. ` +
      "Payments are matched by the order of the blocks, and deadlines end by their times, so that invoices expire later. " +
      "Compare the clock with till doctor, and the newest block with a block explorer",
    { network: network.id, blockHeight: newest.height, lagSeconds: Math.round(lagMs / second) },
  );
}

export interface TipCheck {
  /** Throws ReplyDropped if the provider is behind. A chain that stays shorter is accepted and raises an alarm. */
  assertNotBehind(state: NetworkStateRow, height: number): void;
  /** Forgets since when the chain is shorter: another process may have found it longer meanwhile. */
  resume(): void;
}

export function makeTipCheck({ clock, network, client, alarms }: CheckDependencies): TipCheck {
  let shorterSince: Instant | null = null;

  return {
    assertNotBehind(state, height) {
      if (height >= state.tipHeight) {
        shorterSince = null;
        alarms.clear("tip_went_back", network.id);
        return;
      }
      shorterSince ??= clock.now();
      if (height < state.cursorHeight || clock.now() - shorterSince < shorterMs) {
        throw new ReplyDropped(
          `${client.provider} is behind: its newest block is below the newest block that was read`,
          null,
          { height, tipHeight: state.tipHeight },
        );
      }
      alarms.raise(
        "tip_went_back",
        network.id,
        "the chain is shorter than before, and is read again from its new end",
        { network: network.id, tipHeight: state.tipHeight, height },
      );
    },
    resume() {
      shorterSince = null;
    },
  };
}
