// Readings of blocks that were read before: their slices, and their fate if the chain changes meanwhile.
import { expect } from "chai";
import { ScanInterrupted } from "../../../../../src/features/payments/errors.ts";
import { makeBlockTimes } from "../../../../../src/features/payments/watcher/block-times.ts";
import { makeRangeSize } from "../../../../../src/features/payments/watcher/chain-reader.ts";
import { makeScanner } from "../../../../../src/features/payments/watcher/readings/rescanner.ts";
import type { ChainClient } from "../../../../../src/platform/chain/client.ts";
import { createAlarms } from "../../../../../src/platform/chain/state/alarms.ts";
import {
  networkState,
  stateTable,
  type NetworkStateRow,
} from "../../../../../src/platform/chain/state/network-state.ts";
import { readingsOf } from "../../../../../src/platform/chain/state/readings.ts";
import { openLedger, type Ledger } from "../../../../support/ledger.ts";
import { addNetwork, readingParts } from "../../../../support/watched-ledger.ts";
import { anyStore, testContext } from "../../../../support/store/stores.ts";

const cursorHeight = 100_000;
const tipHeight = cursorHeight + 10;
const hashAt = (height: number) => `h${String(height)}`;
const letAll = () => Promise.resolve();

anyStore("Blocks that are read again", (store) => {
  let shop: Ledger;
  before(async () => {
    shop = await openLedger(await store.open());
  });

  /** Opens the scanner of a network that was read up to a final block, and whose blocks hold no transfers. */
  async function open() {
    const network = addNetwork(shop);
    const { id, chainId } = network;
    const { db } = shop;
    const first: NetworkStateRow = {
      network: id,
      chainId,
      cursorHeight,
      cursorHash: hashAt(cursorHeight),
      cursorTime: 5,
      tipHeight,
      tipHash: hashAt(tipHeight),
      tipTime: 5,
      tipSeenAt: 5,
      headHeight: tipHeight,
      scannedAt: shop.now(),
      usualLagMs: 0,
      disabledTokens: [],
      version: 3,
    };
    await db.write(testContext, (tx) => tx.insert(stateTable, first));
    const blockAt = (height: number) => ({ height, hash: hashAt(height), time: 5 });
    /** The provider's hash of the final block, and what happens before it answers with its newest block. */
    const given = { knownHash: first.cursorHash, beforeHeads: letAll };
    const asked: number[] = [];
    let reads = 0;
    const client: Partial<ChainClient> = {
      provider: "http://one",
      async heads() {
        reads += 1;
        await given.beforeHeads();
        const latest = blockAt(tipHeight);
        const known = { ...blockAt(cursorHeight), hash: given.knownHash };
        return { latest, finalized: latest, known };
      },
      blocks(heights) {
        asked.push(...heights);
        return Promise.resolve(heights.map(blockAt));
      },
    };
    const provider = client as ChainClient;
    const ledger = readingParts(shop);
    const alarms = createAlarms(ledger);
    const scanner = makeScanner({
      ...ledger,
      network,
      pool: { client: provider, providers: [provider] },
      times: makeBlockTimes({ ...ledger, providers: [provider], alarms }),
    });

    /** Changes the stored state of the network; null removes it. */
    const change = (changes: Partial<NetworkStateRow> | null) =>
      db.write(testContext, async (tx) => {
        if (changes === null) await tx.deleteMany(stateTable, [{ network: id }]);
        else await tx.upsertMany(stateTable, [{ ...first, ...changes }]);
      });

    return {
      given,
      asked,
      reads: () => reads,
      change,
      state: () => networkState(db, id),
      /** Returns the ranges that were read, lowest first. */
      readings: async () => {
        const rows = await readingsOf(db, id);
        for (const { fromHeight, parentHash, toHeight, toHash } of rows) {
          expect(parentHash).to.equal(fromHeight === 0 ? null : hashAt(fromHeight - 1));
          expect(toHash).to.equal(hashAt(toHeight));
        }
        return rows.map(({ fromHeight, toHeight }) => [fromHeight, toHeight]);
      },
      scan: (from: number, to: number, progress?: (...step: unknown[]) => void) =>
        scanner.scan(testContext, { from, to }, progress),
      /** Reads ten blocks, changes the stored state, and records the reading. Returns why it is refused. */
      record: async (
        to: number,
        changes: Partial<NetworkStateRow> | null = {},
        options: Partial<Parameters<typeof scanner.record>[2]> = {},
      ) => {
        await change({});
        const range = { from: to - 9, to };
        const reading = await scanner.read(provider, makeRangeSize(1_000), range);
        await change(changes);
        return scanner.record(testContext, reading, { guard: letAll, ...options }).then(
          () => "recorded",
          (error: unknown) => (error as Error).message,
        );
      },
    };
  }

  describe("by an operator", () => {
    it("are read twenty thousand at a time, with the progress", async () => {
      const { scan, readings, asked } = await open();
      const steps: unknown[] = [];
      const report = await scan(11, 45_000, (...step) => steps.push(step));
      expect(report).to.deep.equal({ from: 11, to: 45_000, found: 0, fresh: [], unreadable: [] });
      expect(await readings()).to.deep.equal([
        [11, 20_010],
        [20_011, 40_010],
        [40_011, 45_000],
      ]);
      expect(asked).to.deep.equal([20_010, 10, 40_010, 20_010, 45_000, 40_010]);
      expect(steps).to.deep.equal([
        ["Reading blocks", 0, 44_990],
        ["Reading blocks", 20_000, 44_990],
        ["Reading blocks", 40_000, 44_990],
      ]);
      const single = await open();
      await single.scan(0, 0);
      expect(await single.readings()).to.deep.equal([[0, 0]]);
    });

    it("are given up after five attempts during which the chain changed, and at once if anything else fails", async () => {
      const changing = await open();
      let height = cursorHeight;
      changing.given.beforeHeads = () => changing.change({ cursorHeight: (height -= 1) });
      const interrupted = await changing.scan(1, 5).catch((error: unknown) => error as Error);
      expect(interrupted).to.be.instanceOf(ScanInterrupted);
      expect(interrupted)
        .to.have.property("message")
        .that.matches(/Scan the range again\.$/);
      expect(changing.reads()).to.equal(5);
      expect(await changing.readings()).to.deep.equal([]);
      const another = await open();
      another.given.knownHash = "another";
      await another.scan(1, 5).catch(() => undefined);
      expect(another.reads()).to.equal(5);
      const failing = await open();
      failing.given.beforeHeads = () => Promise.reject(new Error("it is away"));
      const failed = await failing.scan(1, 5).catch((error: unknown) => error as Error);
      expect(failed).to.have.property("message", "it is away");
      expect(failing.reads()).to.equal(1);
    });
  });

  describe("without new transfers", () => {
    it("count unless the cursor was set back below them, or to another block", async () => {
      const { record, readings, state } = await open();
      expect(await record(500)).to.equal("recorded");
      const further = { cursorHeight: cursorHeight + 1, cursorHash: "next" };
      expect(await record(600, further)).to.equal("recorded");
      // Up to the newest final block.
      expect(await record(cursorHeight)).to.equal("recorded");
      const counted = [
        [491, 500],
        [591, 600],
        [cursorHeight - 9, cursorHeight],
      ];
      expect(await readings()).to.deep.equal(counted);
      // The watcher goes on undisturbed.
      expect((await state())?.version).to.equal(3);
      for (const changes of [
        null,
        { cursorHeight: cursorHeight - 1 },
        { cursorHeight: 400 },
        { cursorHash: "another" },
      ]) {
        const name = JSON.stringify(changes);
        expect(await record(700, changes), name).to.match(/replaced final blocks/);
      }
      expect(await readings()).to.deep.equal(counted);
    });

    it("are not stored by a process that has lost its lease", async () => {
      const { record, readings } = await open();
      const guard = () => Promise.reject(new Error("the lease was lost"));
      expect(await record(500, {}, { guard })).to.equal("the lease was lost");
      expect(await readings()).to.deep.equal([]);
    });

    it("do not count if they only answer a question again", async () => {
      const { record, readings } = await open();
      const entered: unknown[] = [];
      const within = (_tx: unknown, logs: unknown) => Promise.resolve(void entered.push(logs));
      expect(await record(500, {}, { close: () => Promise.resolve(), within })).to.equal(
        "recorded",
      );
      expect(await readings()).to.deep.equal([]);
      expect(entered).to.deep.equal([[]]);
    });
  });
});
