import { minute, type Clock, type Instant } from "../../../kernel/clock.ts";
import { assert } from "../../../kernel/errors.ts";
import {
  mayHide,
  type Address,
  type ChainClient,
  type Head,
  type Heads,
  type TransferLog,
} from "../../../platform/chain/client.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import {
  knownBlocks,
  type KnownBlock,
  type NetworkStateRow,
} from "../../../platform/chain/state/network-state.ts";
import type { Reader } from "../../../platform/database/database.ts";
import type { AskedBlock, BlockTimes } from "./block-times.ts";
import {
  ReplyDropped,
  blockAt,
  readChain,
  timeAboveTip,
  TransferOmitted,
  wrongTime,
  type ChainRead,
  type RangeSize,
  type Recipients,
} from "./chain-reader.ts";
import { marksAbove } from "../../invoices/holds/holds.ts";
import { watchedAddresses, watchedAmong } from "../../invoices/holds/addresses.ts";
import { activeAddresses, activeAmong } from "../../wallets/store.ts";
import { withinInboxLimit } from "../ledger/inbox-limit.ts";
import { revocableTransfers, transfersOfTransactions } from "../ledger/store.ts";
import type { TransferRow } from "../table.ts";
import { isStillThere } from "./receipt-verifier.ts";
import {
  compareWindow,
  identityOf,
  isSame,
  keyInBlock,
  type TimedLog,
  type WindowDifference,
} from "../ledger/chain-diff.ts";

/** The result of a scan compared with the stored transfers. */
export interface ChainChanges {
  readonly read: ChainRead;
  /** The provider that was read. */
  readonly provider: string;
  /** The kept blocks before this scan. */
  readonly known: readonly KnownBlock[];
  readonly difference: WindowDifference<TimedLog>;
  /** The hashes of holds' marks, at or above changed transfers, that the chain has. */
  readonly marks: readonly string[];
  /** True if some transfers are not final, or were not before this scan. */
  readonly hasRevocable: boolean;
  /** True if so many addresses are watched that every transfer of the network was fetched. */
  readonly isUnfiltered: boolean;
  /** Why the times of the logs are not believed, and those of their blocks are; null if they are. */
  readonly wrongTime: ReplyDropped | null;
}

interface ChangesRequest {
  readonly db: Reader;
  readonly client: ChainClient;
  /** The network's individual providers. */
  readonly providers: readonly ChainClient[];
  readonly network: Network;
  readonly state: NetworkStateRow;
  readonly heads: Heads;
  readonly times: BlockTimes;
  readonly ancestors: AncestorTimes;
  readonly rangeSize: RangeSize;
  /** Returns true if another provider can be read instead of one whose answers are impossible. */
  readonly hasAlternative: () => boolean;
  /** The last block to read; by default the newest one. */
  readonly notAbove?: number;
}

/**
 * The largest number of addresses by which providers filter, in requests of 1,000 addresses at most. With more, all
 * transfers of the network are fetched and filtered here.
 */
export const recipientsMax = 5_000;

/** The largest number of receipts that are checked for missing transfers. */
const receiptsMax = 20;

export async function findChanges(request: ChangesRequest): Promise<ChainChanges> {
  const { db, client, network } = request;
  const [revocable, known] = await Promise.all([
    revocableTransfers(db, network.id),
    knownBlocks(db, network.id),
  ]);
  const recipients = await recipientsOf(request, revocable);
  const contracts = network.tokens.map(({ contract }) => contract);
  const read = await readChain({ ...request, known, contracts, recipients });
  const { provider } = client;
  const stored = await withTheirTransactions(request, revocable, read.logs);
  const range = { from: read.base.height + 1, to: read.to.height };
  let wrongTime: ReplyDropped | null = null;
  const logs = await withTimes(request, stored, read.logs, {
    after: request.heads.known?.time ?? 0,
    before: read.to.time,
    check: (asked) => request.ancestors.assertNoneBeforeTip(request, asked),
    onWrongTime(error) {
      if (request.hasAlternative()) throw error;
      wrongTime = error;
    },
  });
  const compared = compareWindow(stored, logs, range);
  // A transfer is not gone if its log may be one that cannot be read.
  const orphaned = compared.orphaned.filter((row) => !mayHide(read.unreadable, row));
  const changed = [...compared.fresh, ...compared.moved.map(({ log }) => log)];
  const marks = await marksOnChain(request, changed);
  const { kept: fresh } = await withinInboxLimit(db, network, compared.fresh, {
    tipHeight: read.to.height,
    hashes: marks,
  });
  const difference = { ...compared, orphaned, fresh };
  await assertGone(client, difference.orphaned);
  return {
    read,
    provider,
    known,
    difference,
    marks,
    hasRevocable: revocable.length > 0 || !isSame(difference),
    isUnfiltered: recipients.addresses === null,
    wrongTime,
  };
}

/**
 * Returns the hashes of the marks that the chain has, among those of holds at the addresses of transfers that are at the
 * height of the transfer or above: it was made before their invoices. Only transfers in blocks that were read before can be,
 * so that others cost no request. The newest block that was read counts for holds that are made meanwhile; `more` are other
 * marks that are compared.
 */
export async function marksOnChain(
  {
    db,
    client,
    network,
    state: { tipHeight, tipHash },
  }: Pick<ChangesRequest, "db" | "client" | "network" | "state">,
  logs: readonly Pick<TransferLog, "to" | "blockHeight">[],
  more: readonly KnownBlock[] = [],
): Promise<readonly string[]> {
  const low = logs.filter(({ blockHeight }) => blockHeight <= tipHeight);
  if (low.length === 0) return [];
  const positions = low.map(({ to: address, blockHeight: height }) => ({ address, height }));
  const marks = [
    { height: tipHeight, hash: tipHash },
    ...more,
    ...(await marksAbove(db, network.id, positions)),
  ];
  const blocks = await client.blocks([...new Set(marks.map(({ height }) => height))]);
  const there = new Set(blocks.map((block) => block?.hash));
  return [...new Set(marks.map(({ hash }) => hash))].filter((hash) => there.has(hash));
}

/**
 * Checks that orphaned transfers are really gone. A provider with a broken log index returns no logs, as if transfers
 * had vanished: if it still has the receipt of one, none of its answers is believed, and TransferOmitted is thrown.
 */
async function assertGone(client: ChainClient, orphaned: readonly TransferRow[]): Promise<void> {
  const asked = orphaned.slice(0, receiptsMax);
  const isThere = await Promise.all(asked.map((transfer) => isStillThere(client, transfer)));
  const omitted = asked[isThere.indexOf(true)];
  if (omitted !== undefined) {
    const { transactionHash, toAddress: to } = omitted;
    const message = `${client.provider} omitted transfers for which it has receipts`;
    throw new TransferOmitted(message, { transactionHash, to });
  }
}

/**
 * Returns the watched addresses: those with a hold, and those of transfers that are not final; with `hasWallets`, those of
 * active wallets too.
 */
export async function recipientsOf(
  { db, network }: Pick<ChangesRequest, "db" | "network">,
  revocable: readonly TransferRow[],
  { hasWallets = false } = {},
): Promise<Recipients> {
  const paid = revocable.map(({ toAddress }) => toAddress);
  const limit = recipientsMax + 1;
  const held = await watchedAddresses(db, network.id, limit);
  const active = hasWallets ? await activeAddresses(db, network.id, limit) : [];
  const all = new Set<Address>([...held, ...active, ...paid]);
  if (all.size <= recipientsMax) {
    return { addresses: [...all], among: () => Promise.resolve(all) };
  }
  return {
    addresses: null,
    among: async (addresses) =>
      new Set([
        ...paid,
        ...(await watchedAmong(db, network.id, addresses)),
        ...(hasWallets ? await activeAmong(db, network.id, addresses) : []),
      ]),
  };
}

/** Adds the orphaned and final transfers of transactions whose logs are not at their stored positions. */
async function withTheirTransactions(
  { db, network }: ChangesRequest,
  revocable: readonly TransferRow[],
  logs: readonly TransferLog[],
): Promise<readonly TransferRow[]> {
  const positions = new Set(revocable.map((row) => keyInBlock({ ...row, ...identityOf(row) })));
  const displaced = logs.filter((log) => !positions.has(keyInBlock(log)));
  const hashes = new Set(displaced.map(({ transactionHash }) => transactionHash));
  const others = await transfersOfTransactions(db, network.id, [...hashes]);
  return [...new Map([...revocable, ...others].map((row) => [row.id, row])).values()];
}

interface TimeSource {
  readonly client: ChainClient;
  readonly times: BlockTimes;
}

interface TimeLimits {
  /** A time before `after`, or later than `before`, is impossible. */
  readonly after: Instant;
  readonly before: Instant;
  /** Throws ReplyDropped (`wrong_time`) for other times that are impossible. */
  readonly check?: (asked: readonly AskedBlock[]) => Promise<void>;
  /** Called if the logs have impossible times; may throw. */
  readonly onWrongTime?: (error: ReplyDropped) => void;
}

/**
 * Returns the logs with the times of their blocks. Missing times are read in one batch, and so are the times that
 * another provider must confirm. The time of a log is optional: if one is impossible, those of the blocks are read, and
 * ReplyDropped is thrown if they are impossible too.
 */
export async function withTimes(
  source: TimeSource,
  stored: readonly TransferRow[],
  logs: readonly TransferLog[],
  limits: TimeLimits,
): Promise<TimedLog[]> {
  try {
    return await withReportedTimes(source, stored, logs, limits);
  } catch (error) {
    const isDated = logs.some(({ blockTime }) => blockTime !== null);
    if (!isDated || !(error instanceof ReplyDropped) || error.fault !== "wrong_time") throw error;
    limits.onWrongTime?.(error);
  }
  const undated = logs.map((log) => ({ ...log, blockTime: null }));
  return withReportedTimes(source, stored, undated, limits);
}

async function withReportedTimes(
  { client, times }: TimeSource,
  stored: readonly TransferRow[],
  logs: readonly TransferLog[],
  { after, before, check }: TimeLimits,
): Promise<TimedLog[]> {
  const onRecord = new Map(stored.map((row) => [row.blockHash, row.blockTime]));
  const reported = new Map<string, Instant>();
  for (const { blockHash, blockTime } of logs) {
    if (blockTime !== null) reported.set(blockHash, blockTime);
  }
  const missing = logs.filter(({ blockHash: hash }) => !reported.has(hash) && !onRecord.has(hash));
  const heights = [...new Set(missing.map(({ blockHeight }) => blockHeight))];
  for (const block of heights.length === 0 ? [] : await client.blocks(heights)) {
    if (block !== null) reported.set(block.hash, block.time);
  }
  const { provider } = client;
  const asked = logs.map(({ blockHash: hash, blockHeight: height }) => {
    const time = reported.get(hash);
    if (time === undefined) {
      if (onRecord.has(hash)) return { hash, height, reported: null };
      throw new ReplyDropped("a log's block was replaced");
    }
    if (time < after || time > before) throw wrongTime({ height });
    return { hash, height, reported: { provider, time } };
  });
  await check?.(asked);
  const believed = await times.of(asked);
  return logs.map((log) => {
    const block = believed.get(log.blockHash);
    const blockTime = block?.time ?? onRecord.get(log.blockHash);
    assert(blockTime !== undefined, "a log's block has no time");
    return { ...log, blockTime, isTimeAgreed: block?.isAgreed ?? false };
  });
}

/** Checks that no block of a log is dated before the newest scanned block, on which it is built. */
type AncestorTimes = ReturnType<typeof makeAncestorTimes>;

/**
 * How long a provider must keep contradicting the stored time of the newest scanned block before that time is given up,
 * in milliseconds: as long as a provider is distrusted. A provider may have reported a wrong time for that block, and no
 * scan that finds a payment above it would ever succeed again.
 */
const contradictedMs = 5 * minute;

interface Deps {
  readonly clock: Clock;
  /** The individual providers. */
  readonly providers: readonly ChainClient[];
  readonly times: Pick<BlockTimes, "of">;
}

/** The newest scanned block's time as a provider reports it, and since when it does. */
interface Contradiction {
  readonly hash: string;
  readonly time: Instant;
  readonly since: Instant;
}

type State = Deps & { readonly contradictions: Map<string, Contradiction> };

export function makeAncestorTimes(deps: Deps) {
  const self: State = { ...deps, contradictions: new Map() };
  return {
    assertNoneBeforeTip: (
      read: { readonly client: ChainClient; readonly state: NetworkStateRow },
      blocks: readonly AskedBlock[],
    ) => assertNoneBeforeTip(self, read, blocks),
  };
}

/**
 * Throws ReplyDropped if the provider dates a block before the newest scanned one, on which it is built: before the
 * stored time of that block, or before the time that two providers, or this one for five minutes, give it instead.
 */
async function assertNoneBeforeTip(
  self: State,
  { client, state }: { readonly client: ChainClient; readonly state: NetworkStateRow },
  blocks: readonly AskedBlock[],
): Promise<void> {
  const { tipHeight, tipHash } = state;
  const dated = blocks.flatMap(({ height, reported }) =>
    height > tipHeight && reported !== null ? [{ height, time: reported.time }] : [],
  );
  const [earliest] = dated.sort((one, other) => one.time - other.time);
  if (earliest === undefined || earliest.time >= timeAboveTip(state, self.providers.length)) return;
  const tip = await blockAt(client, tipHeight);
  if (tip.hash !== tipHash) return;
  const corrected = await correctedTime(self, client.provider, tip);
  if (corrected === null || earliest.time < corrected) throw wrongTime(earliest);
}

/** Returns the time that replaces the stored one of the newest scanned block; null while the stored one holds. */
async function correctedTime(
  { clock, providers, times, contradictions }: State,
  provider: string,
  { height, hash, time }: Head,
): Promise<Instant | null> {
  if (providers.length > 1) {
    const found = await times.of([{ height, hash, reported: { provider, time } }]);
    const agreed = found.get(hash);
    if (agreed?.isAgreed === true) return agreed.time;
  }
  const now = clock.now();
  const before = contradictions.get(provider);
  const isSame = before?.hash === hash && before.time === time;
  // A clock that was set back must not prolong the wait.
  const since = isSame ? Math.min(now, before.since) : now;
  contradictions.set(provider, { hash, time, since });
  return now - since >= contradictedMs ? time : null;
}
