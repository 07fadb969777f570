import { minute, second, type Clock, type Instant } from "../../../kernel/clock.ts";
import type { ChainAlarms } from "../state/alarms.ts";
import type { ChainClient, Heads, KnownChain, ListedTransfers } from "../client.ts";
import type { Network } from "../networks.ts";
import { ProviderError } from "./error.ts";
import type { OmittedTransfer, ProviderCounts, ProviderHealth } from "../state/provider-health.ts";
import type { RpcMethod } from "./call-record.ts";
import { isReply, refusalOf } from "./probe.ts";
import { makePoolMember, type PooledProvider, type PoolMember } from "./member.ts";

/**
 * Combines a network's providers behind one interface. Each round of calls, which starts with `heads`, goes to one
 * provider: the most preferred one that responds, serves the right chain, has complete logs and is not behind. If it
 * fails, the round fails, and the next round goes to another provider; so no result mixes the chains of two providers.
 */
export interface ProviderPool {
  readonly client: ChainClient;
  /**
   * A client for each provider, in order of preference. During a provider's backoff it throws ProviderError without a
   * request.
   */
  readonly providers: readonly ChainClient[];
  /** Since when the provider of this name has failed or been excluded; null if its last call succeeded. */
  unusableSince(provider: string): Instant | null;
  /** When simulated providers were last called again because their failures were ended; 0: never. */
  readmittedAt(): Instant;
  /** True if some provider may be called now: after a failure, another round can start at once. */
  isReady(): boolean;
  /**
   * True if some provider may be called now that is neither excluded nor passed over: after an impossible response,
   * another round can start at once. A sole provider is called again at the next poll.
   */
  isAnotherReady(): boolean;
  /**
   * Excludes the current provider, whose logs omitted transfers that its receipts contain, until a probe finds them.
   */
  distrust(reason: string, omitted: OmittedTransfer): void;
  /**
   * Prefers other providers, because the responses of the current one contradict each other or belong to another fork.
   */
  passOver(reason: string): void;
  /**
   * Distrusts the provider of this name, because it gave a block an impossible time, or one that two others contradict.
   * `reason` becomes an alarm, so it has no heights and times, which change with each response: those are `details`, for
   * the log.
   */
  suspectTime(provider: string, reason: string, details?: Readonly<Record<string, unknown>>): void;
  /** Checks the providers that are not in use, if that is due: reads their tips, and probes their logs. */
  check(): Promise<void>;
  health(): readonly ProviderHealth[];
  /** Continues from the health that another process stored: requests of the day, and excluded providers. */
  resume(stored: readonly ProviderHealth[]): void;
  counts(): readonly ProviderCounts[];
}

/** Interval at which the tips of providers that are not in use are read. */
const checkEveryMs = minute;

type IsReply = (error: ProviderError) => boolean;
/** Makes a call: to a given provider, or to that of the round. */
type Put = <T>(
  question: RpcMethod,
  work: (client: ChainClient) => Promise<T>,
  isReply?: IsReply,
) => Promise<T>;

interface PoolDependencies {
  readonly network: Network;
  /** In order of preference, at least one. */
  readonly members: readonly PooledProvider[];
  readonly clock: Clock;
  /** Returns a number from 0 to below 1. Spreads the retries of several processes over time. */
  readonly random: () => number;
  readonly alarms: ChainAlarms;
}

export function makeProviderPool(deps: PoolDependencies): ProviderPool {
  const { network, clock } = deps;
  let current: PoolMember | null = null;
  let checkedAt: Instant = 0;
  const onLeft = (client: ChainClient) => {
    if (current?.client === client) current = null;
  };
  const members = deps.members.map((member, position) =>
    makePoolMember({ ...deps, providers: deps.members.length, onLeft }, member, position),
  );

  const memberOf = (provider: string) => members.find(({ client }) => client.provider === provider);

  /** Starts a round. */
  async function heads(known?: KnownChain): Promise<Heads> {
    current = null;
    if (await readmit(members)) checkedAt = 0;
    const chosen = await chooseFor(deps, members, known);
    current = chosen.member;
    return chosen.heads;
  }

  /** Makes a call within the round. */
  const within: Put = async (question, work, isReply) => {
    const [first] = inOrder(members);
    const member = current ?? first;
    if (member === undefined) throw noneReady(network, members);
    return member.ask(question, work, isReply);
  };

  return {
    client: {
      network: network.id,
      get provider() {
        return (current ?? inOrder(members)[0] ?? members[0])?.client.provider ?? "none";
      },
      heads,
      ...questions(within),
    },
    providers: members.map((member) => clientOf(network, member)),
    unusableSince: (provider) => memberOf(provider)?.unusableSince() ?? null,
    readmittedAt: () => Math.max(0, ...members.map((member) => member.readmittedAt())),
    isReady: () => inOrder(members).length > 0,
    isAnotherReady: () => inOrder(members)[0]?.rank() === 0,
    distrust(reason, omitted) {
      current?.distrust(reason, omitted);
    },
    passOver(reason) {
      if (members.length === 1) return;
      current?.suspect(reason);
      current = null;
    },
    suspectTime(provider, reason, details) {
      const member = memberOf(provider);
      member?.suspectTime(reason, details);
      if (member === current && members.length > 1) current = null;
    },
    async check() {
      if (Math.abs(clock.now() - checkedAt) < checkEveryMs) return;
      checkedAt = clock.now();
      await probe(members, (member) => member !== current && !member.isLeftAlone());
    },
    health: () => healthOf(members, current),
    resume(stored) {
      resume(members, stored);
    },
    counts: () => members.map((member) => member.counts()),
  };
}

/** The providers that may be called, the most preferred first, slow ones after them, and those that are behind or distrusted last. */
function inOrder(members: readonly PoolMember[]): PoolMember[] {
  return members
    .filter((member) => !member.isLeftAlone())
    .sort(
      (one, other) => one.rank() - other.rank() || Number(one.isSlow()) - Number(other.isSlow()),
    );
}

function bestTip(members: readonly PoolMember[]): number {
  return Math.max(0, ...members.map((member) => member.tipHeight()));
}

/** Returns the last failure of the most preferred provider. */
function noneReady(network: Network, [first]: readonly PoolMember[]): ProviderError {
  const provider = first?.client.provider ?? network.id;
  const unasked = new ProviderError("it is not ready", { kind: "unreachable", provider });
  return first?.lastFailure() ?? unasked;
}

/** Reads the tips of those providers that may be called when it is their turn. */
async function probe(
  members: readonly PoolMember[],
  mayBeCalled: (member: PoolMember) => boolean,
): Promise<void> {
  for (const member of members) {
    if (!mayBeCalled(member)) continue;
    try {
      await member.heads();
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
    }
  }
}

function healthOf(members: readonly PoolMember[], current: PoolMember | null): ProviderHealth[] {
  const best = bestTip(members);
  return members.map((member) => member.health(best, member === current));
}

/** Ends the backoff of simulated providers whose failures were ended; returns true if there are any. */
async function readmit(members: readonly PoolMember[]): Promise<boolean> {
  let isAny = false;
  for (const member of members) if (await member.readmit()) isAny = true;
  return isAny;
}

function resume(members: readonly PoolMember[], stored: readonly ProviderHealth[]): void {
  for (const [position, member] of members.entries()) {
    const own = stored.filter(({ provider }) => provider === member.client.provider);
    const before = own.find((each) => each.place === position) ?? own[0];
    if (before !== undefined) member.resume(before);
  }
}

interface Chosen {
  readonly member: PoolMember;
  readonly heads: Heads;
}

/** Chooses the provider of a round that continues from the known chain. Throws ProviderError if none is ready. */
async function chooseFor(
  deps: PoolDependencies,
  members: readonly PoolMember[],
  known: KnownChain | undefined,
): Promise<Chosen> {
  const { network } = deps;
  const knownHeight = known?.tipHeight ?? 0;
  const wanted = Math.max(knownHeight, bestTip(members) - staleBlocksOf(network));
  const chosen = await choose(inOrder(members), wanted, async (member) => {
    const reported = await member.heads(known);
    const checks = { ...deps, members };
    return (await isTooFarAhead(checks, member, reported, knownHeight)) ? null : reported;
  });
  if (chosen === null) throw noneReady(network, members);
  return chosen;
}

/**
 * Returns the first provider whose newest block is at least `wanted`, and marks those before it as behind; without such
 * a provider, the one with the newest block. Null if none responds.
 */
async function choose(
  members: readonly PoolMember[],
  wanted: number,
  headsOf: (member: PoolMember) => Promise<Heads | null>,
): Promise<Chosen | null> {
  const late: Chosen[] = [];
  for (const member of members) {
    try {
      const heads = await headsOf(member);
      if (heads === null) continue;
      if (heads.latest.height >= wanted) {
        for (const { member: behind } of late) behind.setBehind(true);
        member.setBehind(false);
        return { member, heads };
      }
      late.push({ member, heads });
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
    }
  }
  const [best = null] = late.sort(
    (one, other) => other.heads.latest.height - one.heads.latest.height,
  );
  return best;
}

/** Returns the client of one provider. */
function clientOf(network: Network, member: PoolMember): ChainClient {
  return {
    network: network.id,
    provider: member.client.provider,
    heads: (known) => member.heads(known),
    ...questions((...put) => member.ask(...put)),
  };
}

/** Wraps every method except `heads`. */
function questions(put: Put): Omit<ChainClient, "network" | "provider" | "heads"> {
  return {
    chainId: () => put("chainId", (client) => client.chainId()),
    // The caller then asks for fewer blocks, unless the range is a single block.
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
    receipts: (hashes) => put("receipt", (client) => receiptsOf(client, hashes)),
    transfersIn: (hash, of) =>
      put("transfersIn", (client) => client.transfersIn?.(hash, of) ?? notOffered(), isReply),
    refusal: (query) =>
      put(
        "refusal",
        (client) => refusalOf(client, query),
        ({ kind }) => kind === "range_too_large",
      ),
    decimals: (contract) => put("decimals", (client) => client.decimals(contract), isAboutContract),
  };
}

/** Reads several receipts, in one request if the client can; each may have an error of its own. */
export function receiptsOf(
  client: ChainClient,
  hashes: readonly string[],
): ReturnType<NonNullable<ChainClient["receipts"]>> {
  if (client.receipts !== undefined) return client.receipts(hashes);
  return Promise.all(
    hashes.map((hash) =>
      client.receipt(hash).catch((error: unknown) => {
        if (error instanceof ProviderError) return error;
        throw error;
      }),
    ),
  );
}

/** The transfers of a block by its hash, from a provider that does not offer them. */
function notOffered(): Promise<Omit<ListedTransfers, "latest">> {
  return Promise.resolve({ logs: [] });
}

/** A response about a contract says nothing about the provider. */
function isAboutContract({ kind }: ProviderError): boolean {
  return kind === "refused" || kind === "malformed";
}

/** A provider is passed over if its newest block is this much older than another's. */
const staleMs = minute;
const staleBlocksMin = 10;
/** For this long, the last heads of a provider whose blocks are old are used instead of a new call. */
const heardMs = 30 * second;

interface Deps {
  readonly network: Network;
  readonly clock: Clock;
  readonly alarms: ChainAlarms;
  readonly members: readonly PoolMember[];
}

/** Returns the number of blocks by which a provider may be below another's newest block. */
function staleBlocksOf({ blockTimeMs }: Network): number {
  return Math.max(staleBlocksMin, Math.ceil(staleMs / blockTimeMs));
}

/**
 * A single provider could make a payment look old, or a network unreadable, by reporting blocks that do not exist. If
 * its blocks are far above those of the others, this asks the others. Another provider contradicts it if its own
 * newest block is current and not below the highest block already read.
 */
async function isTooFarAhead(
  deps: Deps,
  member: PoolMember,
  reported: Heads,
  known: number,
): Promise<boolean> {
  const { network, clock, alarms, members } = deps;
  const { provider } = member.client;
  let against: { readonly provider: string; readonly height: number } | null = null;
  const isRecent = (at: Instant) => Math.abs(clock.now() - at) < heardMs;
  const isOfNow = ({ latest }: Heads) =>
    latest.time >= Math.min(reported.latest.time, clock.now()) - staleMs;
  for (const other of members) {
    if (other === member || other.rank() > 0) continue;
    const before = other.heard();
    // A provider that is behind proves nothing here, and is not called in every scan.
    const isBehind = before !== null && isRecent(before.at) && !isOfNow(before);
    const heard = supports(deps, before, reported) || isBehind ? before : await askHeads(other);
    if (supports(deps, heard, reported)) {
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
  const reason = `its newest block is far above that of ${against.provider}, which is current`;
  member.suspect(reason);
  alarms.raise("provider_too_far_ahead", provider, `${provider} is not read: ${reason}`, {
    network: network.id,
    blockHeight: reported.latest.height,
    finalHeight: reported.finalized.height,
    otherHeight: against.height,
  });
  return true;
}

/** True if the heads that one provider reported earlier make those of another plausible. */
function supports(
  { network, clock }: Deps,
  heard: ReturnType<PoolMember["heard"]>,
  { latest, finalized }: Heads,
): boolean {
  if (heard === null) return false;
  const grown = Math.max(0, clock.now() - heard.at) / network.blockTimeMs;
  const { lagBlocks } = network.finality;
  const staleBlocks = staleBlocksOf(network);
  // If many blocks become final at once, honest providers learn of it at slightly different times.
  const finalSlack = Math.max(staleBlocksMin, Math.ceil(lagBlocks / 2));
  // A provider that does not know the final block derives it from its tip by a large lag, so its final block proves
  // nothing.
  const isCounted = heard.latest.height - heard.finalized.height === lagBlocks;
  const final =
    isCounted && lagBlocks > staleBlocks
      ? heard.latest.height
      : heard.finalized.height + finalSlack;
  return (
    latest.height <= heard.latest.height + grown + staleBlocks && finalized.height <= final + grown
  );
}

/** Returns its current heads; null if it does not respond. */
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
