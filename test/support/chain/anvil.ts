import { setTimeout as delay } from "node:timers/promises";
import type { Instant } from "../../../src/kernel/clock.ts";
import { patienceMs } from "../until.ts";
import { spawnAnvil } from "./anvil-process.ts";
import { asRecord, asText, callJsonRpc, hexNumber } from "./json-rpc.ts";

export { anvilUnavailableReason } from "./anvil-process.ts";

export interface AnvilOptions {
  readonly chainId: number;
  /** The height of the first block (default 0); no block or parent exists below it. */
  readonly firstBlock?: number;
  /** `finalized` is twice this many blocks below the tip (default 32). */
  readonly slotsInAnEpoch?: number;
  /** The time of block 0, a whole second; by default the current time. */
  readonly genesisTime?: Instant;
  /** The block interval in seconds; by default blocks have the machine's time. */
  readonly blockSeconds?: number;
}

/**
 * The fate of transactions in replaced blocks: dropped; kept at their heights; or delayed, all together in one block
 * more than the old chain had.
 */
export type ReorganizedTransactions = "dropped" | "kept" | "delayed";

export interface MinedTransaction {
  /** With 0x prefix. */
  readonly transactionHash: string;
  readonly blockNumber: number;
}

/** A real EVM node in a separate process. */
export interface Anvil {
  readonly url: string;
  readonly pid: number;
  /** The ten unlocked accounts: lowercase with 0x. */
  readonly accounts: readonly string[];
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  height(): Promise<number>;
  mine(blocks?: number): Promise<void>;
  /** Sets the time of the next block; later blocks follow it. It must not be before the tip's time. */
  setNextBlockTime(at: Instant): Promise<void>;
  /** Sends a transaction from an unlocked account and returns its hash without waiting for a block. */
  send(transaction: { from: string; to: string; data: string; gas?: number }): Promise<string>;
  /** Waits for the transaction's block; throws if it did not end as expected. */
  receipt(transactionHash: string, expected?: "succeeded" | "failed"): Promise<MinedTransaction>;
  /** Runs `work` without mining, then mines one block with everything that it sent. */
  inOneBlock<T>(work: () => Promise<T>): Promise<T>;
  /** Replaces the last blocks by the same number of new ones with new hashes. */
  reorg(depth: number, transactions?: ReorganizedTransactions): Promise<void>;
  /** Removes the last blocks, so that the tip goes back. */
  rollback(blocks: number): Promise<void>;
  /** Returns an id for `revert`, which consumes it. */
  snapshot(): Promise<string>;
  revert(id: string): Promise<void>;
  stop(): Promise<void>;
}

/** Anvil is slow if many blocks are requested at once. */
const blocksPerCall = 1_000;
const plentyOfGas = 1_000_000;

/** Starts a node on a free port of 127.0.0.1 and waits until it answers. It ends with this process at the latest. */
export async function startAnvil(options: AnvilOptions): Promise<Anvil> {
  const node = await spawnAnvil(commandLine(options));
  const { url } = node;
  try {
    // Otherwise its output grows by a line per request.
    await callJsonRpc(url, "anvil_setLoggingEnabled", [false]);
    if (options.blockSeconds !== undefined) {
      await callJsonRpc(url, "anvil_setBlockTimestampInterval", [options.blockSeconds]);
    }
    const accounts = (await callJsonRpc(url, "eth_accounts")) as string[];
    return { ...node, ...makeChain(url), accounts };
  } catch (error) {
    await node.stop();
    throw error;
  }
}

function commandLine(options: AnvilOptions): string[] {
  const { chainId, firstBlock = 0, slotsInAnEpoch, genesisTime } = options;
  return [
    ...["--host", "127.0.0.1", "--port", "0", "--chain-id", String(chainId)],
    ...["--number", String(firstBlock)],
    ...[
      "--gas-price",
      "0",
      "--base-fee",
      "0",
      "--disable-block-gas-limit",
      "--no-request-size-limit",
    ],
    ...(slotsInAnEpoch === undefined ? [] : ["--slots-in-an-epoch", String(slotsInAnEpoch)]),
    ...(genesisTime === undefined ? [] : ["--timestamp", String(wholeSeconds(genesisTime))]),
  ];
}

function wholeSeconds(at: Instant): number {
  if (at % 1_000 !== 0) throw new Error(`a block's time is a whole second, not ${String(at)} ms`);
  return at / 1_000;
}

function makeChain(url: string): Omit<Anvil, "url" | "pid" | "accounts" | "stop"> {
  const rpc = (method: string, params: readonly unknown[] = []) => callJsonRpc(url, method, params);
  const height = async () => Number(asText(await rpc("eth_blockNumber")));
  let forks = 0;

  /**
   * An empty block that is mined again with the same parent and time has the same hash, and so would a whole
   * reorganization. A different miner makes every block after a fork unique.
   */
  async function nameFork(): Promise<void> {
    forks += 1;
    await rpc("anvil_setCoinbase", [`0xf0${forks.toString(16).padStart(38, "0")}`]);
  }

  async function mine(blocks = 1): Promise<void> {
    for (let left = blocks; left > 0; left -= blocksPerCall) {
      await rpc("anvil_mine", [hexNumber(Math.min(left, blocksPerCall))]);
    }
  }

  async function inOneBlock<T>(work: () => Promise<T>): Promise<T> {
    await rpc("evm_setAutomine", [false]);
    try {
      const result = await work();
      await mine();
      return result;
    } finally {
      await rpc("evm_setAutomine", [true]);
    }
  }

  async function checkedTip(blocks: number): Promise<number> {
    const tip = await height();
    if (blocks >= 1 && blocks <= tip) return tip;
    throw new Error(`cannot take ${String(blocks)} blocks off a chain of height ${String(tip)}`);
  }

  async function rollback(blocks: number): Promise<void> {
    await checkedTip(blocks);
    await rpc("anvil_rollback", [blocks]);
    await nameFork();
  }

  return {
    rpc,
    height,
    mine,
    inOneBlock,
    rollback,
    async setNextBlockTime(at) {
      await rpc("evm_setNextBlockTimestamp", [wholeSeconds(at)]);
    },
    async send({ from, to, data, gas = plentyOfGas }) {
      return asText(
        await rpc("eth_sendTransaction", [
          { from, to, data, gas: hexNumber(gas), gasPrice: "0x0" },
        ]),
      );
    },
    async receipt(transactionHash, expected = "succeeded") {
      const receipt = await pollForReceipt(rpc, transactionHash);
      const outcome = receipt["status"] === "0x1" ? "succeeded" : "failed";
      if (outcome !== expected) throw new Error(`the transaction ${transactionHash} ${outcome}`);
      return { transactionHash, blockNumber: Number(asText(receipt["blockNumber"])) };
    },
    async reorg(depth, transactions = "dropped") {
      const tip = await checkedTip(depth);
      const blocks: (readonly string[])[] = [];
      for (let at = tip - depth + 1; at <= tip && transactions !== "dropped"; at += 1) {
        blocks.push(await rawTransactions(rpc, at));
      }
      await rollback(depth);
      if (transactions === "dropped") await mine(depth);
      if (transactions === "kept")
        for (const block of blocks) await inOneBlock(() => broadcast(rpc, block));
      if (transactions === "delayed") {
        await mine(depth);
        await inOneBlock(() => broadcast(rpc, blocks.flat()));
      }
    },
    snapshot: async () => asText(await rpc("evm_snapshot")),
    async revert(id) {
      if ((await rpc("evm_revert", [id])) !== true) throw new Error(`there is no snapshot ${id}`);
      await nameFork();
    },
  };
}

type Rpc = Anvil["rpc"];

async function pollForReceipt(rpc: Rpc, hash: string): Promise<Readonly<Record<string, unknown>>> {
  const deadline = Date.now() + patienceMs;
  while (Date.now() < deadline) {
    const receipt = await rpc("eth_getTransactionReceipt", [hash]);
    if (receipt !== null) return asRecord(receipt);
    await delay(2);
  }
  throw new Error(`the transaction ${hash} came into no block`);
}

async function rawTransactions(rpc: Rpc, at: number): Promise<readonly string[]> {
  const block = asRecord(await rpc("eth_getBlockByNumber", [hexNumber(at), false]));
  const raws: string[] = [];
  for (const hash of block["transactions"] as string[]) {
    raws.push(asText(await rpc("eth_getRawTransactionByHash", [hash])));
  }
  return raws;
}

async function broadcast(rpc: Rpc, raws: readonly string[]): Promise<void> {
  for (const raw of raws) await rpc("eth_sendRawTransaction", [raw]);
}
