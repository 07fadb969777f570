import { makeBlockTimes } from "../../../../src/features/payments/watcher/block-times.ts";
import { makeProviderCrossCheck } from "../../../../src/features/payments/watcher/provider-cross-check.ts";
import { makeScanner } from "../../../../src/features/payments/watcher/readings/rescanner.ts";
import type { ChainClient } from "../../../../src/platform/chain/client.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import { stateTable } from "../../../../src/platform/chain/state/network-state.ts";
import type {
  ProviderCondition,
  ProviderHealth,
} from "../../../../src/platform/chain/state/provider-health.ts";
import type { ReadingRow } from "../../../../src/platform/chain/state/reading-ranges.ts";
import { readingsOf, readingTable } from "../../../../src/platform/chain/state/readings.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import type { Ledger } from "../../../support/ledger.ts";
import { addNetwork, readingParts } from "../../../support/watched-ledger.ts";
import { testContext } from "../../../support/store/stores.ts";
import { addressOf, makeFakeChain } from "../../../support/chain/fake-chain.ts";

/** The hash of a block on the chain that was scanned: it does not depend on the times of blocks. */
export const hashAt = (height: number): string =>
  makeFakeChain({ chainId: 1, startAt: 0, blockMs: 0 }).block(height).hash;

/** Blocks 11 to 20, which the first provider read long ago. */
export const scanned: ReadingRow = {
  fromHeight: 11,
  parentHash: hashAt(10),
  toHeight: 20,
  toHash: hashAt(20),
  readings: [{ provider: "one", at: 0 }],
  openedAt: 0,
};

export interface Checked {
  /**
   * The hashes of block 20 by provider, in order of preference, the first of which is in use; null if a provider lacks
   * the block.
   */
  readonly ends: Readonly<Record<string, string | null>>;
  readonly rows?: readonly ReadingRow[];
  /** The time for which an address of the shop is watched, in milliseconds; by default none is. */
  readonly watchedMs?: number;
  /** True if the address is held for an invoice for as long. */
  readonly isHeld?: boolean;
  /** The newest block that was read when the address was first held; by default the newest of all. */
  readonly markHeight?: number;
  /** The heights of the blocks in which the providers list a transfer to the address. */
  readonly paidAt?: readonly number[];
  readonly maxLogRange?: number;
  /** The condition of the first provider, and the time at which its logs were proven last. */
  readonly condition?: ProviderCondition;
  readonly provenAt?: number;
}

export type CheckedNetwork = Awaited<ReturnType<typeof openChecked>>;

/** Adds a network to a shop, whose newest block is 30 or the last that was read, and checks its providers against each other. */
export async function openChecked(shop: Ledger, checked: Checked) {
  const { ends, rows = [scanned], watchedMs, isHeld = false, paidAt = [] } = checked;
  const { maxLogRange = 1_000, condition = "ok", provenAt = null } = checked;
  const network = addNetwork(shop, { maxLogRange });
  const { id, blockTimeMs } = network;
  const address = addressOf(id);
  const cursorHeight = Math.max(25, ...rows.map(({ toHeight }) => toHeight));
  const tipHeight = Math.max(30, cursorHeight);
  await shop.scan(id, checked.markHeight ?? tipHeight);
  if (watchedMs !== undefined) {
    const { id: walletId } = await shop.addWallet(id, { address: `0x${address}` });
    if (isHeld) await shop.create({ network: id, walletId });
    shop.advance(watchedMs);
  }
  await shop.scan(id, tipHeight);
  const begun = shop.now();
  await shop.db.write(testContext, async (tx) => {
    const final = {
      cursorHeight,
      cursorHash: hashAt(cursorHeight),
      tipTime: begun,
      tipSeenAt: begun,
    };
    await tx.update(stateTable, final, "WHERE network = $1", [id]);
    const stored = rows.map((row) => ({ network: id, ...row }));
    await tx.insertMany(readingTable, stored);
  });

  const asked: string[] = [];
  /** The condition of the first provider, and the number of questions for the oldest hold. */
  const given = { condition, holdsAsked: 0 };
  const startAt = begun - tipHeight * blockTimeMs;
  const chain = makeFakeChain({ chainId: 1, startAt, blockMs: blockTimeMs });
  const contract = network.tokens[0]?.contract ?? "";
  chain.mine([], tipHeight);
  for (const height of paidAt) {
    const paid = { transaction: `paid at ${String(height)}`, contract, to: address };
    const other = { contract: addressOf("another token"), to: address, amount: 1n };
    chain.place(height, [other, other, { ...paid, amount: 25_000_000n }]);
  }

  function clientOf(name: string): ChainClient {
    const hashes = new Map([[20, ends[name] ?? null]]);
    const told = chain.provider(name, { isAllFinal: true, receipt: "unknown", hashes });
    return {
      ...told,
      network: id,
      blocks(heights) {
        asked.push(`${name}: block ${heights.join(" ")}`);
        return told.blocks(heights);
      },
      receipt(transactionHash) {
        asked.push(`${name}: receipt ${transactionHash}`);
        return told.receipt(transactionHash);
      },
    };
  }
  const providers = Object.keys(ends).map(clientOf);
  const health = () =>
    providers.map(({ provider }, place) => {
      const isInUse = place === 0;
      const known: Partial<ProviderHealth> = { place, provider, isInUse, provenAt };
      return { ...known, condition: isInUse ? given.condition : "ok" } as ProviderHealth;
    });

  const ledger = readingParts(shop);
  const { clock } = ledger;
  const alarms = createAlarms(ledger);
  const db: Database = {
    ...ledger.db,
    all(sql, ...values) {
      if (sql.includes('AS "oldest" FROM holds')) given.holdsAsked += 1;
      return ledger.db.all(sql, ...values);
    },
  };
  const reading = { ...ledger, db, network, alarms };
  const [client = clientOf("nobody")] = providers;
  const check = makeProviderCrossCheck({
    ...reading,
    pool: { providers, health, distrust: () => undefined },
    scanner: makeScanner({
      ...reading,
      pool: { client, providers },
      times: makeBlockTimes({ clock, providers, alarms }),
    }),
  });
  return {
    network,
    alarms,
    asked,
    given,
    check,
    /** Returns the ranges that a provider has read, lowest first; by default those that were read since the start. */
    readBy: async (name: string | null = null) => {
      return (await readingsOf(shop.db, id)).flatMap(({ fromHeight, toHeight, readings }) =>
        readings
          .filter(({ provider, at }) => (name === null ? at >= begun : provider === name))
          .map(({ provider }) => `${provider}: ${String(fromHeight)} to ${String(toHeight)}`),
      );
    },
    /** Stores ranges as the watcher reads them, in place of those that begin with the same block. */
    store: (...read: readonly ReadingRow[]) =>
      shop.db.write(testContext, (tx) =>
        tx.upsertMany(
          readingTable,
          read.map((row) => ({ network: id, ...row })),
        ),
      ),
    /** Lets time pass, and checks. Returns whether more is due at once. */
    later: (milliseconds: number, guard = () => Promise.resolve()) => {
      shop.advance(milliseconds);
      return check.compare(guard);
    },
  };
}
