import { day, minute, second, type Clock, type Instant } from "../../kernel/clock.ts";
import type { ChainAlarms } from "./alarms.ts";
import type { ChainClient, Head } from "./client.ts";
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

/**
 * A network's providers behind one interface. Each round of questions, which `heads` begins, is put to one provider:
 * the most preferred that answers, is of the right chain, lists its logs and is not behind. Where it fails, the round
 * fails, and the next is put to another; so no answer is ever made of two providers' chains.
 */
export interface ProviderPool {
  readonly client: ChainClient;
  /** Each by itself, in order of preference; one that is left alone throws ProviderError without being asked. */
  readonly providers: readonly ChainClient[];
  /** Whether some provider may be asked now: after a failure another round makes sense at once. */
  isReady(): boolean;
  /** The provider in use left out transfers that it has receipts for: it is not used until a probe finds them. */
  distrust(reason: string): void;
  /** Looks after those that are not in use, when that is due: their tips, and whether they list their logs. */
  check(): Promise<void>;
  health(): readonly ProviderHealth[];
  /** Goes on from what another process wrote down: what the day's requests are, and who is not to be used. */
  resume(stored: readonly ProviderHealth[]): void;
  counts(): readonly ProviderCounts[];
}

/** A failed provider is left alone so long at first; twice as long after each failure more, up to the most. */
const backoffFirstMs = 500;
const backoffMostMs = 30 * second;
/** What a provider asks for is granted so far. */
const askedMostMs = 10 * minute;
/** One of another chain, or without its logs, is looked at again so often. */
const excludedMs = 5 * minute;
/** One that is behind is passed over so long, while another is not. */
const behindMs = 15 * second;
/** The tips of those that are not in use are asked for so often. */
const checkEveryMs = minute;
/** Indexes of logs break while a node runs, too. */
const probeEveryMs = 10 * minute;
/** A provider whose newest block is this much older than another's is passed over. */
const staleMs = minute;
const staleBlocksMin = 10;

type Exclusion = "wrong_chain" | "silent_logs";

interface Member extends PooledProvider {
  readonly place: number;
  readonly tally: ReturnType<typeof makeTally>;
  exclusion: Exclusion | null;
  retryAt: Instant;
  waitMs: number;
  behindUntil: Instant;
  chainCheckedAt: Instant | null;
  probedAt: Instant | null;
  tip: Head | null;
  answeredAt: Instant | null;
  lastFailure: ProviderError | null;
  lastError: ProviderFailure | null;
}

export function makeProviderPool(deps: {
  readonly network: Network;
  /** In order of preference, one at least. */
  readonly members: readonly PooledProvider[];
  readonly clock: Clock;
  /** From 0 up to 1, so that many processes do not ask again at the same moment. */
  readonly random: () => number;
  readonly alarms: ChainAlarms;
}): ProviderPool {
  const { network, clock, random, alarms } = deps;
  const contracts = network.tokens.map(({ contract }) => contract);
  const members = deps.members.map((member, place): Member => {
    return {
      ...member,
      place,
      tally: makeTally(),
      exclusion: null,
      retryAt: 0,
      waitMs: 0,
      behindUntil: 0,
      chainCheckedAt: null,
      probedAt: null,
      tip: null,
      answeredAt: null,
      lastFailure: null,
      lastError: null,
    };
  });
  let current: Member | null = null;
  let checkedAt: Instant = clock.now();

  const isLeftAlone = (member: Member) => clock.now() < member.retryAt;

  function leaveAlone(member: Member, error: ProviderError, waitMs: number): void {
    const { kind, message } = error;
    member.lastFailure = error;
    member.lastError = { kind, message, at: clock.now() };
    member.retryAt = clock.now() + waitMs;
    // What answers there afterwards may be another node.
    member.chainCheckedAt = null;
    if (current === member) current = null;
  }

  function failed(member: Member, error: ProviderError): void {
    member.tally.failed(error.kind);
    member.waitMs = Math.min(backoffMostMs, Math.max(backoffFirstMs, member.waitMs * 2));
    const jittered = Math.ceil((member.waitMs * (1 + random())) / 2);
    leaveAlone(member, error, Math.max(jittered, Math.min(error.retryAfterMs ?? 0, askedMostMs)));
  }

  function exclude(member: Member, exclusion: Exclusion, message: string): ProviderError {
    const { provider } = member.client;
    const error = new ProviderError(message, { kind: "refused", provider });
    member.exclusion = exclusion;
    member.probedAt = null;
    leaveAlone(member, error, excludedMs);
    alarms.raise(`provider_${exclusion}`, provider, error.message, { network: network.id });
    return error;
  }

  function include(member: Member, exclusion: Exclusion): void {
    if (member.exclusion === exclusion) member.exclusion = null;
    alarms.clear(`provider_${exclusion}`, member.client.provider);
  }

  /** One call of one provider, with its outcome noted. */
  async function call<T>(
    member: Member,
    work: (client: ChainClient) => Promise<T>,
    isAnswer: (error: ProviderError) => boolean = () => false,
  ): Promise<T> {
    const begun = clock.now();
    try {
      const answer = await work(member.client);
      answered(member, begun);
      return answer;
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (error.kind === "range_too_large" || isAnswer(error)) answered(member, begun);
      else failed(member, error);
      throw error;
    }
  }

  function answered(member: Member, begun: Instant): void {
    member.tally.answered(Math.max(0, clock.now() - begun));
    member.answeredAt = clock.now();
    member.waitMs = 0;
  }

  async function assertChain(member: Member): Promise<void> {
    const { chainCheckedAt } = member;
    if (chainCheckedAt !== null && clock.now() - chainCheckedAt < day) return;
    const chainId = await call(member, (client) => client.chainId());
    if (chainId !== network.chainId) {
      throw exclude(
        member,
        "wrong_chain",
        `it is of chain ${String(chainId)} and ${network.title} is chain ` +
          `${String(network.chainId)}. Correct the network's provider.`,
      );
    }
    member.chainCheckedAt = clock.now();
    include(member, "wrong_chain");
  }

  async function ask<T>(
    member: Member,
    work: (client: ChainClient) => Promise<T>,
    isAnswer?: (error: ProviderError) => boolean,
  ): Promise<T> {
    if (isLeftAlone(member)) throw member.lastFailure ?? noneReady();
    await assertChain(member);
    return call(member, work, isAnswer);
  }

  async function headsOf(member: Member): Promise<Awaited<ReturnType<ChainClient["heads"]>>> {
    const heads = await ask(member, (client) => client.heads());
    member.tip = heads.latest;
    const isDue = member.probedAt === null || clock.now() - member.probedAt >= probeEveryMs;
    if (isDue) await probe(member, heads.finalized.height);
    return heads;
  }

  /** Throws where the provider leaves transfers out. */
  async function probe(member: Member, finalHeight: number): Promise<void> {
    let verdict: Awaited<ReturnType<typeof probeLogs>>;
    try {
      verdict = await probeLogs(member.client, finalHeight, contracts);
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (error.kind !== "range_too_large") failed(member, error);
      throw error;
    }
    if (typeof verdict === "object") throw exclude(member, "silent_logs", verdict.leftOut);
    member.probedAt = clock.now();
    // Where nothing could be compared, what it left out before is not forgiven for that.
    if (verdict === "works" || member.exclusion === null) include(member, "silent_logs");
  }

  function bestTip(): number {
    return Math.max(
      0,
      ...members.map(({ tip, exclusion }) => (exclusion === null ? (tip?.height ?? 0) : 0)),
    );
  }

  /** Those that may be asked, the most preferred first, and what is behind or was untruthful at the end. */
  function inOrder(): Member[] {
    const now = clock.now();
    const rank = (member: Member) =>
      (member.exclusion === "silent_logs" ? 2 : 0) + (now < member.behindUntil ? 1 : 0);
    return members
      .filter((member) => !isLeftAlone(member))
      .sort((one, other) => rank(one) - rank(other) || one.place - other.place);
  }

  function noneReady(): ProviderError {
    const [first] = members;
    if (first?.lastFailure != null) return first.lastFailure;
    return new ProviderError("it is not ready", {
      kind: "unreachable",
      provider: first?.client.provider ?? network.id,
    });
  }

  const staleBlocks = Math.max(staleBlocksMin, Math.ceil(staleMs / network.blockTimeMs));

  /** Begins a round. */
  async function heads(known = 0): ReturnType<ChainClient["heads"]> {
    const wanted = Math.max(known, bestTip() - staleBlocks);
    const late: { member: Member; heads: Awaited<ReturnType<ChainClient["heads"]>> }[] = [];
    current = null;
    for (const member of inOrder()) {
      try {
        const told = await headsOf(member);
        if (told.latest.height >= wanted) {
          for (const { member: behind } of late) behind.behindUntil = clock.now() + behindMs;
          member.behindUntil = 0;
          current = member;
          return told;
        }
        late.push({ member, heads: told });
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
      }
    }
    const [best] = late.sort((one, other) => other.heads.latest.height - one.heads.latest.height);
    if (best === undefined) throw noneReady();
    current = best.member;
    return best.heads;
  }

  /** A question within the round. */
  async function within<T>(
    work: (client: ChainClient) => Promise<T>,
    isAnswer?: (error: ProviderError) => boolean,
  ): Promise<T> {
    const [first] = inOrder();
    const member = current ?? first;
    if (member === undefined) throw noneReady();
    return ask(member, work, isAnswer);
  }

  function conditionOf(member: Member): ProviderCondition {
    if (member.exclusion !== null) return member.exclusion;
    if (isLeftAlone(member)) return "waiting";
    if (clock.now() < member.behindUntil) return "behind";
    return member.answeredAt === null ? "unknown" : "ok";
  }

  return {
    client: {
      network: network.id,
      get provider() {
        return (current ?? inOrder()[0] ?? members[0])?.client.provider ?? "none";
      },
      heads,
      chainId: () => within((client) => client.chainId()),
      transfers: (query) => within((client) => client.transfers(query)),
      blockTransfers: (height, of) => within((client) => client.blockTransfers(height, of)),
      blocks: (heights) => within((client) => client.blocks(heights)),
      receipt: (hash) => within((client) => client.receipt(hash)),
      decimals: (contract) => within((client) => client.decimals(contract), isAboutContract),
    },
    providers: members.map((member) => ({
      network: network.id,
      provider: member.client.provider,
      heads: () => headsOf(member),
      chainId: () => ask(member, (client) => client.chainId()),
      transfers: (query) => ask(member, (client) => client.transfers(query)),
      blockTransfers: (height, of) => ask(member, (client) => client.blockTransfers(height, of)),
      blocks: (heights) => ask(member, (client) => client.blocks(heights)),
      receipt: (hash) => ask(member, (client) => client.receipt(hash)),
      decimals: (contract) => ask(member, (client) => client.decimals(contract), isAboutContract),
    })),
    isReady: () => members.some((member) => !isLeftAlone(member)),
    distrust(reason) {
      if (current !== null) exclude(current, "silent_logs", reason);
    },
    async check() {
      if (clock.now() - checkedAt < checkEveryMs) return;
      checkedAt = clock.now();
      for (const member of members) {
        if (member === current || isLeftAlone(member)) continue;
        try {
          await headsOf(member);
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error;
        }
      }
    },
    health() {
      const best = bestTip();
      return members.map((member) => {
        const spent = member.budget?.spentToday() ?? { day: 0, requests: 0 };
        return {
          place: member.place,
          provider: member.client.provider,
          condition: conditionOf(member),
          isInUse: member === current,
          latencyMs: member.tally.latencyMs(),
          tipHeight: member.tip?.height ?? null,
          lagBlocks: member.tip === null ? null : Math.max(0, best - member.tip.height),
          errorPercent: member.tally.errorPercent(),
          requestsToday: spent.requests,
          budgetDay: spent.day,
          requestsPerDay: member.budget?.requestsPerDay ?? null,
          lastError: member.lastError,
          retryAt: isLeftAlone(member) ? member.retryAt : null,
          answeredAt: member.answeredAt,
        };
      });
    },
    resume(stored) {
      for (const member of members) {
        const before = stored.find(({ provider }) => provider === member.client.provider);
        if (before === undefined) continue;
        member.budget?.spentBefore({ day: before.budgetDay, requests: before.requestsToday });
        // It is probed again before it is used: only its rank is kept.
        if (before.condition === "silent_logs") member.exclusion = "silent_logs";
      }
    },
    counts: () =>
      members.map(({ client, tally }) => ({ provider: client.provider, ...tally.counts() })),
  };
}

/** What a contract answers says nothing about the provider. */
function isAboutContract({ kind }: ProviderError): boolean {
  return kind === "refused" || kind === "malformed";
}
