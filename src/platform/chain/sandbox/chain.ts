import { bytesToHex } from "@noble/hashes/utils.js";
import type { Clock, Instant } from "../../../kernel/clock.ts";
import { Defect, defineProblem } from "../../../kernel/errors.ts";
import type { RandomBytes } from "../../../kernel/id.ts";
import type { Reader, Tx } from "../../database/index.ts";
import type { Address, Head } from "../client.ts";
import { findToken, type Network } from "../networks.ts";
import * as store from "./store.ts";
import type { SandboxChainRow, SandboxTransferRow, SegmentRow } from "./table.ts";
import { blockAt, minedSegment, openSegment, tipAt } from "./timeline.ts";

export const SandboxRefused = defineProblem({
  code: "sandbox_refused",
  status: 422,
  title: "The sandbox cannot do this",
});

export interface SandboxPayment {
  readonly to: Address;
  /** A token of the sandbox by its symbol. */
  readonly token: string;
  /** In the token's smallest unit; 0 leaves a transaction that moves nothing. */
  readonly amount: bigint;
  /** The payer; somebody new when absent. */
  readonly from?: Address;
  /** It comes into its block, moves nothing and leaves no log. */
  readonly failed?: boolean;
  /** The token of another contract that calls itself the same. */
  readonly fakeToken?: boolean;
  /** The first provider shows it and the witness does not: it never happened. */
  readonly lie?: boolean;
}

export interface SandboxTransaction {
  readonly transactionHash: string;
  /** The block that it comes into. */
  readonly blockHeight: number;
  readonly contract: Address;
  readonly from: Address;
}

export interface Reorganisation {
  /** The lowest block that is another now. */
  readonly fromHeight: number;
  /** As high as before, with another hash. */
  readonly tip: Head;
  /** Hashes of the transactions that were in the replaced blocks. */
  readonly transactions: readonly string[];
}

/**
 * What goes wrong with providers:
 * - `stall`: none of them answers.
 * - `refuse`: the first refuses, for being asked too often.
 * - `silence`: the first has no logs, as if nobody had paid.
 * - `contradict`: the first says of every transaction that it failed.
 */
export type SandboxFault = "stall" | "refuse" | "silence" | "contradict";

/** The sandbox's commands. Each is part of the caller's transaction. */
export interface Sandbox {
  /** Makes the chain where there is none, and sets how often a block comes: 0, on command only. */
  open(tx: Tx, blockMs: number): Promise<void>;
  /** Sends a transaction: it comes into the next block that is not about to be made this moment. */
  pay(tx: Tx, payment: SandboxPayment): Promise<SandboxTransaction>;
  /** Sends one transaction with several transfers of one payer, 1 to 100, each with a log of its own. */
  payTogether(
    tx: Tx,
    payment: Omit<SandboxPayment, "amount">,
    amounts: readonly bigint[],
  ): Promise<SandboxTransaction>;
  /** Makes blocks at once, the first with all that waits; gives the tip. */
  mine(tx: Tx, count: number): Promise<Head>;
  /**
   * Replaces the newest blocks by as many others. Their transactions come into a later block with the same hash, or
   * are gone. Final blocks never change: deeper than those is refused with SandboxRefused.
   */
  reorganise(tx: Tx, depth: number, options: { readonly drop: boolean }): Promise<Reorganisation>;
  /** Lets providers of the sandbox go wrong for so long; 0 ends it. Gives the moment when it is over. */
  disturb(tx: Tx, how: SandboxFault, forMs: number): Promise<Instant>;
}

export interface SandboxOptions {
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

/**
 * A transaction never goes into a block that is made before the caller's commit may be through: a block that was seen
 * does not change.
 */
const commitMs = 100;
/** So many blocks at once: their transfers and hashes stay quick to read. */
const blocksMax = 100_000;
/** So many transfers in one transaction: about what a block of a real network has room for. */
const transfersMax = 100;

export function makeSandbox(options: SandboxOptions): Sandbox {
  const { network, clock, randomBytes } = options;
  const randomHex = (length: number) => bytesToHex(randomBytes(length));

  async function create(tx: Tx, blockMs: number): Promise<void> {
    const well = { stalledUntil: 0, refusedUntil: 0, silentUntil: 0, contraryUntil: 0 };
    const row = { id: 1, generation: 0, nextLogIndex: 0, ...well };
    if (!(await store.insertChain(tx, row))) return;
    const genesis = { fromHeight: 0, time: clock.now() };
    await store.insertSegment(
      tx,
      blockMs > 0
        ? { ...genesis, lastHeight: null, stepMs: blockMs }
        : { ...genesis, lastHeight: 0, stepMs: 0 },
    );
    await store.replaceForks(tx, { fromHeight: 0, salt: randomHex(16) });
  }

  /** The chain, locked. The time is read after the lock, so that commands and their times have one order. */
  async function lock(tx: Tx): Promise<Locked> {
    const chain = (await store.lockChain(tx)) ?? (await createAndLock(tx));
    const newest = await store.newestSegment(tx);
    if (chain === null || newest === null) throw new Defect("the sandbox has no chain");
    const now = clock.now();
    return { chain, newest, now, tip: await readBlock(tx, tipAt(newest, now)) };
  }

  async function createAndLock(tx: Tx): Promise<SandboxChainRow | null> {
    await create(tx, network.blockTimeMs);
    return store.lockChain(tx);
  }

  async function send(
    tx: Tx,
    payment: Omit<SandboxPayment, "amount">,
    amounts: readonly bigint[],
  ): Promise<SandboxTransaction> {
    const token = findToken(network, payment.token);
    if (token === null) {
      const known = network.tokens.map(({ symbol }) => symbol).join(", ");
      throw new SandboxRefused(`The sandbox has no such token. It has ${known}.`);
    }
    if (amounts.length < 1 || amounts.length > transfersMax) {
      throw new SandboxRefused(`Send 1 to ${String(transfersMax)} amounts in one transaction.`);
    }
    const { chain, newest, now } = await lock(tx);
    const transaction = {
      transactionHash: randomHex(32),
      blockHeight: nextHeight(newest, now),
      contract: payment.fakeToken === true ? fakeContract : token.contract,
    };
    const sender = payment.from ?? randomHex(20);
    const rows = amounts.map((amount, place): SandboxTransferRow => ({
      ...transaction,
      logIndex: chain.nextLogIndex + place,
      sender,
      recipient: payment.to,
      amount,
      isFailed: payment.failed ?? false,
      isLie: payment.lie ?? false,
    }));
    await store.insertTransfers(tx, rows);
    await store.updateChain(tx, { nextLogIndex: chain.nextLogIndex + rows.length });
    return { ...transaction, from: sender };
  }

  return {
    async open(tx, blockMs) {
      await create(tx, blockMs);
      const { newest, now, tip } = await lock(tx);
      const current = newest.lastHeight === null ? newest.stepMs : 0;
      if (current === blockMs) return;
      if (newest.lastHeight === null) await store.endSegment(tx, newest, tip.height);
      if (blockMs > 0) await store.insertSegment(tx, openSegment(tip, blockMs, now));
    },

    pay: (tx, payment) => send(tx, payment, [payment.amount]),

    payTogether: send,

    async mine(tx, count) {
      if (!Number.isInteger(count) || count < 1 || count > blocksMax) {
        throw new SandboxRefused(`Ask for 1 to ${String(blocksMax)} blocks.`);
      }
      const { newest, now, tip } = await lock(tx);
      const isAutomatic = newest.lastHeight === null;
      if (isAutomatic) await store.endSegment(tx, newest, tip.height);
      await store.insertSegment(tx, minedSegment(tip, count, now));
      await store.moveWaitingTransfers(tx, tip.height + 1);
      const mined = await readBlock(tx, tip.height + count);
      if (isAutomatic) await store.insertSegment(tx, openSegment(mined, newest.stepMs, now));
      return mined;
    },

    async reorganise(tx, depth, { drop }) {
      const { chain, newest, now, tip } = await lock(tx);
      const deepest = Math.min(tip.height, network.finality.lagBlocks);
      if (!Number.isInteger(depth) || depth < 1 || depth > deepest) {
        throw new SandboxRefused(
          `Only the newest ${String(deepest)} blocks can be replaced: those below are final. ` +
            "Ask for fewer, or mine more first.",
        );
      }
      const fromHeight = tip.height - depth + 1;
      const replaced = await store.transfersBetween(tx, fromHeight, tip.height);
      await store.replaceForks(tx, { fromHeight, salt: randomHex(16) });
      if (drop) await store.deleteTransfersBetween(tx, fromHeight, tip.height);
      else await sendAgain(tx, replaced, nextHeight(newest, now), chain.nextLogIndex);
      await store.updateChain(tx, {
        generation: chain.generation + 1,
        nextLogIndex: chain.nextLogIndex + replaced.length,
      });
      return {
        fromHeight,
        tip: await readBlock(tx, tip.height),
        transactions: [...new Set(replaced.map(({ transactionHash }) => transactionHash))],
      };
    },

    async disturb(tx, how, forMs) {
      const { now } = await lock(tx);
      const until = now + Math.max(0, forMs);
      await store.updateChain(tx, { [faultColumns[how]]: until });
      return until;
    },
  };
}

interface Locked {
  readonly chain: SandboxChainRow;
  readonly newest: SegmentRow;
  readonly now: Instant;
  readonly tip: Head;
}

/** The block that a transaction sent now comes into. */
function nextHeight(newest: SegmentRow, now: Instant): number {
  return tipAt(newest, now + commitMs) + 1;
}

async function readBlock(reader: Reader, height: number): Promise<Head> {
  const segments = await store.segmentsFrom(reader, height);
  return blockAt(segments, await store.forksFrom(reader, height), height);
}

/** In their order, with the places of their logs in the new block. */
async function sendAgain(
  tx: Tx,
  transfers: readonly SandboxTransferRow[],
  blockHeight: number,
  logIndex: number,
): Promise<void> {
  for (const [place, transfer] of transfers.entries()) {
    await store.moveTransfer(tx, transfer, { blockHeight, logIndex: logIndex + place });
  }
}
