import { expect } from "chai";
import { presentAudit } from "../../../../src/features/payments/networks/present.ts";
import type { AuditReport } from "../../../../src/features/payments/networks/service.ts";
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
