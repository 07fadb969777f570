import { expect } from "chai";
import fc from "fast-check";
import {
  nextDueRange,
  chooseReader,
} from "../../../../src/features/payments/watcher/readings/reading-plan.ts";
import { day, hour, minute } from "../../../../src/kernel/clock.ts";
import {
  contiguousRanges,
  coverageOf,
  joinRows,
  withReading,
  type ReadingRow,
} from "../../../../src/platform/chain/state/reading-ranges.ts";
import {
  addReading,
  extendReadings,
  readingsOf,
  unknownProvider,
} from "../../../../src/platform/chain/state/readings.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";

const hashOf = (height: number) => `h${String(height)}`;
const row = (from: number, to: number, providers: readonly string[], at = 0): ReadingRow => ({
  fromHeight: from,
  parentHash: hashOf(from - 1),
  toHeight: to,
  toHash: hashOf(to),
  readings: providers.map((provider) => ({ provider, at })),
  openedAt: at,
});
const range = (from: number, to: number) => ({
  parent: { height: from - 1, hash: hashOf(from - 1) },
  to: { height: to, hash: hashOf(to) },
});
const shapes = (rows: readonly ReadingRow[]) =>
  rows.map(({ fromHeight, toHeight, readings }) => [
    ...[fromHeight, toHeight],
    readings.map(({ provider }) => provider).join(""),
  ]);

describe("The ranges that were read", () => {
  it("are split at the ends of a reading", () => {
    const rows = [row(1, 100, ["a"]), row(101, 200, ["a"])];
    const after = withReading(rows, range(50, 150), { provider: "b", at: 1 });
    expect(shapes(after)).to.deep.equal([
      [1, 49, "a"],
      [50, 100, "ab"],
      [101, 150, "ab"],
      [151, 200, "a"],
    ]);
    expect(coverageOf(after, 1, 200)).to.deep.equal({ gaps: [], seams: [] });
  });

  it("count every block's readings, regardless of the ranges and their order", () => {
    const height = fc.integer({ min: 1, max: 60 });
    fc.assert(
      fc.property(fc.array(fc.tuple(height, height), { maxLength: 9 }), (scans) => {
        const counts = new Map<number, number>();
        let rows: readonly ReadingRow[] = [];
        for (const [one, other] of scans) {
          const [from, to] = [Math.min(one, other), Math.max(one, other)];
          rows = joinRows(withReading(rows, range(from, to), { provider: "a", at: 0 }), 3 * day);
          for (let at = from; at <= to; at += 1) counts.set(at, (counts.get(at) ?? 0) + 1);
        }
        for (let at = 1; at <= 60; at += 1) {
          const held = rows.filter((each) => each.fromHeight <= at && at <= each.toHeight);
          expect(held.length).to.equal(counts.has(at) ? 1 : 0);
          expect(held[0]?.readings.length ?? 0).to.equal(counts.get(at) ?? 0);
        }
        expect(coverageOf(rows, 1, 60).seams).to.deep.equal([]);
      }),
    );
  });

  it("are replaced if another chain is read in their place", () => {
    const stale = { ...row(11, 20, ["a"]), toHash: "gone" };
    const next = { ...row(21, 30, ["a"]), parentHash: "gone" };
    const after = withReading([row(1, 10, ["a"]), stale, next], range(11, 20), {
      provider: "b",
      at: 1,
    });
    expect(shapes(after)).to.deep.equal([
      [1, 10, "a"],
      [11, 20, "b"],
      [21, 30, "a"],
    ]);
    expect(coverageOf(after, 1, 30)).to.deep.equal({ gaps: [], seams: [] });
    expect(contiguousRanges(after)).to.have.length(1);
  });

  it("are joined once the same providers have read them, and the lowest if there are too many", () => {
    const read = [row(1, 10, ["a", "b"]), row(11, 20, ["a", "b"], minute), row(21, 30, ["b", "a"])];
    expect(shapes(joinRows(read, hour))).to.deep.equal([
      [1, 20, "ab"],
      [21, 30, "ba"],
    ]);
    const apart = [row(1, 10, ["a"]), row(11, 20, ["a"], minute)];
    expect(joinRows(apart, hour)).to.have.length(2);
    expect(shapes(joinRows(apart, 2 * day))).to.deep.equal([[1, 20, "a"]]);
    const many = Array.from({ length: 3_000 }, (_, place) =>
      row(place + 1, place + 1, place % 2 === 0 ? ["a"] : ["a", "b"], place * hour),
    );
    const joined = joinRows(many, 0);
    expect(joined).to.have.length(1_000);
    expect(shapes(joined)[0]).to.deep.equal([1, 2_001, "a"]);
  });
});

describe("The next range to read again", () => {
  const at = (now: number, cursorHeight = 1_000) => ({ now, cursorHeight, oldestHold: 0 });

  it("is due some minutes after the first reading and an hour after the second", () => {
    const readAt = (...times: number[]) => [
      { ...row(1, 10, []), readings: times.map((each) => ({ provider: "a", at: each })) },
    ];
    const isDue = (rows: readonly ReadingRow[], now: number) =>
      nextDueRange(rows, at(now), 100) !== null;
    const second = 2 * minute;
    expect([minute, second].map((now) => isDue(readAt(0), now))).to.deep.equal([false, true]);
    const twice = readAt(0, second);
    const times = [second + 59 * minute, second + hour];
    expect(times.map((now) => isDue(twice, now))).to.deep.equal([false, true]);
    expect(isDue(readAt(0, second, second + hour), day)).to.equal(false);
    // Readings in between, such as an operator's, replace none of the due ones.
    const scanned = readAt(0, 1, minute, second, second + minute);
    expect([...times, day].map((now) => isDue(scanned, now))).to.deep.equal([false, true, true]);
    expect(isDue(readAt(0, 1, minute), second)).to.equal(true);
    expect(nextDueRange([row(1, 10, [])], at(0), 100)).to.include({ from: 1, to: 10 });
  });

  it("is the newest that is due and final, joined with its neighbors up to the provider's limit", () => {
    const rows = [row(1, 10, ["a"]), row(11, 20, ["a"]), row(21, 30, ["a"], hour)];
    const due = nextDueRange(rows, at(hour), 100);
    expect(due).to.include({ from: 1, to: 20 });
    expect(due?.rows).to.have.length(2);
    expect(nextDueRange(rows, at(hour), 15)).to.include({ from: 6, to: 20 });
    expect(nextDueRange(rows, at(hour, 14), 100)).to.include({ from: 1, to: 14 });
    expect(nextDueRange(rows, at(2 * hour, 25), 100)).to.include({ from: 1, to: 25 });
  });

  it("is not below the oldest live hold in ranges that an earlier version read", () => {
    const rows = [row(1, 900, [unknownProvider]), row(901, 950, ["a"])];
    const now = { now: day, cursorHeight: 1_000 };
    expect(nextDueRange(rows, { ...now, oldestHold: 800 }, 1_000)).to.include({
      from: 800,
      to: 950,
    });
    expect(nextDueRange(rows, { ...now, oldestHold: 990 }, 1_000)).to.include({
      from: 901,
      to: 950,
    });
    expect(nextDueRange(rows.slice(0, 1), { ...now, oldestHold: 990 }, 1_000)).to.equal(null);
  });

  it("is read from the provider that read the fewest of its blocks", () => {
    const health = (provider: string, place: number) => ({ provider, place, isInUse: place === 0 });
    const able = [health("a", 0), health("b", 1), health("c", 2)];
    const rows = [row(1, 10, ["a", "b"]), row(11, 12, ["b"])];
    const due = { from: 1, to: 12, rows };
    expect(chooseReader(able, due)?.provider).to.equal("c");
    expect(chooseReader(able.slice(0, 2), due)?.provider).to.equal("a");
    expect(chooseReader(able.slice(0, 2), { ...due, rows: [row(1, 12, ["a", "b"])] })).to.include({
      provider: "b",
    });
    expect(chooseReader(able.slice(0, 1), due)?.provider).to.equal("a");
    expect(chooseReader([], due)).to.equal(null);
  });
});

eachStore("The watcher's readings", (store) => {
  it("replace all readings above the block to which it went back", async () => {
    const db = await store.open();
    await db.write(testContext, async (tx) => {
      await addReading(tx, "tron", range(1, 20), { provider: "a", at: 0 });
      await addReading(tx, "tron", range(1, 20), { provider: "b", at: 0 });
      await addReading(tx, "tron", range(21, 30), { provider: "a", at: 0 });
      const replaced = { ...range(11, 15), to: { height: 15, hash: "other" } };
      await extendReadings(tx, "tron", replaced, { provider: "a", at: 1 });
    });
    const rows = await readingsOf(db, "tron");
    expect(shapes(rows)).to.deep.equal([
      [1, 10, "ab"],
      [11, 15, "a"],
    ]);
    expect(coverageOf(rows, 1, 15)).to.deep.equal({ gaps: [], seams: [] });
    expect(contiguousRanges(rows)[0]?.toHash).to.equal("other");
  });
});
