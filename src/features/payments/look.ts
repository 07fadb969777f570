import type {
  Address,
  ChainClient,
  Head,
  Heads,
  TransferLog,
} from "../../platform/chain/client.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { ancestorAgeMs } from "../../platform/chain/head-times.ts";
import { ProviderError } from "../../platform/chain/provider-error.ts";
import type { KnownBlock, NetworkStateRow } from "../../platform/chain/state.ts";

/** What a look at the chain found: every transfer to the watched addresses in a range of blocks. */
export interface Look {
  /** The last block that is known already and was not read again: on the same chain as the range. */
  readonly base: KnownBlock;
  /** Kept blocks above `base` are not on the chain any more. */
  readonly isRewound: boolean;
  /** The range's last block; the range is empty where the chain ends at `base`. */
  readonly to: Head;
  readonly latest: Head;
  readonly finalized: Head;
  readonly logs: readonly TransferLog[];
}

export interface LookRequest {
  readonly client: ChainClient;
  readonly network: Network;
  readonly state: NetworkStateRow;
  /** Scanned blocks above the cursor whose hashes were kept. */
  readonly known: readonly KnownBlock[];
  readonly heads: Heads;
  readonly contracts: readonly Address[];
  readonly recipients: Recipients;
  readonly rangeSize: RangeSize;
}

/** Whose money is looked for. Read after the heads: money that came later than those is for the next look. */
export interface Recipients {
  /** Null: so many that every transfer is fetched, and `among` tells which are theirs. */
  readonly addresses: readonly Address[] | null;
  /** Those of the addresses that are looked for. */
  among(addresses: readonly Address[]): Promise<ReadonlySet<Address>>;
}

/**
 * It left out transfers that it has receipts for, gave a block a time that cannot be true, or denies a final block that
 * another provider has.
 */
export type AnswerFault = "left_out" | "wrong_time" | "denies_final";

/** The answers do not belong together, because the chain or the provider went on meanwhile: look again. */
export class AnswerDropped extends Error {
  override readonly name = "AnswerDropped";
  /** Why the provider is not to be believed for now; null where nothing speaks against it. */
  readonly fault: AnswerFault | null;
  /** Heights and times, for the log. The message becomes an alarm, so it has none that change with each answer. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    fault: AnswerFault | null = null,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.fault = fault;
    this.details = details;
  }
}

/** Reads what is new, and again what may have changed. */
export async function look(request: LookRequest): Promise<Look> {
  const { client, network, heads, rangeSize } = request;
  const { latest, finalized } = heads;
  await assertNotBeforeTip(request);
  const { base, isRewound } = await findBase(request);
  const most = Math.max(rangeSize.current(), 2 * network.windowBlocks);
  const toHeight = Math.min(latest.height, base.height + most);
  // The end of the range is asked for before its logs, and checked after them.
  const to = toHeight === latest.height ? latest : await blockAt(client, toHeight);
  if (to.time > latest.time || to.time < (heads.known?.time ?? 0)) throw wrongTime(to);
  const logs =
    toHeight > base.height && request.recipients.addresses?.length !== 0
      ? await readLogs(request, base.height + 1, to, latest)
      : [];
  return { base, isRewound, to, latest, finalized, logs };
}

/**
 * Throws where the newest block is older than the newest scanned one, on which it is built. Above the final block, a
 * provider could put a payment before its invoice otherwise.
 */
async function assertNotBeforeTip({ client, state, heads }: LookRequest): Promise<void> {
  const { latest } = heads;
  const { tipHeight, tipHash, tipTime, scannedAt } = state;
  // A lie about the scanned block's time shuts no honest provider out for longer than a minute.
  if (latest.time >= Math.min(tipTime, scannedAt - ancestorAgeMs)) return;
  if (latest.height < tipHeight) return;
  const tip = latest.height === tipHeight ? latest : await blockAt(client, tipHeight);
  if (tip.hash === tipHash) throw wrongTime(latest);
}

/** The dropped answer of a provider that gave a block a time outside of those of its ancestors and descendants. */
export function wrongTime({ height }: Pick<Head, "height">): AnswerDropped {
  return new AnswerDropped(
    "it gives a block a time before its ancestors' or after its descendants'",
    "wrong_time",
    { blockHeight: height },
  );
}

/**
 * The newest known block below the window that is read again. Above the cursor it is asked for: where its hash has
 * changed, the newest that has not takes its place, and the range starts that much lower.
 */
async function findBase(request: LookRequest): Promise<Pick<Look, "base" | "isRewound">> {
  const { client, network, state, known, heads } = request;
  const cursor = { height: state.cursorHeight, hash: state.cursorHash };
  const tip = { height: state.tipHeight, hash: state.tipHash };
  const lowest = heads.latest.height - network.windowBlocks + 1;
  const [newest, ...older] = [...known, tip]
    .filter(({ height }) => height > cursor.height && height < lowest)
    .sort((one, other) => other.height - one.height);
  if (newest === undefined) return { base: cursor, isRewound: false };
  const block = await blockAt(client, newest.height);
  if (block.hash === newest.hash) return { base: newest, isRewound: false };
  const blocks = await client.blocks(older.map(({ height }) => height));
  const agreeing = older.find(({ hash }, place) => blocks[place]?.hash === hash);
  return { base: agreeing ?? cursor, isRewound: true };
}

/** A block that must be there: AnswerDropped where it is not. */
export async function blockAt(client: ChainClient, height: number): Promise<Head> {
  const [block] = await client.blocks([height]);
  if (block === undefined || block === null) {
    throw new AnswerDropped("the provider does not have a block that is to be read", null, {
      blockHeight: height,
    });
  }
  return block;
}

/** What logs are read with. */
export type LogRequest = Pick<LookRequest, "client" | "contracts" | "recipients" | "rangeSize">;

/** The transfers from a block to another, in as many requests as the provider needs. */
export async function readLogs(
  request: LogRequest,
  from: number,
  to: Head,
  latest: Head,
): Promise<TransferLog[]> {
  const { client, contracts, rangeSize } = request;
  const recipients = request.recipients.addresses;
  const logs: TransferLog[] = [];
  let hasGrown = false;
  let next = from;
  while (next <= to.height) {
    const last = Math.min(to.height, next + rangeSize.current() - 1);
    const answer = await readRange(client, rangeSize, {
      from: next,
      to: last,
      contracts,
      recipients,
    });
    if (answer === null) continue;
    // A node that is behind the range's end does not have its last transfers.
    if (answer.latest.height < to.height) throw new AnswerDropped("the provider's tip went back");
    hasGrown ||= answer.latest.hash !== latest.hash;
    logs.push(...(await wanted(answer.logs, request)));
    next = last + 1;
  }
  // The tip moved on: the answers are of one chain only if that chain still has the range's end.
  if (hasGrown && (await blockAt(client, to.height)).hash !== to.hash) {
    throw new AnswerDropped("the chain was reorganised while it was read");
  }
  return logs;
}

/** Null: the provider refused so many blocks, and fewer are asked for next. */
async function readRange(
  client: ChainClient,
  rangeSize: RangeSize,
  query: Parameters<ChainClient["transfers"]>[0],
): Promise<{ readonly logs: readonly TransferLog[]; readonly latest: Head } | null> {
  const span = query.to - query.from + 1;
  try {
    const answer = await client.transfers(query);
    rangeSize.accepted(span);
    return answer;
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== "range_too_large") throw error;
    if (!rangeSize.refused(span)) throw error;
    return null;
  }
}

/** What a client leaves out is left out again: only these contracts' money, to these addresses, counts. */
async function wanted(
  logs: readonly TransferLog[],
  { contracts, recipients }: LogRequest,
): Promise<TransferLog[]> {
  const money = logs.filter(({ amount, contract }) => amount > 0n && contracts.includes(contract));
  if (money.length === 0) return [];
  const addresses = await recipients.among([...new Set(money.map(({ to }) => to))]);
  return money.filter(({ to }) => addresses.has(to));
}

/** How many blocks a provider is asked for at once; learned from what it takes and refuses. */
export interface RangeSize {
  current(): number;
  accepted(blocks: number): void;
  /** False where it cannot be less. */
  refused(blocks: number): boolean;
}

const rangeStart = 200;
/** After so many ranges of the size that just fits, a larger one is tried again. */
const patience = 50;

export function makeRangeSize(most: number): RangeSize {
  let size = Math.min(rangeStart, most);
  /** The smallest number that was refused. */
  let refusedAt = Infinity;
  let acceptedSince = 0;
  return {
    current: () => size,
    accepted(blocks) {
      acceptedSince += 1;
      if (acceptedSince >= patience) refusedAt = Infinity;
      if (blocks < size) return;
      size = Math.min(most, Math.ceil(size * 1.5), Math.max(size, refusedAt - 1));
    },
    refused(blocks) {
      if (blocks <= 1) return false;
      refusedAt = blocks;
      acceptedSince = 0;
      size = Math.max(1, Math.floor(blocks / 2));
      return true;
    },
  };
}
