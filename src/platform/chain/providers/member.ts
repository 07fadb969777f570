import { day, minute, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { ChainAlarms } from "../state/alarms.ts";
import type { ChainClient, Heads, KnownChain } from "../client.ts";
import { headTimeFault } from "../state/head-times.ts";
import type { Network } from "../networks.ts";
import { ProviderError } from "./error.ts";
import type { PooledProvider } from "./provider.ts";
import {
  makeTally,
  type ProviderCondition,
  type ProviderCounts,
  type ProviderFailure,
  type ProviderHealth,
} from "../state/provider-health.ts";
import { probeLogs } from "./probe.ts";

type Exclusion = "wrong_chain" | "silent_logs";

/** A provider with its state: when it may be called, and whether its responses are trusted. */
export interface PoolMember {
  readonly client: ChainClient;
  /** True during the backoff after a failure: a call then throws the last failure. */
  isLeftAlone(): boolean;
  /**
   * The rank; lower is better. Providers that are passed over come after the others, those whose logs omitted transfers
   * last.
   */
  rank(): number;
  /** The height of its newest block; 0 if it has reported none, or is distrusted. */
  tipHeight(): number;
  /** The newest and the final block that it last reported; null if it has reported none, or is distrusted. */
  heard(): (Heads & { readonly at: Instant }) | null;
  lastFailure(): ProviderError | null;
  /** Since when it has failed or been excluded; null if its last call succeeded. */
  unusableSince(): Instant | null;
  /**
   * Calls the provider, after its chain id was checked, and records the outcome. `isAnswer` selects errors that say
   * nothing about the provider.
   */
  ask<T>(
    question: RpcMethod,
    work: (client: ChainClient) => Promise<T>,
    isAnswer?: (error: ProviderError) => boolean,
  ): Promise<T>;
  /** Returns its tip and final block, and probes its logs if that is due. Rejects times that cannot be true. */
  heads(known?: KnownChain): Promise<Heads>;
  /** Excludes the provider for omitted transfers until a probe finds its logs complete. */
  distrust(reason: string): void;
  /** True: other providers have newer blocks, and are preferred for a while. False ends that. */
  setBehind(isBehind: boolean): void;
  /** Its responses contradict each other: other providers are preferred for a while, and its tip is ignored. */
  doubt(reason: string): void;
  /** It gave a block an impossible time: as `doubt`, and raises an alarm. */
  doubtTime(reason: string, details?: Readonly<Record<string, unknown>>): void;
  health(best: number, isInUse: boolean): ProviderHealth;
  /** Continues from the health that another process stored. */
  resume(before: ProviderHealth): void;
  counts(): ProviderCounts;
}

export type RpcMethod = keyof Omit<ChainClient, "network" | "provider"> | "probe";

/** The backoff after a first failure, doubled by each further failure up to the maximum; in milliseconds. */
const backoffFirstMs = 500;
const backoffMostMs = 30 * second;
/** The longest waiting time that a provider may request, in milliseconds. */
const askedMostMs = 10 * minute;
/** Backoff of a provider that serves another chain, or whose logs omit transfers, before the next check. */
const excludedMs = 5 * minute;
/** Time for which a provider that is behind is passed over in favor of others. */
const behindMs = 15 * second;
/** Time for which a provider whose responses contradict each other is passed over. */
const doubtedMs = 5 * minute;
/** Interval of probes. A log index may also break while the node runs. */
const probeEveryMs = 10 * minute;

export function makePoolMember(
  deps: {
    readonly network: Network;
    readonly clock: Clock;
    readonly random: () => number;
    readonly alarms: ChainAlarms;
    /** Called when the provider may not be called for now. */
    readonly onLeft: (client: ChainClient) => void;
  },
  { client, budget }: PooledProvider,
  place: number,
): PoolMember {
  const { network, clock, random, alarms } = deps;
  const { provider } = client;
  const contracts = network.tokens.map(({ contract }) => contract);
  const tally = makeTally();
  /** The methods whose last call failed. Success of another method does not reset the backoff. */
  const failing = new Set<RpcMethod>();
  let exclusion: Exclusion | null = null;
  let retryAt: Instant = 0;
  let waitMs = 0;
  let behindUntil: Instant = 0;
  let doubtedUntil: Instant = 0;
  let chainCheckedAt: Instant | null = null;
  let probedAt: Instant | null = null;
  let provenAt: Instant | null = null;
  let heard: (Heads & { readonly at: Instant }) | null = null;
  let answeredAt: Instant | null = null;
  let unusableSince: Instant | null = null;
  let lastFailure: ProviderError | null = null;
  let lastError: ProviderFailure | null = null;

  /** If the clock was set back to before the failure, the end of the backoff is meaningless. */
  const isLeftAlone = () => clock.now() < retryAt && clock.now() >= (lastError?.at ?? 0);
  const isDoubted = () => clock.now() < doubtedUntil;
  const isPassedOver = () => isDoubted() || clock.now() < behindUntil;

  function note(error: ProviderError): void {
    const { kind, message } = error;
    lastFailure = error;
    lastError = { kind, message, at: clock.now() };
  }

  function leaveAlone(error: ProviderError, milliseconds: number): void {
    note(error);
    retryAt = clock.now() + milliseconds;
    unusableSince ??= clock.now();
    // After the failure, another node may respond at this URL.
    chainCheckedAt = null;
    deps.onLeft(client);
  }

  function failed(question: RpcMethod, error: ProviderError): void {
    tally.failed(error.kind);
    failing.add(question);
    waitMs = Math.min(backoffMostMs, Math.max(backoffFirstMs, waitMs * 2));
    const jittered = Math.ceil((waitMs * (1 + random())) / 2);
    leaveAlone(error, Math.max(jittered, Math.min(error.retryAfterMs ?? 0, askedMostMs)));
  }

  function answered(question: RpcMethod, begun: Instant): void {
    tally.answered(Math.max(0, clock.now() - begun));
    answeredAt = clock.now();
    if (exclusion === null) unusableSince = null;
    recovered(question);
  }

  function recovered(question: RpcMethod): void {
    failing.delete(question);
    if (failing.size === 0) waitMs = 0;
  }

  function exclude(kind: Exclusion, message: string): ProviderError {
    const error = new ProviderError(message, { kind: "refused", provider });
    exclusion = kind;
    probedAt = null;
    leaveAlone(error, excludedMs);
    alarms.raise(`provider_${kind}`, provider, error.message, { network: network.id });
    return error;
  }

  function include(kind: Exclusion): void {
    if (exclusion === kind) exclusion = null;
    alarms.clear(`provider_${kind}`, provider);
  }

  async function call<T>(
    question: RpcMethod,
    work: (client: ChainClient) => Promise<T>,
    isAnswer: (error: ProviderError) => boolean = () => false,
  ): Promise<T> {
    const begun = clock.now();
    try {
      const answer = await work(client);
      answered(question, begun);
      return answer;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (isAnswer(error)) answered(question, begun);
      else failed(question, error);
      throw error;
    }
  }

  async function assertChain(): Promise<void> {
    if (chainCheckedAt !== null && clock.now() - chainCheckedAt < day) return;
    const chainId = await call("chainId", () => client.chainId());
    if (chainId !== network.chainId) {
      throw exclude(
        "wrong_chain",
        `it serves chain ${String(chainId)}, but ${network.title} is chain ` +
          `${String(network.chainId)}. Correct the network's provider.`,
      );
    }
    chainCheckedAt = clock.now();
    include("wrong_chain");
  }

  async function ask<T>(
    question: RpcMethod,
    work: (client: ChainClient) => Promise<T>,
    isAnswer?: (error: ProviderError) => boolean,
  ): Promise<T> {
    if (isLeftAlone() && lastFailure !== null) throw lastFailure;
    await assertChain();
    return call(question, work, isAnswer);
  }

  /** Throws if the provider's logs omit transfers. */
  async function probe(finalHeight: number): Promise<void> {
    let verdict: Awaited<ReturnType<typeof probeLogs>>;
    try {
      verdict = await probeLogs(client, finalHeight, contracts);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      failed("probe", error);
      throw error;
    }
    if (typeof verdict === "object") throw exclude("silent_logs", verdict.leftOut);
    recovered("probe");
    probedAt = clock.now();
    if (verdict === "works") provenAt = probedAt;
    // If there was nothing to compare, an earlier omission still counts.
    if (verdict === "works" || exclusion === null) include("silent_logs");
  }

  function doubt(reason: string): void {
    doubtedUntil = clock.now() + doubtedMs;
    note(new ProviderError(reason, { kind: "malformed", provider }));
  }

  function doubtTime(reason: string, details: Readonly<Record<string, unknown>> = {}): void {
    doubt(reason);
    alarms.raise("provider_wrong_time", provider, `${provider} is distrusted: ${reason}`, {
      network: network.id,
      ...details,
    });
  }

  /** Throws if the times of the heads cannot be true. */
  function checkTimes(reported: Heads, known: KnownChain | undefined): Heads {
    const fault = headTimeFault(reported, clock.now(), known);
    if (fault !== null) {
      doubtTime(fault.reason, fault.details);
      throw new ProviderError(fault.reason, { kind: "malformed", provider });
    }
    if (!isDoubted()) alarms.clear("provider_wrong_time", provider);
    return reported;
  }

  function condition(): ProviderCondition {
    if (exclusion !== null) return exclusion;
    if (isLeftAlone()) return "waiting";
    if (isPassedOver()) return "behind";
    return answeredAt === null ? "unknown" : "ok";
  }

  return {
    client,
    isLeftAlone,
    rank: () => (exclusion === "silent_logs" ? 2 : 0) + (isPassedOver() ? 1 : 0),
    tipHeight: () => (exclusion === null && !isDoubted() ? (heard?.latest.height ?? 0) : 0),
    heard: () => (exclusion === null && !isDoubted() ? heard : null),
    lastFailure: () => lastFailure,
    unusableSince: () => unusableSince,
    ask,
    async heads(known) {
      const heads = await ask("heads", async () => checkTimes(await client.heads(known), known));
      heard = { ...heads, at: clock.now() };
      const isDue = probedAt === null || clock.now() - probedAt >= probeEveryMs;
      if (isDue) await probe(heads.finalized.height);
      return heads;
    },
    distrust(reason) {
      exclude("silent_logs", reason);
    },
    setBehind(isBehind) {
      behindUntil = isBehind ? clock.now() + behindMs : 0;
    },
    doubt,
    doubtTime,
    health(best, isInUse) {
      const spent = budget?.spentToday() ?? { day: 0, requests: 0 };
      return {
        ...{ place, provider, isInUse, lastError, answeredAt, unusableSince, provenAt },
        condition: condition(),
        latencyMs: tally.latencyMs(),
        tipHeight: heard?.latest.height ?? null,
        lagBlocks: heard === null ? null : Math.max(0, best - heard.latest.height),
        errorPercent: tally.errorPercent(),
        requestsToday: spent.requests,
        budgetDay: spent.day,
        requestsPerDay: budget?.requestsPerDay ?? null,
        retryAt: isLeftAlone() ? retryAt : null,
      };
    },
    resume(before) {
      budget?.spentBefore({ day: before.budgetDay, requests: before.requestsToday });
      answeredAt ??= before.answeredAt;
      provenAt = before.provenAt ?? null;
      unusableSince = before.unusableSince ?? null;
      // Its logs are probed again before it is used: only the rank is restored.
      if (before.condition === "silent_logs") exclusion = "silent_logs";
    },
    counts: () => ({ provider, ...tally.counts() }),
  };
}
