import { minute, second, type Instant } from "../../kernel/clock.ts";
import type { Network } from "../../platform/chain/networks.ts";
import type { ProviderHealth } from "../../platform/chain/provider-health.ts";
import type { NetworkState } from "../../platform/chain/state.ts";

/** From good to bad; `unknown` is what nobody could look at. */
export const healths = ["ok", "unknown", "degraded", "down"] as const;
export type Health = (typeof healths)[number];

export interface Check {
  readonly status: Health;
  /** A sentence for the operator. */
  readonly message: string;
}

/** The worst of several. */
export function worst(checks: readonly Check[]): Health {
  const rank = Math.max(0, ...checks.map(({ status }) => healths.indexOf(status)));
  return healths[rank] ?? "unknown";
}

/** What is known of the reading of a network. */
export interface NetworkReading {
  readonly network: Pick<Network, "blockTimeMs" | "pollMs" | "isTest">;
  /** Null: no provider is configured. */
  readonly provider: string | null;
  /** Null: it was never reached. */
  readonly state: NetworkState | null;
  /** Whether a server is at it now. */
  readonly isWatched: boolean;
  /** How many alarms hold, whoever raised them. */
  readonly alarms: number;
  /** What this process found itself; null where another one reads the network. */
  readonly own: { readonly problem: string | null; readonly heldPayments: number } | null;
}

/** Silence of the watcher that is nothing to speak of, beside a few of its polls. */
const silenceMax = 30 * second;
const pollsMax = 3;
/** Silence, or a tip as old as that beyond its block time, after which the network counts as not read at all. */
const downAfter = 5 * minute;
/** How far the newest scanned block may lie behind the newest of the chain. */
const lagMax = 1 * minute;

/** Whether a network is being read, and how far behind. */
export function networkHealth(reading: NetworkReading, now: Instant): Check {
  const { network, provider, state, isWatched, own } = reading;
  if (provider === null) return down("No provider is configured for it.");
  if (!isWatched) {
    const last = state === null ? "It was never read." : `It was read ${ago(state, now)}.`;
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
  const trouble = troubleOf(reading, state, now);
  const lag = `read ${ago(state, now)}, ${String(lagOf(state))} blocks behind`;
  return trouble === null ? { status: "ok", message: lag } : degraded(`${trouble}; ${lag}`);
}

function troubleOf(reading: NetworkReading, state: NetworkState, now: Instant): string | null {
  const { network, own } = reading;
  const held = own?.heldPayments ?? 0;
  if (held > 0) return `the providers contradict each other about ${String(held)} payments`;
  if (state.disabledTokens.length > 0) {
    return `switched off, as their contracts count in other decimals: ${state.disabledTokens.join(", ")}`;
  }
  if (lagOf(state) * network.blockTimeMs > lagMax) return "catching up with the chain";
  if (reading.alarms === 1) return "an alarm holds, which till chain status tells";
  if (reading.alarms > 1)
    return `${String(reading.alarms)} alarms hold, which till chain status tells`;
  // A test network may stand still, and nobody waits for it.
  const tipAge = now - state.tipTime;
  if (!network.isTest && tipAge > downAfter + network.blockTimeMs) {
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

/** A stored health older than that says nothing about now: the server that reads the network writes every 15 s. */
const healthFreshMs = 1 * minute;
/** A provider that failed a moment ago is asked again soon; one that kept silent for longer is out of use. */
const silentAfterMs = 30 * second;

/** How a provider does that the network is not read from at present. */
export function providerHealth(
  stored: { readonly health: ProviderHealth; readonly writtenAt: Instant } | null,
  isWatched: boolean,
  now: Instant,
): Check {
  if (!isWatched) return { status: "unknown", message: "No server reads the network now." };
  if (stored === null || now - stored.writtenAt > healthFreshMs) {
    return { status: "unknown", message: "No server has asked it lately." };
  }
  const { condition, lastError, lagBlocks, answeredAt } = stored.health;
  const reason = lastError?.message ?? "it failed";
  switch (condition) {
    case "unknown":
      return { status: "unknown", message: "It was not asked yet." };
    case "ok":
      return { status: "ok", message: `in reserve, ${String(lagBlocks ?? 0)} blocks behind` };
    case "behind":
      return degraded(`asked after the others: ${reason}`);
    case "wrong_chain":
    case "silent_logs":
      return down(`not used: ${reason}`);
    case "waiting": {
      const silence = answeredAt === null ? Infinity : now - answeredAt;
      if (silence < silentAfterMs) return { status: "ok", message: `asked again soon: ${reason}` };
      return down(
        answeredAt === null
          ? `has not answered yet: ${reason}`
          : `has not answered for ${seconds(silence)}: ${reason}`,
      );
    }
  }
}

/** A measure that is good below one bound and bad above another. */
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
