import { minute, type Clock, type Instant } from "../../kernel/clock.ts";
import { restSubject, type ChainAlarms } from "../../platform/chain/alarms.ts";
import type { ChainClient, TransferLog } from "../../platform/chain/client.ts";
import type { Network } from "../../platform/chain/networks.ts";
import { ProviderError } from "../../platform/chain/provider-error.ts";
import type { ProviderHealth } from "../../platform/chain/provider-health.ts";
import type { ProviderPool } from "../../platform/chain/provider-pool.ts";
import { addScan, scansOf } from "../../platform/chain/scans.ts";
import { networkState } from "../../platform/chain/state.ts";
import type { Database, Reader } from "../../platform/database/index.ts";
import { ScanInterrupted } from "./errors.ts";
import { AnswerDropped, blockAt, makeRangeSize, readLogs } from "./look.ts";
import { recipientsOf } from "./news.ts";
import type { Invoices } from "./ports.ts";
import { watcherContext, type Guard } from "./recorder.ts";
import type { Scanner } from "./scanner.ts";
import { transfersOfTransactions } from "./store.ts";
import { compareAgain, type BlockRange } from "./window.ts";

/**
 * Where a network has two providers, what the watcher read from one and took for final is read from another, too: one
 * that leaves transfers out, by fault or on purpose, hides nothing for longer than that.
 */
export interface Witness {
  /**
   * Reads what became final since the last time, when that is due, and asks again now and then about what was disagreed
   * on. Gives true where more is waiting.
   */
  compare(guard: Guard): Promise<boolean>;
}

const everyMs = minute;
/** Blocks in one comparison. */
const blocksMax = 2_000;
/** Transfers of one comparison that are judged one by one, and told of so. */
const judgedMax = 50;
/** What was disagreed on is asked about again so often, and so much of it at a time. */
const againMs = 10 * minute;
const againMax = 20;

/** The provider that the network is read from, and the one that it is compared with. */
interface Witnesses {
  readonly first: ChainClient;
  readonly second: ChainClient;
}

export function makeWitness(deps: {
  readonly db: Database;
  readonly clock: Clock;
  readonly network: Network;
  readonly invoices: Invoices;
  readonly pool: ProviderPool;
  readonly alarms: ChainAlarms;
  readonly scanner: Scanner;
}): Witness {
  const { db, clock, network, invoices, pool, alarms, scanner } = deps;
  const contracts = network.tokens.map(({ contract }) => contract);
  const rangeSize = makeRangeSize(network.maxLogRange);
  let comparedAt: Instant = clock.now();
  let askedAgainAt: Instant = 0;
  /** The last of those that were asked about again. */
  let lastAgain = "";

  /** The final blocks that no second provider was asked about yet, the lowest first. */
  async function nextRange(reader: Reader): Promise<(BlockRange & { isLast: boolean }) | null> {
    const state = await networkState(reader, network.id);
    const watched = await scansOf(reader, network.id, "watched");
    const witnessed = await scansOf(reader, network.id, "witnessed");
    const [first] = watched;
    if (state === null || first === undefined) return null;
    const from = Math.max(first.fromHeight, (witnessed.at(-1)?.toHeight ?? -1) + 1);
    if (from > state.cursorHeight) return null;
    const to = Math.min(state.cursorHeight, from + blocksMax - 1);
    return { from, to, isLast: to === state.cursorHeight };
  }

  /** The transfers that a provider lists and that are not on record. */
  async function unknownTo(client: ChainClient, { from, to }: BlockRange) {
    const { latest } = await client.heads();
    const [parent = null] = from === 0 ? [] : await client.blocks([from - 1]);
    const end = await blockAt(client, to);
    const recipients = await recipientsOf({ db, network, invoices }, []);
    const isAsked = recipients.addresses?.length !== 0;
    const request = { client, contracts, recipients, rangeSize };
    const logs = isAsked ? await readLogs(request, from, end, latest) : [];
    const hashes = new Set(logs.map(({ transactionHash }) => transactionHash));
    const stored = await transfersOfTransactions(db, network.id, [...hashes]);
    const { fresh, moved } = compareAgain(stored, logs);
    return { unknown: [...fresh, ...moved.map(({ log }) => log)], end, parent };
  }

  /**
   * Enters what the provider in use lists, too: its address was not watched when the block was read. Gives what it
   * does not list.
   */
  async function enterListed(
    guard: Guard,
    first: ChainClient,
    range: BlockRange,
    logs: readonly TransferLog[],
  ): Promise<TransferLog[]> {
    if (logs.length === 0) return [];
    const listed = new Set((await unknownTo(first, range)).unknown.map(placeOf));
    const missing = logs.filter((log) => !listed.has(placeOf(log)));
    if (missing.length < logs.length) await scanner.scan(watcherContext, range, guard);
    return missing;
  }

  /** What the provider in use has a receipt for, it left out of its logs. What it denies is for a person to judge. */
  async function judge(guard: Guard, { first, second }: Witnesses, log: TransferLog) {
    const { transactionHash, blockHeight } = log;
    const details = { network: network.id, transactionHash, blockHeight };
    const receipt = await first.receipt(transactionHash);
    if (!hasLog(receipt, log)) {
      alarms.raise(
        "providers_disagree",
        transactionHash,
        `${second.provider} has a transfer to us in block ${String(blockHeight)} that ` +
          `${first.provider} denies. Look at an explorer; till chain scan reads the block again.`,
        details,
      );
      return;
    }
    const reason = `${first.provider} left out a transfer that it has a receipt for`;
    pool.distrust(`it left out a transfer of block ${String(blockHeight)}`);
    alarms.raise("transfer_left_out", transactionHash, `${reason}; it is entered now`, details);
    await scanner.scan(watcherContext, { from: blockHeight, to: blockHeight }, guard);
    alarms.clear("transfer_left_out", transactionHash);
    alarms.clear("providers_disagree", transactionHash);
  }

  /** Judges what one of them lists and the other does not; where that is very much, it is told of at once. */
  async function judgeAll(
    guard: Guard,
    witnesses: Witnesses,
    range: BlockRange,
    missing: readonly TransferLog[],
  ): Promise<void> {
    for (const log of missing.slice(0, judgedMax)) await judge(guard, witnesses, log);
    const { first, second } = witnesses;
    const { from, to } = range;
    if (missing.length <= judgedMax) {
      alarms.clear("providers_disagree", subjectOf(range));
      return;
    }
    alarms.raise(
      "providers_disagree",
      subjectOf(range),
      `${second.provider} has ${String(missing.length)} transfers to us in blocks ${String(from)} to ` +
        `${String(to)} that ${first.provider} does not list. Ask a third provider.`,
      { network: network.id, ...range },
    );
  }

  /** Where providers disagreed before, one may have found out, or been replaced: some of it is compared again. */
  async function compareAgainLater(guard: Guard, witnesses: Witnesses): Promise<void> {
    if (Math.abs(clock.now() - askedAgainAt) < againMs) return;
    askedAgainAt = clock.now();
    const subjects = alarms
      .open()
      .filter(({ kind, subject }) => kind === "providers_disagree" && subject !== restSubject)
      .map(({ subject }) => subject)
      .sort();
    const later = subjects.filter((subject) => subject > lastAgain);
    const asked = [...later, ...subjects].slice(0, Math.min(againMax, subjects.length));
    lastAgain = asked.at(-1) ?? "";
    for (const subject of new Set(asked)) {
      const isRange = rangeOf(subject) !== null;
      const range = rangeOf(subject) ?? (await blockOf(witnesses, subject));
      const missing = range === null ? [] : await missingIn(guard, witnesses, range);
      const isStillOpen = missing.some(({ transactionHash }) => transactionHash === subject);
      if (!isRange && !isStillOpen) alarms.clear("providers_disagree", subject);
      if (range !== null) await judgeAll(guard, witnesses, range, missing);
    }
  }

  /** The block that the second provider has a transaction in; null where it has it no more. */
  async function blockOf({ second }: Witnesses, transactionHash: string) {
    const receipt = await second.receipt(transactionHash);
    if (receipt === null) return null;
    return { from: receipt.blockHeight, to: receipt.blockHeight };
  }

  /** What the second provider lists in a range, and neither the record nor the provider in use. */
  async function missingIn(guard: Guard, { first, second }: Witnesses, range: BlockRange) {
    const { unknown } = await unknownTo(second, range);
    return enterListed(guard, first, range, unknown);
  }

  async function compareNext(guard: Guard, witnesses: Witnesses): Promise<boolean> {
    const range = await nextRange(db);
    if (range === null) return false;
    const { first, second } = witnesses;
    const { unknown, end, parent } = await unknownTo(second, range);
    const missing = await enterListed(guard, first, range, unknown);
    await judgeAll(guard, witnesses, range, missing);
    await db.write(watcherContext, async (tx) => {
      await guard(tx);
      const before = { height: range.from - 1, hash: parent?.hash ?? null };
      await addScan(tx, network.id, "witnessed", { parent: before, to: end }, clock.now());
    });
    return !range.isLast;
  }

  return {
    async compare(guard) {
      if (Math.abs(clock.now() - comparedAt) < everyMs) return false;
      const health = pool.health();
      const first = pool.providers[health.findIndex(({ isInUse }) => isInUse)];
      const isOther = ({ isInUse, condition }: ProviderHealth) => !isInUse && isAble(condition);
      const second = pool.providers[health.findIndex(isOther)];
      if (first === undefined || second === undefined) return false;
      try {
        await compareAgainLater(guard, { first, second });
        const isMore = await compareNext(guard, { first, second });
        if (!isMore) comparedAt = clock.now();
        return isMore;
      } catch (error) {
        const isTriedAgain =
          error instanceof ProviderError ||
          error instanceof AnswerDropped ||
          error instanceof ScanInterrupted;
        if (!isTriedAgain) throw error;
        comparedAt = clock.now();
        return false;
      }
    },
  };
}

function subjectOf({ from, to }: BlockRange): string {
  return `blocks ${String(from)} to ${String(to)}`;
}

/** Null where the subject is no range but a transaction. */
function rangeOf(subject: string): BlockRange | null {
  const [, from, to] = /^blocks (\d+) to (\d+)$/.exec(subject) ?? [];
  return from === undefined || to === undefined ? null : { from: Number(from), to: Number(to) };
}

function placeOf({ transactionHash, logIndex, blockHash }: TransferLog): string {
  return `${transactionHash}:${String(logIndex)}:${blockHash}`;
}

function isAble(condition: string): boolean {
  return condition === "ok" || condition === "unknown" || condition === "behind";
}

function hasLog(receipt: Awaited<ReturnType<ChainClient["receipt"]>>, log: TransferLog): boolean {
  return (
    receipt?.blockHash === log.blockHash &&
    receipt.transfers.some(
      ({ logIndex, contract, to, amount }) =>
        logIndex === log.logIndex &&
        contract === log.contract &&
        to === log.to &&
        amount === log.amount,
    )
  );
}
