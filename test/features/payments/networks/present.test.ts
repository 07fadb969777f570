import { expect } from "chai";
import {
  presentAudit,
  presentScan,
  presentStatus,
} from "../../../../src/features/payments/networks/present.ts";
import type {
  AuditReport,
  NetworkStatus,
} from "../../../../src/features/payments/networks/chain.ts";
import { unknownProvider } from "../../../../src/platform/chain/state/readings.ts";

const readAt = Date.parse("2026-01-02T03:04:05Z");
const network = { id: "ethereum", kind: { formatBlockHash: (hash: string) => `0x${hash}` } };

const reportOf = (changes: Partial<AuditReport> = {}) =>
  presentAudit({
    network,
    from: 10,
    to: 30,
    cursorHeight: 28,
    witnessedTo: null,
    gaps: [],
    refused: [],
    seams: [],
    ranges: [],
    readings: [],
    ...changes,
  } as unknown as AuditReport);

describe("the audit of a network's blocks", () => {
  it("counts the blocks that one provider or none has read, and names the providers", () => {
    const reading = (from: number, to: number, timesRead: number, providers: string[]) => ({
      from,
      to,
      timesRead,
      providers,
      readAt,
    });
    const shown = reportOf({
      gaps: [
        { from: 20, to: 22 },
        { from: 25, to: 25 },
      ] as AuditReport["gaps"],
      readings: [
        reading(10, 12, 0, []),
        reading(13, 17, 1, ["a"]),
        reading(18, 19, 2, ["a", unknownProvider]),
        reading(23, 24, 3, ["a", "b"]),
      ],
    });
    expect(shown).to.deep.include({ blocksUnread: 4, blocksReadOnce: 8, isComplete: false });
    expect(shown.gaps).to.deep.equal([
      { fromBlockNumber: 20, toBlockNumber: 22 },
      { fromBlockNumber: 25, toBlockNumber: 25 },
    ]);
    expect(shown.readings[2]).to.deep.equal({
      fromBlockNumber: 18,
      toBlockNumber: 19,
      timesRead: 2,
      providers: ["a", "unknown"],
      readAt: "2026-01-02T03:04:05.000Z",
    });
  });

  it("is complete only without unread blocks and without ranges that do not fit each other", () => {
    const range = { fromHeight: 10, parentHash: null, toHeight: 15, toHash: "aa", readAt };
    const ranges = [range, { ...range, fromHeight: 16, parentHash: "bb" }];
    const shown = reportOf({ ranges: ranges as unknown as AuditReport["ranges"] });
    expect(shown).to.include({
      network: "ethereum",
      fromBlockNumber: 10,
      toBlockNumber: 30,
      finalizedBlockNumber: 28,
      witnessedBlockNumber: null,
      isComplete: true,
    });
    expect(
      shown.ranges.map(({ parentHash, toBlockHash }) => [parentHash, toBlockHash]),
    ).to.deep.equal([
      [null, "0xaa"],
      ["0xbb", "0xaa"],
    ]);
    const seams = [{ height: 16 }] as AuditReport["seams"];
    expect(reportOf({ seams })).to.deep.include({
      isComplete: false,
      blocksUnread: 0,
      seams: [{ blockNumber: 16 }],
    });
  });
});

describe("the status of a network", () => {
  const statusOf = (changes: Partial<NetworkStatus> = {}) => {
    const state = { tipHeight: 97, tipHash: "aa", tipTime: readAt, cursorHeight: 90 };
    const status = { network, state, isWatched: true, headHeight: 100, lagMs: 4_600 };
    const [shown] = presentStatus([
      { ...status, providers: [], providersAt: null, alarms: [], ...changes } as never,
    ]).data;
    return shown;
  };

  it("has the blocks and the seconds by which it is behind", () => {
    const { tip, ...shown } = statusOf() ?? {};
    expect(tip).to.deep.equal({
      blockNumber: 97,
      blockHash: "0xaa",
      blockTime: "2026-01-02T03:04:05.000Z",
    });
    expect(shown).to.include({ finalizedBlockNumber: 90, lagBlocks: 3, lagSeconds: 5 });
    expect(statusOf({ headHeight: 96 })).to.include({ lagBlocks: 0 });
  });

  it("says nothing that is not known", () => {
    const unknown = { tip: null, finalizedBlockNumber: null, lagBlocks: null };
    expect(statusOf({ state: null, lagMs: null })).to.include({ ...unknown, lagSeconds: null });
    expect(statusOf({ headHeight: null })).to.include({ headBlockNumber: null, lagBlocks: null });
  });

  it("has the last error of each provider", () => {
    const lastError = { kind: "unreachable", message: "it is away", at: readAt };
    const never = { answeredAt: null, retryAt: null };
    const providers = [
      { ...never, lastError },
      { ...never, lastError: null },
    ] as unknown as NetworkStatus["providers"];
    expect(statusOf({ providers })?.providers.map((one) => one.lastError)).to.deep.equal([
      { ...lastError, at: "2026-01-02T03:04:05.000Z" },
      null,
    ]);
  });
});

describe("the report of a scan", () => {
  it("has the new transfers in tokens, or in their smallest units if the token is not configured", () => {
    const same = String;
    const kind = { formatTransactionHash: same, formatAddress: same };
    const tokens = [{ symbol: "USDT", contract: "usdt", decimals: 6 }];
    const log = (contract: string) => ({
      transactionHash: "aa",
      logIndex: 1,
      blockHeight: 7,
      to: "shop",
      amount: 2_500_000n,
      contract,
    });
    const shown = presentScan({
      network: { id: "ethereum", kind, tokens },
      from: 5,
      to: 9,
      found: 3,
      fresh: [log("usdt"), log("other")],
      unreadable: [{ transactionHash: null, blockHeight: 7, reason: "odd" }],
    } as never);
    expect(shown).to.include({ transfersFound: 3, transfersNew: 2, logsUnreadable: 1 });
    expect(shown.newTransfers.map((one) => [one.tokenSymbol, one.amount])).to.deep.equal([
      ["USDT", "2.50"],
      ["", "2500000"],
    ]);
  });
});
