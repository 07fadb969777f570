import { expect } from "chai";
import { makeRangeSize } from "../../../../src/features/payments/watcher/chain-reader.ts";
import type { TransferRow } from "../../../../src/features/payments/table.ts";
import {
  batchesOf,
  compareAgain,
  compareWindow,
  isSame,
} from "../../../../src/features/payments/ledger/chain-diff.ts";
import type { TransferLog } from "../../../../src/platform/chain/client.ts";
import { addressOf, wordOf } from "../../../support/chain/fake-chain.ts";

function logAt(
  transaction: string,
  height: number,
  logIndex: number,
  amount = 5n,
  ordinal = 0,
): TransferLog {
  return {
    transactionHash: wordOf(transaction),
    logIndex,
    ordinal,
    blockHeight: height,
    blockHash: wordOf(`block ${String(height)}`),
    blockTime: height,
    contract: addressOf("token"),
    from: addressOf("payer"),
    to: addressOf("shop"),
    amount,
  };
}

function stored(log: TransferLog, changes: Partial<TransferRow> = {}): TransferRow {
  return {
    id: `trf_${log.transactionHash}${String(log.logIndex)}${String(log.ordinal)}`,
    network: "ethereum",
    transactionHash: log.transactionHash,
    logIndex: log.logIndex,
    blockHeight: log.blockHeight,
    blockHash: log.blockHash,
    blockTime: log.blockHeight,
    contract: log.contract,
    token: "USDT",
    tokenDecimals: 6,
    fromAddress: log.from,
    toAddress: log.to,
    amount: log.amount,
    ordinal: log.ordinal,
    status: "seen",
    isFinal: false,
    organizationId: null,
    invoiceId: null,
    disposition: "unmatched",
    waitingReason: null,
    verification: "open",
    createdAt: 0,
    ...changes,
  };
}

const range = { from: 10, to: 20 };

describe("Comparing a window of the chain", () => {
  it("finds no difference if nothing changed", () => {
    const log = logAt("a", 12, 0);
    expect(isSame(compareWindow([stored(log)], [log], range))).to.equal(true);
  });

  it("treats missing transfers as orphaned only in the range that was read", () => {
    const rows = [
      ...[logAt("below", 9, 0), logAt("first", 10, 0)],
      ...[logAt("last", 20, 0), logAt("above", 21, 0)],
    ];
    const { orphaned } = compareWindow(
      rows.map((log) => stored(log)),
      [],
      range,
    );
    expect(orphaned.map(({ blockHeight }) => blockHeight)).to.deep.equal([10, 20]);
  });

  it("ignores transfers that are final or already orphaned", () => {
    const rows = [
      stored(logAt("final", 12, 0), { isFinal: true }),
      stored(logAt("gone", 13, 0), { status: "orphaned" }),
    ];
    expect(isSame(compareWindow(rows, [], range))).to.equal(true);
  });

  it("recognizes a transfer in another block, at another index, and from outside the range", () => {
    const rows = [stored(logAt("a", 12, 3)), stored(logAt("b", 25, 0))];
    const { moved, fresh, orphaned } = compareWindow(
      rows,
      [logAt("a", 14, 7), logAt("b", 15, 0)],
      range,
    );
    expect(moved.map(({ transfer, log }) => [transfer.id, log.blockHeight])).to.deep.equal([
      [rows[0]?.id, 14],
      [rows[1]?.id, 15],
    ]);
    expect([...fresh, ...orphaned]).to.deep.equal([]);
  });

  it("distinguishes equal transfers of a transaction by their place among each other", () => {
    const equal = (height: number, count: number) =>
      Array.from({ length: count }, (_, place) => logAt("a", height, place, 5n, place));
    const rows = equal(12, 2).map((log) => stored(log));
    const more = compareWindow(rows, equal(12, 3), range);
    expect(more.fresh.map(({ ordinal }) => ordinal)).to.deep.equal([2]);
    const fewer = compareWindow(rows, equal(13, 1), range);
    expect(fewer.moved.map(({ transfer }) => transfer.ordinal)).to.deep.equal([0]);
    expect(fewer.orphaned.map(({ ordinal }) => ordinal)).to.deep.equal([1]);
  });

  it("finds nothing changed if another provider counts the log indexes in another way", () => {
    const first = [logAt("a", 12, 7), logAt("a", 12, 8, 6n), logAt("a", 12, 9, 5n, 1)];
    const rows = first.map((log) => stored(log));
    for (const counted of [
      [0, 1, 2],
      [9, 8, 7],
      [7, 7, 7],
    ]) {
      const again = first.map((log, place) => ({ ...log, logIndex: counted[place] ?? 0 }));
      expect(isSame(compareWindow(rows, again, range)), String(counted)).to.equal(true);
      expect(isSame(compareAgain(rows, again, 10)), String(counted)).to.equal(true);
    }
  });

  it("restores an orphaned transfer", () => {
    const log = logAt("a", 12, 0);
    const { moved } = compareWindow([stored(log, { status: "orphaned" })], [log], range);
    expect(moved).to.have.length(1);
  });

  it("does not treat a log with another amount or receiver as the same transfer", () => {
    const { fresh, orphaned } = compareWindow(
      [stored(logAt("a", 12, 0, 5n))],
      [logAt("a", 12, 0, 6n)],
      range,
    );
    expect([fresh.length, orphaned.length]).to.deep.equal([1, 1]);
  });

  it("never enters a final transaction a second time", () => {
    const final = stored(logAt("a", 5, 0), { isFinal: true });
    const difference = compareWindow([final], [logAt("a", 12, 0), logAt("a", 12, 1, 5n, 1)], range);
    expect(isSame(difference)).to.equal(true);
    expect(difference.contradicting).to.have.length(2);
    const open = logAt("a", 12, 1, 5n, 1);
    const both = compareWindow([stored(open), final], [open], range);
    expect(both.contradicting).to.have.length(1);
  });

  it("finds every transfer of a transaction that is not on record", () => {
    const found = [logAt("a", 12, 0), logAt("a", 12, 1, 5n, 1)];
    expect(compareWindow([], found, range)).to.deep.equal({
      fresh: found,
      moved: [],
      orphaned: [],
      contradicting: [],
    });
  });
});

describe("Comparing a range that was read before", () => {
  it("finds new and returning transfers, and orphans none", () => {
    const gone = stored(logAt("gone", 12, 0), { status: "orphaned" });
    const there = stored(logAt("there", 12, 1));
    const missing = stored(logAt("missing", 12, 2));
    const found = [logAt("gone", 12, 0), logAt("there", 12, 1), logAt("new", 12, 3)];
    const difference = compareAgain([gone, there, missing], found, 20);
    expect(difference.fresh).to.deep.equal([found[2]]);
    expect(difference.moved.map(({ transfer }) => transfer)).to.deep.equal([gone]);
    expect(difference).to.deep.include({ orphaned: [], contradicting: [] });
  });

  it("finds more transfers of a final transaction in its block, and refuses them in another", () => {
    const final = stored(logAt("a", 12, 0), { isFinal: true });
    const more = compareAgain([final], [logAt("a", 12, 0), logAt("a", 12, 1, 5n, 1)], 20);
    expect(more.fresh.map(({ logIndex }) => logIndex)).to.deep.equal([1]);
    expect(more.contradicting).to.deep.equal([]);
    const elsewhere = compareAgain([final], [logAt("a", 13, 0)], 20);
    expect(isSame(elsewhere)).to.equal(true);
    expect(elsewhere.contradicting).to.have.length(1);
    expect(elsewhere.moved).to.deep.equal([]);
  });

  it("leaves a transfer that is not final to the watcher, unless the watcher has passed over its block", () => {
    const open = stored(logAt("a", 12, 0));
    const found = [logAt("a", 13, 0)];
    for (const [cursorHeight, count] of [
      [11, 0],
      [12, 1],
    ] as const) {
      const { moved, contradicting } = compareAgain([open], found, cursorHeight);
      expect(moved.map(({ log }) => log.blockHeight)).to.deep.equal(count === 1 ? [13] : []);
      expect(contradicting).to.deep.equal([]);
    }
    expect(isSame(compareAgain([open], [logAt("a", 12, 0)], 12))).to.equal(true);
  });
});

describe("A known transfer", () => {
  const log = logAt("a", 12, 3);
  const isMoved = (changes: Partial<TransferRow>, found: Partial<TransferLog> = {}) =>
    compareWindow([stored(log, changes)], [{ ...log, ...found }], range).moved.length === 1;

  it("has moved if its block or height changed, whatever its log index", () => {
    expect(isMoved({})).to.equal(false);
    expect(isMoved({ blockHash: wordOf("other") })).to.equal(true);
    expect(isMoved({ blockHeight: 13 })).to.equal(true);
    expect(isMoved({ logIndex: 4 })).to.equal(false);
    expect(isMoved({ status: "orphaned" })).to.equal(true);
  });

  it("has moved to another time only if providers agree on it", () => {
    const timed = (blockTime: number, isTimeAgreed: boolean) =>
      compareWindow([stored(log)], [{ ...log, blockTime, isTimeAgreed }], range).moved.length;
    expect(timed(12, true)).to.equal(0);
    expect(timed(13, true)).to.equal(1);
    expect(timed(13, false)).to.equal(0);
  });

  it("is another transfer if its contract, parties or amount differ", () => {
    const other = addressOf("other");
    for (const changes of [
      { contract: other },
      { fromAddress: other },
      { toAddress: other },
      { amount: 6n },
    ]) {
      const { fresh, orphaned, moved } = compareWindow([stored(log, changes)], [log], range);
      expect([fresh.length, orphaned.length, moved.length]).to.deep.equal([1, 1, 0]);
    }
  });

  it("is not orphaned a second time in a transaction that is found", () => {
    const gone = stored(logAt("a", 12, 0, 7n), { status: "orphaned" });
    const { orphaned } = compareWindow([gone], [logAt("a", 12, 1)], range);
    expect(orphaned).to.deep.equal([]);
  });
});

describe("A difference", () => {
  it("is empty only without new, moved and orphaned transfers", () => {
    const nothing = { fresh: [], moved: [], orphaned: [], contradicting: [] };
    const log = logAt("a", 12, 0);
    expect(isSame(nothing)).to.equal(true);
    expect(isSame({ ...nothing, contradicting: [log] })).to.equal(true);
    expect(isSame({ ...nothing, fresh: [log] })).to.equal(false);
    expect(isSame({ ...nothing, orphaned: [stored(log)] })).to.equal(false);
    expect(isSame({ ...nothing, moved: [{ transfer: stored(log), log }] })).to.equal(false);
  });

  it("is split into batches of new transfers, the first with all other changes", () => {
    const logs = [1, 2, 3, 4].map((place) => logAt("a", 12, place));
    const log = logAt("b", 12, 0);
    const whole = {
      fresh: logs,
      moved: [{ transfer: stored(log), log }],
      orphaned: [stored(log)],
      contradicting: [log],
    };
    const rest = { moved: [], orphaned: [], contradicting: [] };
    expect(batchesOf(whole, 3)).to.deep.equal([
      { ...whole, fresh: logs.slice(0, 3) },
      { ...rest, fresh: logs.slice(3) },
    ]);
    expect(batchesOf(whole, 2)).to.have.length(2);
    expect(batchesOf(whole, 4)).to.deep.equal([whole]);
    expect(batchesOf({ ...whole, fresh: [] }, 4)).to.have.length(1);
  });
});

describe("The size of a range", () => {
  it("starts at 200 blocks, halves when refused, and grows to the accepted maximum", () => {
    const size = makeRangeSize(1_000);
    expect(size.current()).to.equal(200);
    size.refused(200);
    expect(size.current()).to.equal(100);
    for (let ranges = 0; ranges < 20; ranges += 1) size.accepted(size.current());
    expect(size.current()).to.equal(199);
    for (let ranges = 0; ranges < 60; ranges += 1) size.accepted(size.current());
    expect(size.current()).to.equal(1_000);
  });

  it("is tried above a refused one after fifty ranges since", () => {
    const size = makeRangeSize(1_000);
    const accept = (ranges: number) => {
      for (let accepted = 0; accepted < ranges; accepted += 1) size.accepted(size.current());
      return size.current();
    };
    size.refused(200);
    expect([accept(49), accept(1)]).to.deep.equal([199, 299]);
    size.refused(299);
    accept(48);
    size.refused(200);
    expect([accept(49), accept(1)]).to.deep.equal([199, 299]);
  });

  it("is at least one block, and at most the network's maximum", () => {
    const size = makeRangeSize(5);
    expect(size.current()).to.equal(5);
    expect(size.refused(5)).to.equal(true);
    expect(size.refused(2)).to.equal(true);
    expect(size.current()).to.equal(1);
    expect(size.refused(1)).to.equal(false);
  });

  it("does not grow after smaller ranges were accepted", () => {
    const size = makeRangeSize(1_000);
    for (let ranges = 0; ranges < 20; ranges += 1) size.accepted(10);
    expect(size.current()).to.equal(200);
  });
});
