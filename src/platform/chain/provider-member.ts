import { day, minute, second, type Clock, type Instant } from "../../kernel/clock.ts";
import type { ChainAlarms } from "./alarms.ts";
import type { ChainClient, Heads, KnownChain } from "./client.ts";
import { headTimeFault } from "./head-times.ts";
import type { Network } from "./networks.ts";
import type { ProviderBudget } from "./provider-budget.ts";
import { ProviderError } from "./provider-error.ts";
import {
  makeTally,
  type ProviderCondition,
  type ProviderCounts,
  type ProviderFailure,
  type ProviderHealth,
} from "./provider-health.ts";
import { probeLogs } from "./provider-probe.ts";

/** One of a network's providers, and what it may be asked. */
export interface PooledProvider {
  readonly client: ChainClient;
  readonly budget: ProviderBudget | null;
}

type Exclusion = "wrong_chain" | "silent_logs";

/** A provider with what is known of it: when it may be asked, and how far it is believed. */
export interface PoolMember {
  readonly client: ChainClient;
  /** It failed lately and is not asked: a question throws its last failure. */
  isLeftAlone(): boolean;
  /** The higher, the less it is liked: what is passed over is asked after the others, what was untruthful last. */
  rank(): number;
  /** The height of its newest block; 0 where it told none, or none that is believed. */
  tipHeight(): number;
  /** What it told of its newest and its final block at last; null where it never did, or is not believed. */
  heard(): (Heads & { readonly at: Instant }) | null;
  lastFailure(): ProviderError | null;
  /** Since when it fails or is not used; null where it answered its last question. */
  unusableSince(): Instant | null;
  /**
   * One question, once it is of the right chain, with its outcome noted. `isAnswer`: what says nothing about the
   * provider though it is an error.
   */
  ask<T>(
    question: Question,
    work: (client: ChainClient) => Promise<T>,
    isAnswer?: (error: ProviderError) => boolean,
  ): Promise<T>;
  /** Its tip and final block, once its logs were probed where that is due. Refuses times that cannot be true. */
  heads(known?: KnownChain): Promise<Heads>;
  /** What it leaves out makes it unusable until a probe finds it again. */
  distrust(reason: string): void;
  /** Others have newer blocks, and are asked before it for a while; false ends that. */
  setBehind(isBehind: boolean): void;
  /** Its answers do not fit together: others are asked before it for a while, and its tip is not believed. */
  doubt(reason: string): void;
  /** It gave a block a time that cannot be true: as `doubt`, with an alarm. */
  doubtTime(reason: string): void;
  health(best: number, isInUse: boolean): ProviderHealth;
  /** Goes on from what another process wrote down. */
  resume(before: ProviderHealth): void;
  counts(): ProviderCounts;
}

export type Question = keyof Omit<ChainClient, "network" | "provider"> | "probe";

/** A failed provider is left alone so long at first; twice as long after each failure more, up to the most. */
const backoffFirstMs = 500;
const backoffMostMs = 30 * second;
/** What a provider asks for is granted so far. */
const askedMostMs = 10 * minute;
/** One of another chain, or without its logs, is looked at again so often. */
const excludedMs = 5 * minute;
/** One that is behind is passed over so long, while another is not. */
const behindMs = 15 * second;
/** So long one whose answers do not fit together is. */
const doubtedMs = 5 * minute;
/** Indexes of logs break while a node runs, too. */
const probeEveryMs = 10 * minute;

export function makePoolMember(
  deps: {
    readonly network: Network;
    readonly clock: Clock;
    readonly random: () => number;
    readonly alarms: ChainAlarms;
    /** Called when it is not to be asked any more for now. */
    readonly onLeft: (client: ChainClient) => void;
  },
  { client, budget }: PooledProvider,
  place: number,
): PoolMember {
  const { network, clock, random, alarms } = deps;
  const { provider } = client;
  const contracts = network.tokens.map(({ contract }) => contract);
  const tally = makeTally();
  /** What it failed at last: other questions that it answers do not make up for it. */
  const failing = new Set<Question>();
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

  /** A clock that went back behind the failure says nothing about how long that is over. */
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
    // What answers there afterwards may be another node.
    chainCheckedAt = null;
    deps.onLeft(client);
  }

  function failed(question: Question, error: ProviderError): void {
    tally.failed(error.kind);
    failing.add(question);
    waitMs = Math.min(backoffMostMs, Math.max(backoffFirstMs, waitMs * 2));
    const jittered = Math.ceil((waitMs * (1 + random())) / 2);
    leaveAlone(error, Math.max(jittered, Math.min(error.retryAfterMs ?? 0, askedMostMs)));
  }

  function answered(question: Question, begun: Instant): void {
    tally.answered(Math.max(0, clock.now() - begun));
    answeredAt = clock.now();
    if (exclusion === null) unusableSince = null;
    recovered(question);
  }

  function recovered(question: Question): void {
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
    question: Question,
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
        `it is of chain ${String(chainId)} and ${network.title} is chain ` +
          `${String(network.chainId)}. Correct the network's provider.`,
      );
    }
    chainCheckedAt = clock.now();
    include("wrong_chain");
  }

  async function ask<T>(
    question: Question,
    work: (client: ChainClient) => Promise<T>,
    isAnswer?: (error: ProviderError) => boolean,
  ): Promise<T> {
    if (isLeftAlone() && lastFailure !== null) throw lastFailure;
    await assertChain();
    return call(question, work, isAnswer);
  }

  /** Throws where the provider leaves transfers out. */
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
    // Where nothing could be compared, what it left out before is not forgiven for that.
    if (verdict === "works" || exclusion === null) include("silent_logs");
  }

  function doubt(reason: string): void {
    doubtedUntil = clock.now() + doubtedMs;
    note(new ProviderError(reason, { kind: "malformed", provider }));
  }

  function doubtTime(reason: string): void {
    doubt(reason);
    alarms.raise("provider_wrong_time", provider, `${provider} is doubted: ${reason}`, {
      network: network.id,
    });
  }

  /** Throws where the times of the heads cannot be true. */
  function checkTimes(told: Heads, known: KnownChain | undefined): Heads {
    const fault = headTimeFault(told, clock.now(), known);
    if (fault !== null) {
      doubtTime(fault);
      throw new ProviderError(fault, { kind: "malformed", provider });
    }
    if (!isDoubted()) alarms.clear("provider_wrong_time", provider);
    return told;
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
      // It is probed again before it is used: only its rank is kept.
      if (before.condition === "silent_logs") exclusion = "silent_logs";
    },
    counts: () => ({ provider, ...tally.counts() }),
  };
}
