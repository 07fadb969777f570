import type { ChainAlarms } from "../../../platform/chain/state/alarms.ts";
import {
  mayHide,
  transferKey,
  type ChainClient,
  type TransferLog,
} from "../../../platform/chain/client.ts";
import type { ProviderPool } from "../../../platform/chain/providers/pool.ts";
import { receiptOrLogs } from "../../../platform/chain/providers/probe.ts";
import { makeRangeSize } from "./chain-reader.ts";
import type { RangeReading, Scanner } from "./readings/rescanner.ts";
import {
  keyInBlock,
  type BlockRange,
  type TimedLog,
  type WindowDifference,
} from "../ledger/chain-diff.ts";

/** The transfers of a reading that may be entered. */
export interface Judgement {
  readonly difference: WindowDifference<TimedLog>;
  /** The positions of transfers that a provider does not list although it has their receipts. */
  readonly provenLeftOut: ReadonlySet<string>;
  /** The transactions whose transfers the other provider denies; these are not entered. */
  readonly denied: ReadonlySet<string>;
}

/** The largest number of missing transfers of one reading that are judged and reported individually. */
const judgedMax = 50;

interface Deps {
  readonly pool: Pick<ProviderPool, "distrust" | "health">;
  readonly alarms: ChainAlarms;
  readonly scanner: Pick<Scanner, "network" | "read">;
}

/**
 * Decides whether transfers that a later reading found are really on the chain: asks another provider for those that are
 * not on record. Without another provider, the reading is believed: its payments are still verified before they are
 * confirmed.
 */
export async function judgeReading(
  deps: Deps,
  reading: RangeReading,
  other: ChainClient | null,
): Promise<Judgement> {
  const { scanner } = deps;
  const { difference } = reading;
  const unknown = unknownOf(difference);
  const nothing = { difference, provenLeftOut: new Set<string>(), denied: new Set<string>() };
  if (other === null) return nothing;
  if (unknown.length === 0) {
    reportMany(deps, reading, other, 0);
    return nothing;
  }
  const heights = unknown.map(({ blockHeight }) => blockHeight);
  const range = { from: Math.min(...heights), to: Math.max(...heights) };
  const again = await scanner.read(other, makeRangeSize(scanner.network.maxLogRange), range);
  const listed = new Set(unknownOf(again.difference).map(keyInBlock));
  const missing = unknown.filter(
    (log) => !listed.has(keyInBlock(log)) && !mayHide(again.unreadable, log),
  );
  const conceded = new Set<string>();
  for (const log of missing.slice(0, judgedMax)) {
    if (await isConceded(deps, reading, other, log)) conceded.add(keyInBlock(log));
  }
  reportMany(deps, reading, other, missing.length);
  const refused = missing.filter((log) => !conceded.has(keyInBlock(log)));
  const isRefused = new Set(refused.map(keyInBlock));
  return {
    difference: {
      ...difference,
      fresh: difference.fresh.filter((log) => !isRefused.has(keyInBlock(log))),
      moved: difference.moved.filter(({ log }) => !isRefused.has(keyInBlock(log))),
    },
    provenLeftOut: conceded,
    denied: new Set(refused.map(({ transactionHash }) => transactionHash)),
  };
}

/** Returns true if the other provider has the receipt of a transfer that it does not list, or lists it by its block's hash. */
async function isConceded(
  { pool, alarms, scanner }: Deps,
  reading: RangeReading,
  other: ChainClient,
  log: TransferLog,
) {
  const { transactionHash, blockHeight, to } = log;
  if (hasLog(await receiptOrLogs(other, log, [log.contract]), log)) {
    const inUse = pool.health().find(({ isInUse }) => isInUse);
    if (inUse?.provider === other.provider) {
      pool.distrust(`it omitted a transfer in block ${String(blockHeight)}`, {
        transactionHash,
        to,
      });
    }
    alarms.clear("providers_disagree", transactionHash);
    return true;
  }
  alarms.raise(
    "providers_disagree",
    transactionHash,
    `${reading.provider} has a transfer to us in block ${String(blockHeight)} that ` +
      `${other.provider} denies. Check a block explorer; till chain scan --network ${scanner.network.id} ` +
      `--from ${String(blockHeight)} --to ${String(blockHeight)} reads the block again.`,
    { network: scanner.network.id, transactionHash, blockHeight },
  );
  return false;
}

/** Raises one alarm if too many transfers are missing to judge each, and clears it otherwise. */
function reportMany(
  { alarms, scanner }: Deps,
  reading: RangeReading,
  other: ChainClient,
  missing: number,
): void {
  const { from, to, provider } = reading;
  const subject = subjectOf(reading);
  if (missing <= judgedMax) {
    alarms.clear("providers_disagree", subject);
    return;
  }
  alarms.raise(
    "providers_disagree",
    subject,
    `${provider} has ${String(missing)} transfers to us in blocks ${String(from)} to ` +
      `${String(to)} that ${other.provider} does not list. Ask a third provider.`,
    { network: scanner.network.id, from, to },
  );
}

/** Returns the transfers of a reading that are not stored at their found positions. */
function unknownOf({ fresh, moved }: WindowDifference<TimedLog>): readonly TimedLog[] {
  return [...fresh, ...moved.map(({ log }) => log)];
}

/** Returns the subject of an alarm about a range of blocks. */
function subjectOf({ from, to }: BlockRange): string {
  return `blocks ${String(from)} to ${String(to)}`;
}

/** Parses the range in an alarm's subject; null if the subject is a transaction. */
export function rangeOf(subject: string): BlockRange | null {
  const [, from, to] = /^blocks (\d+) to (\d+)$/.exec(subject) ?? [];
  return from === undefined || to === undefined ? null : { from: Number(from), to: Number(to) };
}

function hasLog(receipt: Awaited<ReturnType<ChainClient["receipt"]>>, log: TransferLog): boolean {
  return (
    receipt?.blockHash === log.blockHash &&
    receipt.transfers.some((one) => transferKey(one) === transferKey(log))
  );
}
