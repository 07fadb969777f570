import { minute, second, type Instant } from "../../../kernel/clock.ts";
import type { Network, NetworkKind } from "../../../platform/chain/networks.ts";
import type { ProviderHealth } from "../../../platform/chain/state/provider-health.ts";
import type { NetworkState } from "../../../platform/chain/state/network-state.ts";

/** Best to worst; `unknown` if nothing could check it. */
export const healths = ["ok", "unknown", "degraded", "down"] as const;
export type Health = (typeof healths)[number];

export interface Check {
  readonly status: Health;
  /** One sentence for the operator. */
  readonly message: string;
}

/** Returns the worst status. */
export function worst(checks: readonly Check[]): Health {
  const rank = Math.max(0, ...checks.map(({ status }) => healths.indexOf(status)));
  return healths[rank] ?? "unknown";
}

/** Facts about how a network is being read. */
export interface NetworkFacts {
  readonly network: Pick<Network, "blockTimeMs" | "pollMs"> & {
    readonly kind: Pick<NetworkKind, "isSimulated">;
  };
  /** Null if no provider is configured. */
  readonly provider: string | null;
  /** Null if the network was never read. */
  readonly state: NetworkState | null;
  /** Whether a server is watching the network now. */
  readonly isWatched: boolean;
  /** Number of open alarms, from any server. */
  readonly alarms: number;
  /** This process's own findings; null if another process reads the network. */
  readonly own: { readonly problem: string | null; readonly heldPayments: number } | null;
}

/** Watcher silence that is still ok: 30 s, or `pollsMax` poll intervals if that is longer. */
const silenceMax = 30 * second;
const pollsMax = 3;
/** Watcher silence, or tip age beyond one block time, after which the network counts as down or degraded. */
const downAfter = 5 * minute;
/** Maximum lag between the newest read block and the chain's newest block, in milliseconds. */
const lagMax = 1 * minute;

/** Evaluates whether a network is being read, and how far behind. */
export function networkHealth(facts: NetworkFacts, now: Instant): Check {
  const { network, provider, state, isWatched, own } = facts;
  if (provider === null) return down("No provider is configured.");
  if (!isWatched) {
    const last = state === null ? "It was never read." : `It was last read ${ago(state, now)}.`;
    return { status: "unknown", message: `No server reads the network now. ${last}` };
  }
  const problem = own?.problem ?? null;
  if (state === null) return down(problem ?? "The provider has not answered yet.");
  const silence = now - state.scannedAt;
  if (silence > downAfter) return down(problem ?? `It was last read ${ago(state, now)}.`);
  if (problem !== null) return degraded(problem);
  if (silence > Math.max(silenceMax, pollsMax * network.pollMs)) {
    return degraded(`It was last read ${ago(state, now)}.`);
  }
  const trouble = troubleOf(facts, state, now);
  const lag = `read ${ago(state, now)}, ${String(lagOf(state))} blocks behind`;
  return trouble === null ? { status: "ok", message: lag } : degraded(`${trouble}; ${lag}`);
}

function troubleOf(facts: NetworkFacts, state: NetworkState, now: Instant): string | null {
  const { network, own } = facts;
  const held = own?.heldPayments ?? 0;
  if (held > 0) return `the providers disagree about ${String(held)} payments`;
  if (state.disabledTokens.length > 0) {
    return `tokens disabled because their contracts have different decimals: ${state.disabledTokens.join(", ")}`;
  }
  if (lagOf(state) * network.blockTimeMs > lagMax) return "catching up with the chain";
  if (facts.alarms > 0) {
    const count = facts.alarms === 1 ? "1 open alarm" : `${String(facts.alarms)} open alarms`;
    return `${count}, see till chain status`;
  }
  // A simulated network may make blocks on command only.
  const tipAge = now - state.tipTime;
  if (!network.kind.isSimulated && tipAge > downAfter + network.blockTimeMs) {
    return `the provider's newest block is ${seconds(tipAge)} old`;
  }
  return null;
}

function lagOf(state: NetworkState): number {
  return Math.max(0, state.headHeight - state.tipHeight);
}

function ago(state: NetworkState, now: Instant): string {
  return `${seconds(Math.max(0, now - state.scannedAt))} ago`;
}

function seconds(milliseconds: number): string {
  return `${String(Math.round(milliseconds / second))} s`;
}

/** Maximum age of a stored provider status; the server that reads the network updates it every 15 s. */
const healthFreshMs = 1 * minute;
/** A provider that failed less than this long ago is still retried and counts as ok; after that it is down. */
const silentAfterMs = 30 * second;

/** Evaluates a provider that is not the one currently in use. */
export function providerHealth(
  stored: { readonly health: ProviderHealth; readonly writtenAt: Instant } | null,
  isWatched: boolean,
  now: Instant,
): Check {
  if (!isWatched) return { status: "unknown", message: "No server reads the network now." };
  if (stored === null || now - stored.writtenAt > healthFreshMs) {
    return { status: "unknown", message: "No server has used it recently." };
  }
  const { condition, lastError, lagBlocks, answeredAt } = stored.health;
  const reason = lastError?.message ?? "it failed";
  switch (condition) {
    case "unknown":
      return { status: "unknown", message: "It has not been used yet." };
    case "ok":
      return { status: "ok", message: `standby, ${String(lagBlocks ?? 0)} blocks behind` };
    case "behind":
      return degraded(`used only after the others: ${reason}`);
    case "wrong_chain":
    case "silent_logs":
      return down(`not used: ${reason}`);
    case "waiting": {
      const silence = answeredAt === null ? Infinity : now - answeredAt;
      if (silence < silentAfterMs)
        return { status: "ok", message: `will be retried soon: ${reason}` };
      return down(
        answeredAt === null
          ? `has not responded yet: ${reason}`
          : `has not responded for ${seconds(silence)}: ${reason}`,
      );
    }
  }
}

/** Grades a measurement: ok up to the first bound, down above the second, degraded between them. */
export function graded(
  value: number,
  bounds: { readonly degradedAbove: number; readonly downAbove: number },
  message: string,
): Check {
  if (value > bounds.downAbove) return down(message);
  return value > bounds.degradedAbove ? degraded(message) : { status: "ok", message };
}

function degraded(message: string): Check {
  return { status: "degraded", message };
}

export function down(message: string): Check {
  return { status: "down", message };
}
