import { expect } from "chai";
import {
  chooseReader,
  isAble,
  isOfEarlierVersion,
  lowestIncomplete,
  makePace,
  makeReadingCandidates,
  nextDueRange,
  otherThan,
  requestsPerMinute,
  summarize,
} from "../../../../../src/features/payments/watcher/readings/reading-plan.ts";
import { minute, second } from "../../../../../src/kernel/clock.ts";
import type { ReadingRow } from "../../../../../src/platform/chain/state/reading-ranges.ts";
import { unknownProvider } from "../../../../../src/platform/chain/state/readings.ts";

/** Blocks that providers have read one after another, at intervals of a minute. */
function row(fromHeight: number, toHeight: number, providers: string, at = 0): ReadingRow {
  const readings = Array.from(providers, (provider, place) => ({
    provider,
    at: at + place * minute,
  }));
  const hashes = { parentHash: `h${String(fromHeight - 1)}`, toHash: `h${String(toHeight)}` };
  return { fromHeight, toHeight, readings, openedAt: at, ...hashes };
}

describe("The next range to read again", () => {
  const due = (rows: readonly ReadingRow[], blocksMax = 100) =>
    nextDueRange(rows, { cursorHeight: 1_000, now: 3 * minute, oldestHold: 0 }, blocksMax);

  it("can be a single block", () => {
    expect(due([row(5, 5, "a")])).to.include({ from: 5, to: 5 });
  });

  it("ends at missing blocks and at blocks that need no reading", () => {
    expect(due([row(1, 10, "a"), row(12, 20, "a")])).to.include({ from: 12, to: 20 });
    const rows = [row(1, 10, "a"), row(11, 20, "aaa"), row(21, 30, "a")];
    expect(due(rows)).to.include({ from: 21, to: 30 });
  });

  it("has exactly the rows that hold its blocks", () => {
    const rows = [row(1, 10, "a"), row(11, 20, "a"), row(21, 30, "a")];
    expect(due(rows, 10)).to.deep.equal({ from: 21, to: 30, rows: rows.slice(2) });
    expect(due(rows, 11)).to.deep.equal({ from: 20, to: 30, rows: rows.slice(1) });
  });

  it("is read by the provider that has read the fewest blocks of the range, not of its rows", () => {
    const health = (provider: string, place: number) => ({ provider, place, isInUse: false });
    const able = [health("a", 0), health("b", 1)];
    const reader = (from: number, to: number, ...rows: readonly ReadingRow[]) =>
      chooseReader(able, { from, to, rows })?.provider;
    expect(reader(5, 12, row(1, 10, "a"), row(11, 20, "b"))).to.equal("b");
    expect(reader(5, 12, row(1, 6, "a"), row(7, 9, "b"), row(10, 12, "c"))).to.equal("a");
    for (const inOrder of [able, able.toReversed()]) {
      expect(chooseReader(inOrder, { from: 1, to: 2, rows: [] })?.provider).to.equal("a");
    }
  });
});

describe("The lowest range without all of its readings", () => {
  const done = (from: number) => ({
    ...row(from, from + 9, "a"),
    readings: [0, 2 * minute, 62 * minute].map((at) => ({ provider: "a", at })),
  });

  it("is the first one whose later readings were not all made, each when it was due", () => {
    const open = row(11, 20, "aa");
    expect(lowestIncomplete([done(1), open, row(21, 30, "a")])).to.equal(open);
    expect(lowestIncomplete([done(1), done(11)])).to.equal(null);
    expect(lowestIncomplete([])).to.equal(null);
    const early = { ...done(1), readings: done(1).readings.map((each) => ({ ...each, at: 0 })) };
    expect(lowestIncomplete([early])).to.equal(early);
    const unread = { ...row(1, 10, ""), readings: [] };
    expect(lowestIncomplete([unread])).to.equal(unread);
  });

  it("is none that an earlier version read", () => {
    const old = { ...row(1, 10, "a"), readings: [{ provider: unknownProvider, at: 0 }] };
    const open = row(11, 20, "a");
    expect(lowestIncomplete([old, open])).to.equal(open);
  });
});

describe("The providers that are asked for a reading", () => {
  let now = 1_000_000;
  let counted = 0;
  const client = (provider: string) => ({ provider, transfers: () => Promise.resolve([]) });
  const health = (provider: string, condition: string, isInUse = false) => ({
    provider,
    condition,
    isInUse,
  });
  const pool = {
    providers: ["a", "b", "c", "d"].map(client),
    // The last one is not known yet.
    health: () => [health("a", "ok", true), health("b", "behind"), health("c", "failing")],
  };
  const pace = { ...makePace({ now: () => now }), count: () => (counted += 1) };
  const candidates = makeReadingCandidates({ now: () => now }, pool as never, pace);
  const names = () =>
    candidates.list().map(({ provider, place }) => `${provider} ${String(place)}`);

  it("are those in order, but for a minute after a failed reading", () => {
    expect(names()).to.deep.equal(["a 0", "b 1"]);
    candidates.setAside("a");
    expect(names()).to.deep.equal(["b 1"]);
    now += minute - 1;
    expect(names()).to.deep.equal(["b 1"]);
    now += 1;
    expect(names()).to.deep.equal(["a 0", "b 1"]);
    // The clock was set back: the failure is far ahead.
    candidates.setAside("a");
    now -= 2 * minute;
    expect(names()).to.deep.equal(["a 0", "b 1"]);
  });

  it("count the requests for transfers", async () => {
    await candidates.list()[0]?.client.transfers({} as never);
    expect(counted).to.equal(1);
  });

  it("are asked about each other's transfers, first the one in use", () => {
    const able = candidates.list();
    const other = (provider: string) => otherThan({ provider }, able)?.provider ?? null;
    expect(other("b")).to.equal("a");
    expect(other("a")).to.equal("b");
    expect(otherThan({ provider: "a" }, able.slice(0, 1))).to.equal(null);
  });
});

describe("The request limit of readings", () => {
  it("is two a minute on average, and four after a time without requests", () => {
    let now = 1_000_000;
    const pace = makePace({ now: () => now });
    const use = () => {
      let used = 0;
      for (; pace.isWithin(); used += 1) pace.count();
      return used;
    };
    expect(use()).to.equal(requestsPerMinute);
    now += 30 * second - 1;
    expect(use()).to.equal(0);
    now += 1;
    expect(use()).to.equal(1);
    now += 60 * minute;
    expect(use()).to.equal(4);
    expect(pace.counted()).to.equal(7);
  });

  it("counts every request, whether or not it was checked first", () => {
    let now = 1_000_000;
    const pace = makePace({ now: () => now });
    now += 60 * minute;
    pace.count();
    let left = 0;
    for (; pace.isWithin(); left += 1) pace.count();
    expect(left).to.equal(3);
  });

  it("makes later requests wait for those above it, and is not raised by a clock that is set back", () => {
    let now = 1_000_000;
    const pace = makePace({ now: () => now });
    for (let count = 0; count < 4; count += 1) pace.count();
    now += minute;
    expect(pace.isWithin()).to.equal(false);
    now -= 10 * minute;
    expect(pace.isWithin()).to.equal(false);
    now += 30 * second;
    expect(pace.isWithin()).to.equal(true);
  });
});

describe("A summary of readings", () => {
  const shapes = (rows: readonly ReadingRow[], from: number, to: number) =>
    summarize(rows, { from, to }).map(
      (one) =>
        `${String(one.from)}-${String(one.to)} ${String(one.timesRead)} ${one.providers.join("")} ${String(one.readAt / minute)}`,
    );

  it("joins neighboring ranges with equal numbers of readings by the same providers", () => {
    const rows = [row(1, 10, "ab"), row(11, 20, "ba", 3 * minute), row(21, 30, "b")];
    expect(shapes(rows, 1, 30)).to.deep.equal(["1-20 2 ab 4", "21-30 1 b 0"]);
    expect(shapes(rows.toReversed(), 1, 30)).to.deep.equal([
      ...["21-30 1 b 0", "11-20 2 ab 4", "1-10 2 ab 1"],
    ]);
    expect(shapes([row(1, 10, "a"), row(12, 20, "a")], 1, 30)).to.have.length(2);
    expect(shapes([row(1, 10, "aa"), row(11, 20, "ab")], 1, 30)).to.deep.equal([
      ...["1-10 2 a 1", "11-20 2 ab 1"],
    ]);
    expect(shapes([row(1, 10, "aa"), row(11, 20, "a")], 1, 30)).to.have.length(2);
    expect(shapes([row(1, 10, "aab", minute), row(11, 20, "aab")], 1, 30)).to.deep.equal([
      "1-20 3 ab 3",
    ]);
  });

  it("ends at the requested heights", () => {
    const rows = [row(1, 10, "a"), row(11, 20, "b"), row(21, 30, "a")];
    expect(shapes(rows, 10, 21)).to.deep.equal(["10-10 1 a 0", "11-20 1 b 0", "21-21 1 a 0"]);
    expect(shapes(rows, 11, 20)).to.deep.equal(["11-20 1 b 0"]);
  });
});

describe("A provider for a reading", () => {
  it("can be asked unless it is paused or distrusted", () => {
    const able = (
      ["ok", "unknown", "waiting", "behind", "wrong_chain", "silent_logs"] as const
    ).filter((condition) => isAble({ condition }));
    expect(able).to.deep.equal(["ok", "unknown", "behind"]);
  });

  it("is unknown for ranges that an earlier version read", () => {
    const named = (provider: string) => ({ ...row(1, 2, ""), readings: [{ provider, at: 0 }] });
    expect(isOfEarlierVersion(named(unknownProvider))).to.equal(true);
    expect(isOfEarlierVersion(named("a"))).to.equal(false);
    expect(isOfEarlierVersion(row(1, 2, ""))).to.equal(false);
  });
});
