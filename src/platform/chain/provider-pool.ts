import { minute, second, type Clock, type Instant } from "../../kernel/clock.ts";
import type { ChainAlarms } from "./alarms.ts";
import type { ChainClient, Heads, KnownChain } from "./client.ts";
import type { Network } from "./networks.ts";
import { ProviderError } from "./provider-error.ts";
import type { ProviderCounts, ProviderHealth } from "./provider-health.ts";
import {
  makePoolMember,
  type PooledProvider,
  type PoolMember,
  type Question,
} from "./provider-member.ts";

/**
 * A network's providers behind one interface. Each round of questions, which `heads` begins, is put to one provider:
 * the most preferred that answers, is of the right chain, lists its logs and is not behind. Where it fails, the round
 * fails, and the next is put to another; so no answer is ever made of two providers' chains.
 */
export interface ProviderPool {
  readonly client: ChainClient;
  /** Each by itself, in order of preference; one that is left alone throws ProviderError without being asked. */
  readonly providers: readonly ChainClient[];
  /** Since when a provider, by its name, fails or is not used; null where it answered its last question. */
  unusableSince(provider: string): Instant | null;
  /** Whether some provider may be asked now: after a failure another round makes sense at once. */
  isReady(): boolean;
  /**
   * Whether some provider may be asked now that nothing speaks against: after an answer that cannot be true another
   * round makes sense at once. The only provider is asked again at the next poll.
   */
  isAnotherReady(): boolean;
  /** The provider in use left out transfers that it has receipts for: it is not used until a probe finds them. */
  distrust(reason: string): void;
  /** The answers of the provider in use do not fit together, or are of another fork: others are asked before it. */
  passOver(reason: string): void;
  /** A provider, by its name, gave a block a time that cannot be true or that two others contradict. */
  doubtTime(provider: string, reason: string): void;
  /** Looks after those that are not in use, when that is due: their tips, and whether they list their logs. */
  check(): Promise<void>;
  health(): readonly ProviderHealth[];
  /** Goes on from what another process wrote down: what the day's requests are, and who is not to be used. */
  resume(stored: readonly ProviderHealth[]): void;
  counts(): readonly ProviderCounts[];
}

/** The tips of those that are not in use are asked for so often. */
const checkEveryMs = minute;
/** A provider whose newest block is this much older than another's is passed over. */
const staleMs = minute;
const staleBlocksMin = 10;
/** One whose blocks are old is not asked again so soon. */
const heardMs = 30 * second;

type IsAnswer = (error: ProviderError) => boolean;
/** How a question is put: to one provider, or to the one of the round. */
type Put = <T>(
  question: Question,
  work: (client: ChainClient) => Promise<T>,
  isAnswer?: IsAnswer,
) => Promise<T>;

export function makeProviderPool(deps: {
  readonly network: Network;
  /** In order of preference, one at least. */
  readonly members: readonly PooledProvider[];
  readonly clock: Clock;
  /** From 0 up to 1, so that many processes do not ask again at the same moment. */
  readonly random: () => number;
  readonly alarms: ChainAlarms;
}): ProviderPool {
  const { network, clock, alarms } = deps;
  let current: PoolMember | null = null;
  let checkedAt: Instant = 0;
  const onLeft = (client: ChainClient) => {
    if (current?.client === client) current = null;
  };
  const members = deps.members.map((member, place) =>
    makePoolMember({ ...deps, onLeft }, member, place),
  );

  const memberOf = (provider: string) => members.find(({ client }) => client.provider === provider);
  const bestTip = () => Math.max(0, ...members.map((member) => member.tipHeight()));

  /** Those that may be asked, the most preferred first, and what is behind or was untruthful at the end. */
  function inOrder(): PoolMember[] {
    return members
      .filter((member) => !member.isLeftAlone())
      .sort((one, other) => one.rank() - other.rank());
  }

  function noneReady(): ProviderError {
    const [first] = members;
    const provider = first?.client.provider ?? network.id;
    const unasked = new ProviderError("it is not ready", { kind: "unreachable", provider });
    return first?.lastFailure() ?? unasked;
  }

  const staleBlocks = Math.max(staleBlocksMin, Math.ceil(staleMs / network.blockTimeMs));
  // Where blocks become final by many at once, one honest provider knows it before another, for a moment.
  const finalSlack = Math.max(staleBlocksMin, Math.ceil(network.finality.lagBlocks / 2));

  /**
   * A provider alone could make a payment look old, or a network unreadable, by telling of blocks that are not there:
   * where its blocks are far above those of the others, they are asked. One contradicts it whose newest block is of just
   * now, and not below what was read already.
   */
  async function isTooFarAhead(member: PoolMember, told: Heads, known: number): Promise<boolean> {
    const { provider } = member.client;
    let against: { readonly provider: string; readonly height: number } | null = null;
    const isOfNow = ({ latest }: Heads) =>
      latest.time >= Math.min(told.latest.time, clock.now()) - staleMs;
    for (const other of members) {
      if (other === member || other.rank() > 0) continue;
      const before = other.heard();
      // One that is behind says nothing about it, and is not asked at every look.
      const isBehind = before !== null && isRecent(before.at) && !isOfNow(before);
      const heard = supports(before, told) || isBehind ? before : await askHeads(other);
      if (supports(heard, told)) {
        against = null;
        break;
      }
      if (heard === null || heard.latest.height < known || !isOfNow(heard)) continue;
      against = { provider: other.client.provider, height: heard.latest.height };
    }
    if (against === null) {
      alarms.clear("provider_too_far_ahead", provider);
      return false;
    }
    const reason =
      `it tells of block ${String(told.latest.height)}, final up to ${String(told.finalized.height)}; ` +
      `the newest of ${against.provider}, which is of just now, is ${String(against.height)}`;
    member.doubt(reason);
    alarms.raise("provider_too_far_ahead", provider, `${provider} is not read: ${reason}`, {
      network: network.id,
    });
    return true;
  }

  /** Whether what one provider told of, some time ago, makes what another tells of believable. */
  function supports(heard: ReturnType<PoolMember["heard"]>, { latest, finalized }: Heads): boolean {
    if (heard === null) return false;
    const grown = Math.max(0, clock.now() - heard.at) / network.blockTimeMs;
    const { lagBlocks } = network.finality;
    // One that does not know what is final counts far down from its tip, and has nothing to say about it.
    const isCounted = heard.latest.height - heard.finalized.height === lagBlocks;
    const final =
      isCounted && lagBlocks > staleBlocks
        ? heard.latest.height
        : heard.finalized.height + finalSlack;
    return (
      latest.height <= heard.latest.height + grown + staleBlocks &&
      finalized.height <= final + grown
    );
  }

  const isRecent = (at: Instant) => Math.abs(clock.now() - at) < heardMs;

  /** What it tells of now; null where it does not answer. */
  async function askHeads(member: PoolMember): Promise<ReturnType<PoolMember["heard"]>> {
    if (member.isLeftAlone()) return null;
    try {
      await member.heads();
      return member.heard();
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      return null;
    }
  }

  /** Begins a round. */
  async function heads(known?: KnownChain): Promise<Heads> {
    const knownHeight = known?.tipHeight ?? 0;
    const wanted = Math.max(knownHeight, bestTip() - staleBlocks);
    const late: { member: PoolMember; heads: Heads }[] = [];
    current = null;
    for (const member of inOrder()) {
      try {
        const told = await member.heads(known);
        if (await isTooFarAhead(member, told, knownHeight)) continue;
        if (told.latest.height >= wanted) {
          for (const { member: behind } of late) behind.setBehind(true);
          member.setBehind(false);
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
  const within: Put = async (question, work, isAnswer) => {
    const [first] = inOrder();
    const member = current ?? first;
    if (member === undefined) throw noneReady();
    return member.ask(question, work, isAnswer);
  };

  return {
    client: {
      network: network.id,
      get provider() {
        return (current ?? inOrder()[0] ?? members[0])?.client.provider ?? "none";
      },
      heads,
      ...questions(within),
    },
    providers: members.map((member) => ({
      network: network.id,
      provider: member.client.provider,
      heads: (known) => member.heads(known),
      ...questions((...put) => member.ask(...put)),
    })),
    unusableSince: (provider) => memberOf(provider)?.unusableSince() ?? null,
    isReady: () => members.some((member) => !member.isLeftAlone()),
    isAnotherReady: () => members.some((member) => !member.isLeftAlone() && member.rank() === 0),
    distrust(reason) {
      current?.distrust(reason);
    },
    passOver(reason) {
      if (members.length === 1) return;
      current?.doubt(reason);
      current = null;
    },
    doubtTime(provider, reason) {
      const member = memberOf(provider);
      member?.doubtTime(reason);
      if (member === current && members.length > 1) current = null;
    },
    async check() {
      if (Math.abs(clock.now() - checkedAt) < checkEveryMs) return;
      checkedAt = clock.now();
      for (const member of members) {
        if (member === current || member.isLeftAlone()) continue;
        try {
          await member.heads();
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error;
        }
      }
    },
    health() {
      const best = bestTip();
      return members.map((member) => member.health(best, member === current));
    },
    resume(stored) {
      for (const [place, member] of members.entries()) {
        const own = stored.filter(({ provider }) => provider === member.client.provider);
        const before = own.find((each) => each.place === place) ?? own[0];
        if (before !== undefined) member.resume(before);
      }
    },
    counts: () => members.map((member) => member.counts()),
  };
}

/** Every question but for the heads. */
function questions(put: Put): Omit<ChainClient, "network" | "provider" | "heads"> {
  return {
    chainId: () => put("chainId", (client) => client.chainId()),
    // Fewer blocks are asked for then; fewer than one cannot be.
    transfers: (query) =>
      put(
        "transfers",
        (client) => client.transfers(query),
        ({ kind }) => kind === "range_too_large" && query.from < query.to,
      ),
    blockTransfers: (height, of) =>
      put("blockTransfers", (client) => client.blockTransfers(height, of)),
    blocks: (heights) => put("blocks", (client) => client.blocks(heights)),
    receipt: (hash) => put("receipt", (client) => client.receipt(hash)),
    decimals: (contract) => put("decimals", (client) => client.decimals(contract), isAboutContract),
  };
}

/** What a contract answers says nothing about the provider. */
function isAboutContract({ kind }: ProviderError): boolean {
  return kind === "refused" || kind === "malformed";
}
