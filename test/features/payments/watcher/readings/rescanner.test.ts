// Unit tests of readings of blocks that were read before: their slices, and what becomes of them if the chain changes.
import { expect } from "chai";
import { ScanInterrupted } from "../../../../../src/features/payments/errors.ts";
import { makeRangeSize } from "../../../../../src/features/payments/watcher/chain-reader.ts";
import { makeScanner } from "../../../../../src/features/payments/watcher/readings/rescanner.ts";
import type { ChainClient } from "../../../../../src/platform/chain/client.ts";
import type { TimedLog } from "../../../../../src/features/payments/ledger/chain-diff.ts";
import type { NetworkStateRow } from "../../../../../src/platform/chain/state/network-state.ts";
import type { ReadingRow } from "../../../../../src/platform/chain/state/reading-ranges.ts";
import { readingTable } from "../../../../../src/platform/chain/state/readings.ts";
import { testContext } from "../../../../support/store/stores.ts";

const state = {
  cursorHeight: 100_000,
  cursorHash: "final",
  tipHeight: 100_010,
  disabledTokens: [],
  version: 3,
};

/** A scanner of blocks without transfers, over a store whose state a test changes. */
function open() {
  const given: {
    /** The state in the store when a reading is recorded; null if the network was never reached. */
    stored: Partial<typeof state> | null;
    /** The failures of the provider's next answers. */
    failures: Error[];
    knownHash: string;
  } = { stored: {}, failures: [], knownHash: "final" };
  const added: string[] = [];
  const entered: unknown[] = [];
  const versions: (number | undefined)[] = [];
  let reads = 0;
  const client = {
    provider: "http://one",
    heads: () => {
      reads += 1;
      const failure = given.failures.shift();
      if (failure !== undefined) return Promise.reject(failure);
      const latest = { height: state.tipHeight, hash: "tip", time: 9 };
      return Promise.resolve({ latest, finalized: latest, known: { hash: given.knownHash } });
    },
    blocks: (heights: readonly number[]) =>
      Promise.resolve(heights.map((height) => ({ height, hash: `h${String(height)}`, time: 5 }))),
  };
  const tx = {
    lockOne: () => Promise.resolve(given.stored === null ? null : { ...state, ...given.stored }),
    lock: () => Promise.resolve([]),
    deleteMany: () => Promise.resolve(),
    all: () => Promise.resolve([]),
    update(_table: unknown, { version }: Partial<typeof state>) {
      versions.push(version);
      return Promise.resolve(1);
    },
    insertMany(table: unknown, rows: readonly ReadingRow[]) {
      if (table !== readingTable) return Promise.resolve();
      for (const { fromHeight, toHeight, parentHash, toHash } of rows) {
        added.push(`${String(fromHeight)} to ${String(toHeight)}`);
        expect(parentHash).to.equal(fromHeight === 0 ? null : `h${String(fromHeight - 1)}`);
        expect(toHash).to.equal(`h${String(toHeight)}`);
      }
      return Promise.resolve();
    },
  };
  const scanner = makeScanner({
    clock: { now: () => 7 },
    ids: { next: (kind: string) => kind },
    network: {
      id: "base",
      maxLogRange: 1_000,
      tokens: [{ symbol: "USDT", contract: "usdt", decimals: 6, dust: 1n }],
    },
    pool: { client },
    times: { of: () => Promise.resolve(new Map()) },
    invoices: {
      watchedAddresses: () => Promise.resolve([]),
      matchHolds: () => Promise.resolve(new Map()),
    },
    db: {
      dialect: "sqlite",
      findOne: () => Promise.resolve(state),
      find: () => Promise.resolve([]),
      write: (_context: unknown, change: (to: typeof tx) => Promise<void>) => change(tx),
    },
  } as never);
  return {
    given,
    added,
    entered,
    reads: () => reads,
    versions,
    /** Records a reading of blocks 491 to 500 with some transfers that are not on record. */
    enter: (fresh: readonly TimedLog[]) => {
      const block = (height: number) => ({ height, hash: `h${String(height)}`, time: 5 });
      const reading = {
        from: 491,
        to: 500,
        provider: "http://one",
        found: fresh.length,
        parent: block(490),
        end: block(500),
        state: state as Partial<NetworkStateRow> as NetworkStateRow,
        difference: { fresh, moved: [], orphaned: [], contradicting: [] },
      };
      return scanner.record(testContext, reading, {
        guard: () => Promise.resolve(),
        within: (_tx, logs) => Promise.resolve(void entered.push(logs.length)),
      });
    },
    scan: (from: number, to: number, progress?: (...step: unknown[]) => void) =>
      scanner.scan(testContext, { from, to }, progress),
    /** Reads a range, changes the store's state, and records the reading. */
    record: async (
      to: number,
      stored: typeof given.stored,
      isReading = true,
      guard = () => Promise.resolve(),
    ) => {
      const range = { from: to - 9, to };
      const asked = client as unknown as ChainClient;
      const reading = await scanner.read(asked, makeRangeSize(1_000), range);
      given.stored = stored;
      const within = (_tx: unknown, logs: unknown) => Promise.resolve(void entered.push(logs));
      return scanner.record(testContext, reading, { guard, isReading, within }).then(
        () => "recorded",
        (error: unknown) => (error as Error).message,
      );
    },
  };
}

describe("A range that an operator scans again", () => {
  it("is read twenty thousand blocks at a time, with its progress", async () => {
    const { scan, added } = open();
    const steps: unknown[] = [];
    const report = await scan(11, 45_000, (...step) => steps.push(step));
    expect(report).to.deep.equal({ from: 11, to: 45_000, found: 0, fresh: [] });
    expect(added).to.deep.equal(["11 to 20010", "20011 to 40010", "40011 to 45000"]);
    expect(steps).to.deep.equal([
      ["Reading blocks", 0, 44_990],
      ["Reading blocks", 20_000, 44_990],
      ["Reading blocks", 40_000, 44_990],
    ]);
    const single = open();
    await single.scan(0, 0);
    expect(single.added).to.deep.equal(["0 to 0"]);
  });

  it("is given up after five attempts during which the chain changed, and at once if anything else fails", async () => {
    const changing = open();
    changing.given.stored = null;
    const interrupted = await changing.scan(1, 5).catch((error: unknown) => error as Error);
    expect(interrupted).to.be.instanceOf(ScanInterrupted);
    expect(interrupted)
      .to.have.property("message")
      .that.matches(/Scan the range again\.$/);
    expect(changing.reads()).to.equal(5);
    const another = open();
    another.given.knownHash = "another";
    await another.scan(1, 5).catch(() => undefined);
    expect(another.reads()).to.equal(5);
    const failing = open();
    failing.given.failures = [new Error("it is away")];
    const failed = await failing.scan(1, 5).catch((error: unknown) => error as Error);
    expect(failed).to.have.property("message", "it is away");
    expect(failing.reads()).to.equal(1);
  });
});

describe("A reading with very many new transfers", () => {
  it("is stored a thousand at a time, each on the state that the one before left, and counts once", async () => {
    const { enter, entered, versions, added } = open();
    const log = (place: number): TimedLog => ({
      transactionHash: `tx${String(place)}`,
      logIndex: 0,
      blockHeight: 495,
      blockHash: "h495",
      blockTime: 5,
      contract: "usdt",
      from: "payer",
      to: "shop",
      amount: 25n,
      isTimeAgreed: true,
    });
    await enter(Array.from({ length: 2_001 }, (_, place) => log(place)));
    expect(entered).to.deep.equal([1_000, 1_000, 1]);
    expect(versions).to.deep.equal([4, 5, 6]);
    expect(added).to.deep.equal(["491 to 500"]);
  });
});

describe("A reading without new transfers", () => {
  it("counts unless the cursor was set back below its blocks, or to another block", async () => {
    const { record, added, versions } = open();
    expect(await record(500, {})).to.equal("recorded");
    expect(await record(600, { cursorHeight: 100_001, cursorHash: "next" })).to.equal("recorded");
    // Up to the newest final block.
    expect(await record(100_000, {})).to.equal("recorded");
    expect(added).to.deep.equal(["491 to 500", "591 to 600", "99991 to 100000"]);
    // The watcher goes on undisturbed.
    expect(versions).to.deep.equal([]);
    for (const stored of [
      null,
      { cursorHeight: 99_999 },
      { cursorHeight: 400 },
      { cursorHash: "another" },
    ]) {
      const name = JSON.stringify(stored);
      expect(await record(500, stored), name).to.match(/replaced final blocks/);
    }
    expect(added).to.have.length(3);
  });

  it("is not stored by a process that has lost its lease", async () => {
    const { record, added, entered } = open();
    const lost = () => Promise.reject(new Error("the lease was lost"));
    expect(await record(500, {}, true, lost)).to.equal("the lease was lost");
    expect([added, entered]).to.deep.equal([[], []]);
  });

  it("counts as none if it only asks a question again", async () => {
    const { record, added, entered } = open();
    expect(await record(500, {}, false)).to.equal("recorded");
    expect(added).to.deep.equal([]);
    expect(entered).to.deep.equal([[]]);
  });
});
