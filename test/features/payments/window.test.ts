import { expect } from "chai";
import { makeRangeSize } from "../../../src/features/payments/look.ts";
import type { TransferRow } from "../../../src/features/payments/table.ts";
import { compareWindow, isSame } from "../../../src/features/payments/window.ts";
import type { TransferLog } from "../../../src/platform/chain/client.ts";
import { addressOf, wordOf } from "./scripted-chain.ts";

function logAt(transaction: string, height: number, logIndex: number, amount = 5n): TransferLog {
  return {
    transactionHash: wordOf(transaction),
    logIndex,
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
    id: `trf_${log.transactionHash}${String(log.logIndex)}`,
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
    status: "seen",
    isFinal: false,
    organizationId: null,
    invoiceId: null,
    disposition: "unmatched",
    createdAt: 0,
    ...changes,
  };
}

const range = { from: 10, to: 20 };

describe("Comparing a window of the chain", () => {
  it("finds nothing where all is as it was", () => {
    const log = logAt("a", 12, 0);
    expect(isSame(compareWindow([stored(log)], [log], range))).to.equal(true);
  });

  it("takes what is missing for gone only in the range that was read", () => {
    const rows = [logAt("below", 9, 0), logAt("inside", 10, 0), logAt("above", 21, 0)];
    const { orphaned } = compareWindow(
      rows.map((log) => stored(log)),
      [],
      range,
    );
    expect(orphaned.map(({ blockHeight }) => blockHeight)).to.deep.equal([10]);
  });

  it("leaves what is final or gone already", () => {
    const rows = [
      stored(logAt("final", 12, 0), { isFinal: true }),
      stored(logAt("gone", 13, 0), { status: "orphaned" }),
    ];
    expect(isSame(compareWindow(rows, [], range))).to.equal(true);
  });

  it("knows a transfer in another block, at another place, and from beyond the range", () => {
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

  it("tells equal transfers of a transaction apart by their number", () => {
    const rows = [stored(logAt("a", 12, 0)), stored(logAt("a", 12, 1))];
    const more = compareWindow(
      rows,
      [logAt("a", 12, 0), logAt("a", 12, 1), logAt("a", 12, 2)],
      range,
    );
    expect(more.fresh.map(({ logIndex }) => logIndex)).to.deep.equal([2]);
    const fewer = compareWindow(rows, [logAt("a", 13, 1)], range);
    expect(fewer.moved.map(({ transfer }) => transfer.logIndex)).to.deep.equal([1]);
    expect(fewer.orphaned.map(({ logIndex }) => logIndex)).to.deep.equal([0]);
  });

  it("prefers what is on the chain to what had left it", () => {
    const gone = stored(logAt("a", 11, 0), { id: "trf_gone", status: "orphaned" });
    const there = stored(logAt("a", 12, 4), { id: "trf_there" });
    const { moved } = compareWindow([gone, there], [logAt("a", 13, 5)], range);
    expect(moved.map(({ transfer }) => transfer.id)).to.deep.equal(["trf_there"]);
  });

  it("gives back a transfer that had left the chain", () => {
    const log = logAt("a", 12, 0);
    const { moved } = compareWindow([stored(log, { status: "orphaned" })], [log], range);
    expect(moved).to.have.length(1);
  });

  it("does not take another amount or receiver for the same transfer", () => {
    const { fresh, orphaned } = compareWindow(
      [stored(logAt("a", 12, 0, 5n))],
      [logAt("a", 12, 0, 6n)],
      range,
    );
    expect([fresh.length, orphaned.length]).to.deep.equal([1, 1]);
  });

  it("never takes a final transaction a second time", () => {
    const final = stored(logAt("a", 5, 0), { isFinal: true });
    const difference = compareWindow([final], [logAt("a", 12, 0), logAt("a", 12, 1)], range);
    expect(isSame(difference)).to.equal(true);
    expect(difference.contradicting).to.have.length(2);
  });
});

describe("The size of a range", () => {
  it("starts at 200 blocks, halves when it is refused and grows to what is allowed", () => {
    const size = makeRangeSize(1_000);
    expect(size.current()).to.equal(200);
    size.refused(200);
    expect(size.current()).to.equal(100);
    for (let ranges = 0; ranges < 20; ranges += 1) size.accepted(size.current());
    expect(size.current()).to.equal(199);
    for (let ranges = 0; ranges < 60; ranges += 1) size.accepted(size.current());
    expect(size.current()).to.equal(1_000);
  });

  it("is never less than a block, and never more than the network's most", () => {
    const size = makeRangeSize(5);
    expect(size.current()).to.equal(5);
    expect(size.refused(5)).to.equal(true);
    expect(size.refused(2)).to.equal(true);
    expect(size.current()).to.equal(1);
    expect(size.refused(1)).to.equal(false);
  });

  it("does not grow by answers that were smaller than it", () => {
    const size = makeRangeSize(1_000);
    for (let ranges = 0; ranges < 20; ranges += 1) size.accepted(10);
    expect(size.current()).to.equal(200);
  });
});
