import { bytesToHex } from "@noble/hashes/utils.js";
import type { Clock, Instant } from "../../../kernel/clock.ts";
import { Defect, defineProblem } from "../../../kernel/errors.ts";
import type { RandomBytes } from "../../../kernel/id.ts";
import type { Reader, Tx } from "../../database/database.ts";
import type { Address, Head } from "../client.ts";
import { findToken, type Network } from "../networks.ts";
import * as store from "./store.ts";
import type { SandboxChainRow, SandboxTransferRow, SegmentRow } from "./store.ts";
import { blockAt, blockTime, minedSegment, openSegment, tipAt } from "./timeline.ts";

export const SandboxRefused = defineProblem({
  code: "sandbox_refused",
  status: 422,
  title: "The sandbox cannot do this",
});

export interface SandboxPayment {
  readonly to: Address;
  /** Symbol of one of the sandbox's tokens. */
  readonly token: string;
  /** In the token's smallest unit; 0 makes a transaction that transfers nothing. */
  readonly amount: bigint;
  /** The payer's address; a new random one if absent. */
  readonly from?: Address;
  /** True: the transaction is included in a block, but transfers nothing and has no log. */
  readonly failed?: boolean;
  /** True: uses another contract, which claims the same symbol. */
  readonly fakeToken?: boolean;
  /** True: only the first provider reports the transfer. The crossCheck does not, because it never happened. */
  readonly lie?: boolean;
}

export interface SandboxTransaction {
  readonly transactionHash: string;
  /** The block that includes the transaction. */
  readonly blockHeight: number;
  /** The time of that block; null if blocks are made on command. */
  readonly dueAt: Instant | null;
  readonly contract: Address;
  readonly from: Address;
}

export interface Reorganization {
  /** The lowest block that was replaced. */
  readonly fromHeight: number;
  /** The new tip: the same height, another hash. */
  readonly tip: Head;
  /** Hashes of the transactions that were in the replaced blocks. */
  readonly transactions: readonly string[];
}

/**
 * The start of a reorganization: the number of newest blocks to replace, the newest block with one of some transactions,
 * or the newest one with a transfer to an address.
 */
export type ReorganizationStart =
  | number
  | {
      readonly transactions: readonly string[];
      /** The height of the newest block that is known to have one; null if none has. */
      readonly newestHeight: number | null;
    }
  | { readonly to: Address };

export interface ReorganizationOptions {
  readonly drop: boolean;
  /**
   * Blocks that do not include the transactions yet if blocks are made by time, so that everybody sees that they were
   * gone; 0 by default. A block on command includes them at once.
   */
  readonly absentBlocks?: number;
}

/**
 * A failure of the sandbox's providers:
 * - `stall`: no provider responds.
 * - `refuse`: the first refuses requests as too frequent.
 * - `silence`: the first returns no logs, as if nobody had paid.
 * - `contradict`: the first reports every transaction as failed.
 */
export type SandboxFault = "stall" | "refuse" | "silence" | "contradict";

/** The sandbox's commands. Each runs in the caller's transaction. */
export type Sandbox = ReturnType<typeof makeSandbox>;

interface SandboxOptions {
  readonly network: Network;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
}

/** The contract of every fake token. */
export const fakeContract: Address = "fa4e".repeat(10);

const faultColumns = {
  stall: "stalledUntil",
  refuse: "refusedUntil",
  silence: "silentUntil",
  contradict: "contraryUntil",
} as const satisfies Record<SandboxFault, keyof SandboxChainRow>;

const well = { stalledUntil: 0, refusedUntil: 0, silentUntil: 0, contraryUntil: 0 };

/**
 * Blocks that are due within this time do not include a new transaction, because the caller's commit may take as long:
 * a block that a reader has seen must not change. In milliseconds.
 */
const commitMs = 100;
/** The largest number of blocks in one command, so that reading them stays fast. */
const blocksMax = 100_000;
/** The largest number of transfers in one transaction, about the capacity of a block on a real network. */
const transfersMax = 100;

export function makeSandbox(deps: SandboxOptions) {
  return {
    open: (tx: Tx, blockMs: number) => open(deps, tx, blockMs),
    pay: (tx: Tx, payment: SandboxPayment) => pay(deps, tx, payment),
    payTogether: (tx: Tx, payment: Omit<SandboxPayment, "amount">, amounts: readonly bigint[]) =>
      send(deps, tx, payment, amounts),
    mine: (tx: Tx, count: number) => mine(deps, tx, count),
    reorganize: (tx: Tx, from: ReorganizationStart, options: ReorganizationOptions) =>
      reorganize(deps, tx, from, options),
    disturb: (tx: Tx, how: SandboxFault, forMs: number) => disturb(deps, tx, how, forMs),
    heal: (tx: Tx) => heal(deps, tx),
  };
}

/** Creates the chain if it does not exist, and sets the block time in milliseconds; 0: blocks on command only. */
async function open(deps: SandboxOptions, tx: Tx, blockMs: number): Promise<void> {
  await create(deps, tx, blockMs);
  const { newest, now, tip } = await lock(deps, tx);
  const current = newest.lastHeight === null ? newest.stepMs : 0;
  if (current === blockMs) return;
  if (newest.lastHeight === null) await store.endSegment(tx, newest, tip.height);
  if (blockMs > 0) await store.insertSegment(tx, openSegment(tip, blockMs, now));
}

/** Sends a transaction, which the next block that is not imminent includes. */
function pay(deps: SandboxOptions, tx: Tx, payment: SandboxPayment): Promise<SandboxTransaction> {
  return send(deps, tx, payment, [payment.amount]);
}

async function send(
  deps: SandboxOptions,
  tx: Tx,
  payment: Omit<SandboxPayment, "amount">,
  amounts: readonly bigint[],
): Promise<SandboxTransaction> {
  const { network } = deps;
  const token = findToken(network, payment.token);
  if (token === null) {
    const known = network.tokens.map(({ symbol }) => symbol).join(", ");
    throw new SandboxRefused(`The sandbox has no such token. Its tokens are ${known}.`);
  }
  if (amounts.length < 1 || amounts.length > transfersMax) {
    throw new SandboxRefused(`Send 1 to ${String(transfersMax)} amounts in one transaction.`);
  }
  const { chain, newest, now } = await lock(deps, tx);
  const transaction = {
    transactionHash: randomHex(deps, 32),
    blockHeight: nextHeight(newest, now),
    contract: payment.fakeToken === true ? fakeContract : token.contract,
  };
  const sender = payment.from ?? randomHex(deps, 20);
  const rows = amounts.map((amount, index): SandboxTransferRow => ({
    ...transaction,
    logIndex: chain.nextLogIndex + index,
    sender,
    recipient: payment.to,
    amount,
    isFailed: payment.failed ?? false,
    isLie: payment.lie ?? false,
  }));
  await store.insertTransfers(tx, rows);
  await store.updateChain(tx, { nextLogIndex: chain.nextLogIndex + rows.length });
  const isAutomatic = newest.lastHeight === null;
  const dueAt = isAutomatic ? blockTime(newest, transaction.blockHeight) : null;
  return { ...transaction, from: sender, dueAt };
}

/** Makes blocks at once; the first includes all waiting transactions. Returns the tip. */
async function mine(deps: SandboxOptions, tx: Tx, count: number): Promise<Head> {
  if (!Number.isInteger(count) || count < 1 || count > blocksMax) {
    throw new SandboxRefused(`Ask for 1 to ${String(blocksMax)} blocks.`);
  }
  const { newest, now, tip } = await lock(deps, tx);
  const isAutomatic = newest.lastHeight === null;
  if (isAutomatic) await store.endSegment(tx, newest, tip.height);
  await store.insertSegment(tx, minedSegment(tip, count, now));
  await store.moveWaitingTransfers(tx, tip.height + 1);
  const mined = await readBlock(tx, tip.height + count);
  if (isAutomatic) await store.insertSegment(tx, openSegment(mined, newest.stepMs, now));
  return mined;
}

/**
 * Replaces the newest blocks by as many others. A later block includes their transactions with the same hashes, or they
 * are dropped. Final blocks never change: a greater depth throws SandboxRefused.
 */
async function reorganize(
  deps: SandboxOptions,
  tx: Tx,
  from: ReorganizationStart,
  { drop, absentBlocks = 0 }: ReorganizationOptions,
): Promise<Reorganization> {
  const { network } = deps;
  const { chain, newest, now, tip } = await lock(deps, tx);
  const deepest = Math.min(tip.height, network.finality.lagBlocks);
  const depth = typeof from === "number" ? from : await depthOf(tx, from, tip.height, deepest);
  if (!Number.isInteger(depth) || depth < 1 || depth > deepest) {
    throw new SandboxRefused(
      `Only the newest ${String(deepest)} blocks can be replaced: the blocks below are final. ` +
        "Ask for fewer, or mine more first.",
    );
  }
  const fromHeight = tip.height - depth + 1;
  const replaced = await store.transfersBetween(tx, fromHeight, tip.height);
  await store.replaceForks(tx, { fromHeight, salt: randomHex(deps, 16) });
  if (drop) await store.deleteTransfersBetween(tx, fromHeight, tip.height);
  else await sendAgain(tx, replaced, nextHeight(newest, now) + absentBlocks, chain.nextLogIndex);
  await store.updateChain(tx, {
    generation: chain.generation + 1,
    nextLogIndex: chain.nextLogIndex + replaced.length,
  });
  return {
    fromHeight,
    tip: await readBlock(tx, tip.height),
    transactions: [...new Set(replaced.map(({ transactionHash }) => transactionHash))],
  };
}

/** Returns the depth of the newest block with such a transfer. Throws SandboxRefused if it is final. */
async function depthOf(
  tx: Tx,
  from: Exclude<ReorganizationStart, number>,
  tipHeight: number,
  deepest: number,
): Promise<number> {
  const recent = await store.transfersBetween(tx, tipHeight - deepest + 1, tipHeight);
  const found = recent.findLast(({ transactionHash, recipient }) =>
    "to" in from ? recipient === from.to : from.transactions.includes(transactionHash),
  );
  if (found !== undefined) return tipHeight - found.blockHeight + 1;
  if (
    "transactions" in from &&
    from.newestHeight !== null &&
    from.newestHeight <= tipHeight - deepest
  ) {
    throw new SandboxRefused(
      `Its newest payment is in block ${String(from.newestHeight)}, which is final: only the newest ${String(deepest)} blocks can be replaced. Pay another invoice, let a block include the payment with till sandbox mine, and replace that block.`,
    );
  }
  const what = "to" in from ? "transfer to its address" : "payment of it";
  throw new SandboxRefused(
    `The newest ${String(deepest)} blocks have no ${what}, and the blocks below are final. Pay it first, and let a block include the payment: till sandbox mine.`,
  );
}

/**
 * Starts a failure of the sandbox's providers for `forMs` milliseconds; 0 ends it. Returns the time at which it ends.
 */
async function disturb(
  deps: SandboxOptions,
  tx: Tx,
  how: SandboxFault,
  forMs: number,
): Promise<Instant> {
  const { now } = await lock(deps, tx);
  const until = now + Math.max(0, forMs);
  await store.updateChain(tx, { [faultColumns[how]]: until });
  return until;
}

/**
 * Ends all failures of the sandbox's providers and takes back the payments that never happened. Servers then check the
 * providers at once. Returns the time.
 */
async function heal(deps: SandboxOptions, tx: Tx): Promise<Instant> {
  const { chain, now } = await lock(deps, tx);
  await store.deleteLies(tx);
  await store.updateChain(tx, { ...well, healedAt: now, generation: chain.generation + 1 });
  return now;
}

function randomHex({ randomBytes }: SandboxOptions, length: number) {
  return bytesToHex(randomBytes(length));
}

async function create(deps: SandboxOptions, tx: Tx, blockMs: number): Promise<void> {
  const { clock } = deps;
  const row = { id: 1, generation: 0, nextLogIndex: 0, ...well, healedAt: 0 };
  if (!(await store.insertChain(tx, row))) return;
  const genesis = { fromHeight: 0, time: clock.now() };
  await store.insertSegment(
    tx,
    blockMs > 0
      ? { ...genesis, lastHeight: null, stepMs: blockMs }
      : { ...genesis, lastHeight: 0, stepMs: 0 },
  );
  await store.replaceForks(tx, { fromHeight: 0, salt: randomHex(deps, 16) });
}

/**
 * Locks the chain. The time is read after the lock, so that the order of commands and the order of their times agree.
 */
async function lock(deps: SandboxOptions, tx: Tx): Promise<Locked> {
  const { clock } = deps;
  const chain = (await store.lockChain(tx)) ?? (await createAndLock(deps, tx));
  const newest = await store.newestSegment(tx);
  if (chain === null || newest === null) throw new Defect("the sandbox has no chain");
  const now = clock.now();
  return { chain, newest, now, tip: await readBlock(tx, tipAt(newest, now)) };
}

async function createAndLock(deps: SandboxOptions, tx: Tx): Promise<SandboxChainRow | null> {
  const { network } = deps;
  await create(deps, tx, network.blockTimeMs);
  return store.lockChain(tx);
}

interface Locked {
  readonly chain: SandboxChainRow;
  readonly newest: SegmentRow;
  readonly now: Instant;
  readonly tip: Head;
}

/** Returns the height of the block that includes a transaction sent now. */
function nextHeight(newest: SegmentRow, now: Instant): number {
  return tipAt(newest, now + commitMs) + 1;
}

async function readBlock(reader: Reader, height: number): Promise<Head> {
  const segments = await store.segmentsFrom(reader, height);
  return blockAt(segments, await store.forksFrom(reader, height), height);
}

/** Moves transfers, in their order, to a later block, with new log indexes. */
async function sendAgain(
  tx: Tx,
  transfers: readonly SandboxTransferRow[],
  blockHeight: number,
  logIndex: number,
): Promise<void> {
  for (const [index, transfer] of transfers.entries()) {
    await store.moveTransfer(tx, transfer, { blockHeight, logIndex: logIndex + index });
  }
}
