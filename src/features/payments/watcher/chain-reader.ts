import type {
  Address,
  ChainClient,
  Head,
  Heads,
  ListedTransfers,
  TransferLog,
  UnreadableLog,
} from "../../../platform/chain/client.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import type { ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import { ancestorAgeMs, ancestorSlackMs } from "../../../platform/chain/state/head-times.ts";
import { ProviderError } from "../../../platform/chain/providers/error.ts";
import type { KnownBlock, NetworkStateRow } from "../../../platform/chain/state/network-state.ts";
import type { Instant } from "../../../kernel/clock.ts";
import type { OmittedTransfer } from "../../../platform/chain/state/provider-health.ts";

/** The result of a scan: every transfer to the watched addresses in a range of blocks. */
export interface ChainRead {
  /** The last known block below the range. It is on the same chain and was not read again. */
  readonly base: KnownBlock;
  /** True if kept blocks above `base` are no longer on the chain. */
  readonly isRewound: boolean;
  /** The last block of the range; the range is empty if the chain ends at `base`. */
  readonly to: Head;
  readonly latest: Head;
  readonly finalized: Head;
  readonly logs: readonly TransferLog[];
  /** The logs that may be transfers to the watched addresses and cannot be read. */
  readonly unreadable: readonly UnreadableLog[];
}

export interface ChainReadRequest {
  readonly client: ChainClient;
  /** The network's individual providers. */
  readonly providers: readonly ChainClient[];
  readonly network: Network;
  readonly state: NetworkStateRow;
  /** Scanned blocks above the cursor whose hashes were kept. */
  readonly known: readonly KnownBlock[];
  readonly heads: Heads;
  readonly contracts: readonly Address[];
  readonly recipients: Recipients;
  readonly rangeSize: RangeSize;
  /** The last block to read, if no provider reads those above it; by default the newest one. */
  readonly notAbove?: number;
}

/** The watched addresses. Read after the heads: transfers to addresses added later are for the next scan. */
export interface Recipients {
  /** Null if there are so many that every transfer is fetched and filtered with `among`. */
  readonly addresses: readonly Address[] | null;
  /** Returns the given addresses that are watched. */
  among(addresses: readonly Address[]): Promise<ReadonlySet<Address>>;
}

/**
 * A fault of the provider: it reported an impossible block time, denied a final block that another provider has, or
 * listed a log that cannot be read.
 */
type ReplyFault = "wrong_time" | "denies_final" | "unreadable_log";

/** The answers are inconsistent, because the chain or the provider changed meanwhile: the scan must be repeated. */
export class ReplyDropped extends Error {
  override readonly name = "ReplyDropped";
  /** Why the provider is distrusted for now; null if it is not at fault. */
  readonly fault: ReplyFault | null;
  /** Heights and times for the log. The message becomes an alarm, so it holds no values that change with each answer. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    message: string,
    fault: ReplyFault | null = null,
    details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
    this.fault = fault;
    this.details = details;
  }
}

/** The provider omitted a transfer for which it has the receipt. */
export class TransferOmitted extends ReplyDropped {
  readonly omitted: OmittedTransfer;

  constructor(message: string, omitted: OmittedTransfer) {
    super(message);
    this.omitted = omitted;
  }
}

/** The provider does not have a block that was read, or is to be read. */
export class BlockMissing extends ReplyDropped {}

/** Reads new blocks, and those again that may have been replaced. */
export async function readChain(request: ChainReadRequest): Promise<ChainRead> {
  const { client, network, heads, rangeSize, notAbove = Infinity } = request;
  const { latest, finalized } = heads;
  await assertNotBeforeTip(request);
  const { base, isRewound } = await findBase(request);
  const most = Math.max(rangeSize.current(), 2 * network.windowBlocks);
  const toHeight = Math.min(latest.height, base.height + most, notAbove);
  // The end of the range is read before its logs and checked after them.
  const to = toHeight === latest.height ? latest : await blockAt(client, toHeight);
  if (to.time > latest.time || to.time < (heads.known?.time ?? 0)) throw wrongTime(to);
  const listed =
    request.recipients.addresses?.length !== 0
      ? await readLogs(request, base.height + 1, to, latest)
      : { logs: [], unreadable: [] };
  return { base, isRewound, to, latest, finalized, ...listed };
}

/**
 * Throws if the newest block is older than the newest scanned block, its ancestor. Otherwise a provider could date a
 * payment above the final block before its invoice.
 */
async function assertNotBeforeTip({
  client,
  providers,
  state,
  heads,
}: ChainReadRequest): Promise<void> {
  const { latest } = heads;
  const { tipHeight, tipHash } = state;
  if (latest.time >= timeAboveTip(state, providers.length) || latest.height < tipHeight) return;
  const tip = latest.height === tipHeight ? latest : await blockAt(client, tipHeight);
  if (tip.hash === tipHash) throw wrongTime(latest);
}

/**
 * Returns the least time of blocks that are built on the newest scanned block of a network with so many providers. A false
 * time of that block must not exclude honest ones for longer than `ancestorAgeMs`.
 */
export function timeAboveTip({ tipTime, scannedAt }: NetworkStateRow, providers: number): Instant {
  return Math.min(tipTime, scannedAt - ancestorAgeMs) - ancestorSlackMs(providers);
}

/** Returns the error for a block time outside the times of the block's ancestors and descendants. */
export function wrongTime({ height }: Pick<Head, "height">): ReplyDropped {
  return new ReplyDropped(
    "it reports a block time before its ancestors' or after its descendants'",
    "wrong_time",
    { blockHeight: height },
  );
}

/**
 * Returns the newest known block below the window. Above the cursor its hash is checked: if it has changed, the range
 * starts lower, at the newest known block with an unchanged hash.
 */
async function findBase(request: ChainReadRequest): Promise<Pick<ChainRead, "base" | "isRewound">> {
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
  const agreeing = older.find(({ hash }, index) => blocks[index]?.hash === hash);
  return { base: agreeing ?? cursor, isRewound: true };
}

/** Returns a block that must exist; throws ReplyDropped if the provider does not have it. */
export async function blockAt(client: ChainClient, height: number): Promise<Head> {
  const [block] = await client.blocks([height]);
  if (block === undefined || block === null) {
    throw new BlockMissing("the provider does not have a block that is to be read", null, {
      blockHeight: height,
    });
  }
  return block;
}

/** The inputs for reading logs. */
type LogRequest = Pick<ChainReadRequest, "client" | "contracts" | "recipients" | "rangeSize">;

/** Returns the transfers in a range of blocks, and its unreadable logs, in as many requests as the provider needs. */
export async function readLogs(
  request: LogRequest,
  from: number,
  to: Head,
  latest: Head,
): Promise<Pick<ChainRead, "logs" | "unreadable">> {
  const { client, contracts, rangeSize } = request;
  const recipients = request.recipients.addresses;
  const logs: TransferLog[] = [];
  const unreadable: UnreadableLog[] = [];
  let hasGrown = false;
  let next = from;
  while (next <= to.height) {
    const last = Math.min(to.height, next + rangeSize.current() - 1);
    const reply = await readRange(client, rangeSize, {
      from: next,
      to: last,
      contracts,
      recipients,
    });
    if (reply === null) continue;
    // A node behind the end of the range does not have the last transfers.
    if (reply.latest.height < to.height) throw new ReplyDropped("the provider's tip went back");
    hasGrown ||= reply.latest.hash !== latest.hash;
    logs.push(...(await wanted(reply.logs, request)));
    unreadable.push(...(reply.unreadable ?? []));
    next = last + 1;
  }
  // The tip has changed: the answers belong to one chain only if it still has the end of the range.
  if (hasGrown && (await blockAt(client, to.height)).hash !== to.hash) {
    throw new ReplyDropped("the chain was reorganized while it was read");
  }
  const { consistent, displaced } = ofOneBlock(logs);
  return { logs: consistent, unreadable: [...unreadable, ...displaced] };
}

/**
 * Returns the logs that are in the first block of their transaction, which is in no second one, and the others as
 * unreadable: they are the same transfers once more, or a provider's lie.
 */
function ofOneBlock(logs: readonly TransferLog[]): {
  readonly consistent: readonly TransferLog[];
  readonly displaced: readonly UnreadableLog[];
} {
  const blocks = new Map<string, string>();
  const displaced: UnreadableLog[] = [];
  const consistent = logs.filter(({ transactionHash, blockHeight, blockHash }) => {
    const first = blocks.get(transactionHash) ?? blockHash;
    blocks.set(transactionHash, first);
    if (first === blockHash) return true;
    displaced.push({ transactionHash, blockHeight, reason: "its transaction is in two blocks" });
    return false;
  });
  return { consistent, displaced };
}

/** The largest number of unreadable logs of one answer that are reported individually. */
const unreadableMax = 20;

/**
 * Raises an alarm for each transaction of which money may be missing, because a provider's logs cannot be read and no
 * other provider is asked instead. The range counts as read, so that the other money arrives.
 */
export function reportUnreadable(
  { alarms, network }: { readonly alarms: ChainAlarms; readonly network: Pick<Network, "id"> },
  provider: string,
  unreadable: readonly UnreadableLog[],
): void {
  for (const { transactionHash, blockHeight, reason } of unreadable.slice(0, unreadableMax)) {
    const location = blockHeight === null ? "a block" : `block ${String(blockHeight)}`;
    alarms.raise(
      "log_unreadable",
      transactionHash ?? location,
      `${provider} lists a log in ${location} that may be a payment and cannot be read: ${reason}. Look at the transaction ` +
        "in a block explorer. With another provider, till chain scan enters the payment",
      { network: network.id, transactionHash, blockHeight, provider },
    );
  }
}

/** Reads the logs of a range; returns null if the provider refused its size, so that a smaller range is read next. */
async function readRange(
  client: ChainClient,
  rangeSize: RangeSize,
  query: Parameters<ChainClient["transfers"]>[0],
): Promise<ListedTransfers | null> {
  const span = query.to - query.from + 1;
  try {
    const reply = await client.transfers(query);
    rangeSize.accepted(span);
    return reply;
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== "range_too_large") throw error;
    if (!rangeSize.refused(span)) throw error;
    return null;
  }
}

/** Filters logs by contract and address, independently of the client's filter. */
async function wanted(
  logs: readonly TransferLog[],
  { contracts, recipients }: LogRequest,
): Promise<TransferLog[]> {
  const money = logs.filter(({ amount, contract }) => amount > 0n && contracts.includes(contract));
  if (money.length === 0) return [];
  const addresses = await recipients.among([...new Set(money.map(({ to }) => to))]);
  return money.filter(({ to }) => addresses.has(to));
}

/** The number of blocks per request, learned from the ranges that the provider accepts and refuses. */
export interface RangeSize {
  current(): number;
  accepted(blocks: number): void;
  /** Notes a refused range; returns false if the size cannot shrink. */
  refused(blocks: number): boolean;
}

const rangeStart = 200;
/** The number of accepted ranges after which a larger range is tried again. */
const patience = 50;

export function makeRangeSize(most: number): RangeSize {
  let size = Math.min(rangeStart, most);
  /** The number of blocks that was last refused. */
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
