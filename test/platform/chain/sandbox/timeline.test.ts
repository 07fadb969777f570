import { expect } from "chai";
import fc from "fast-check";
import type { Head } from "../../../../src/platform/chain/client.ts";
import type { SegmentRow } from "../../../../src/platform/chain/sandbox/store.ts";
import {
  blockAt,
  minedSegment,
  openSegment,
  tipAt,
} from "../../../../src/platform/chain/sandbox/timeline.ts";

const forks = [{ fromHeight: 0, salt: "one" }];
const genesis: SegmentRow = { fromHeight: 0, lastHeight: null, time: 10_000, stepMs: 1_000 };

describe("the sandbox's timeline", () => {
  it("has one block per step, and block 0 at any time", () => {
    expect([0, 10_000, 10_999, 11_000, 3_610_000].map((now) => tipAt(genesis, now))).to.deep.equal([
      0, 0, 0, 1, 3_600,
    ]);
    expect(blockAt([genesis], forks, 3_600).time).to.equal(3_610_000);
  });

  it("has other hashes from a fork's height on, and the same hashes for the same rows", () => {
    const forked = [...forks, { fromHeight: 5, salt: "two" }];
    const hashes = (rows: typeof forks) =>
      [4, 5, 6].map((height) => blockAt([genesis], rows, height).hash);
    const [kept, ...replaced] = hashes(forked);
    expect(hashes(forks)[0]).to.equal(kept);
    expect(hashes(forks).slice(1)).not.to.have.members(replaced);
    expect(hashes(forked)).to.deep.equal([kept, ...replaced]);
    for (const hash of hashes(forked)) expect(hash).to.match(/^[0-9a-f]{64}$/);
  });

  it("never has a block before its parent, or a block made on command in the future", () => {
    const command = fc.record({
      passedMs: fc.integer({ min: -5_000, max: 20_000 }),
      count: fc.integer({ min: 1, max: 50 }),
      stepMs: fc.constantFrom(0, 70, 1_000),
    });
    fc.assert(
      fc.property(fc.array(command, { maxLength: 12 }), (commands) => {
        const segments: SegmentRow[] = [genesis];
        const newest = (): SegmentRow => segments.at(-1) ?? genesis;
        let now = genesis.time;
        for (const { passedMs, count, stepMs } of commands) {
          now += passedMs;
          const tip: Head = blockAt(segments, forks, tipAt(newest(), now));
          const last = segments.pop() ?? genesis;
          if (last.fromHeight <= tip.height) segments.push({ ...last, lastHeight: tip.height });
          segments.push(minedSegment(tip, count, now));
          const mined = blockAt(segments, forks, tip.height + count);
          expect(mined.height).to.equal(tip.height + count);
          expect(mined.time).to.equal(Math.max(now, tip.time));
          if (stepMs > 0) segments.push(openSegment(mined, stepMs, now));
        }
        const top = tipAt(newest(), now + 5_000);
        let previous = blockAt(segments, forks, 0);
        for (let height = 1; height <= top; height += 1) {
          const block = blockAt(segments, forks, height);
          expect(block.time).to.be.at.least(previous.time);
          previous = block;
        }
      }),
      { numRuns: 50 },
    );
  });
});
