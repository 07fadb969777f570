// How a period is read from sums by hour and day, without a store.
import { expect } from "chai";
import fc from "fast-check";
import {
  bucketOf,
  bucketsMax,
  bucketsOf,
  planPeriod,
  TooManyBuckets,
} from "../../../src/features/analytics/query.ts";
import { day, hour, minute, type Instant } from "../../../src/kernel/clock.ts";

const start = Date.UTC(2026, 1, 27);
const instant = fc.integer({ min: start, max: start + 5 * day });

/** How often a moment is counted by a plan. */
function timesCounted(plan: ReturnType<typeof planPeriod>, at: Instant): number {
  const sums = at >= plan.borders[0] && at < plan.borders[3] ? 1 : 0;
  const edges = plan.edges.filter(({ from, to }) => at >= from && at < to);
  return edges.reduce((times, { sign }) => times + sign, sums);
}

describe("The plan of a reading", () => {
  it("counts every moment of the period exactly once", () => {
    fc.assert(
      fc.property(instant, instant, instant, fc.array(instant), (one, other, now, moments) => {
        const period = { from: Math.min(one, other), to: Math.max(one, other) + 1 };
        const plan = planPeriod(period, now);
        const { from, to } = period;
        for (const at of [from - 1, from, to - 1, to, ...plan.borders, ...moments]) {
          const expected = at >= from && at < to ? 1 : 0;
          expect(timesCounted(plan, at), String(at)).to.equal(expected);
        }
      }),
    );
  });

  it("has borders at whole hours and days, and edges of at most half an hour", () => {
    fc.assert(
      fc.property(instant, fc.integer({ min: 1, max: 5 * day }), (from, length) => {
        const { borders, edges } = planPeriod({ from, to: from + length }, start + 99 * day);
        const [first, second, third, last] = borders;
        expect(borders).to.deep.equal([...borders].sort((one, two) => one - two));
        for (const border of borders) expect(border % hour).to.equal(0);
        if (second < third) expect([second % day, third % day]).to.deep.equal([0, 0]);
        expect(second - first).to.be.lessThan(2 * day);
        expect(last - third).to.be.lessThan(day);
        for (const edge of edges) expect(edge.to - edge.from).to.be.within(0, hour / 2);
      }),
    );
  });

  it("reads only sums at the end of a period that ends now", () => {
    const now = start + 2 * day + 25 * minute;
    const { borders, edges } = planPeriod({ from: start, to: now }, now);
    expect(borders[3]).to.equal(start + 2 * day + hour);
    expect(edges[1]).to.deep.equal({ from: now, to: start + 2 * day + hour, sign: -1 });
  });
});

describe("The buckets of a chart", () => {
  const iso = (starts: readonly Instant[]) =>
    starts.map((at) => new Date(at).toISOString().slice(0, 10));
  const period = { from: Date.UTC(2026, 0, 30, 12), to: Date.UTC(2026, 2, 2, 0) };

  it("are UTC days, weeks from Monday and months, each that overlaps the period", () => {
    const days = bucketsOf(period, "day");
    expect(iso(days).slice(0, 3)).to.deep.equal(["2026-01-30", "2026-01-31", "2026-02-01"]);
    expect(iso(days).at(-1)).to.equal("2026-03-01");
    expect(days).to.have.length(31);
    expect(iso(bucketsOf(period, "week"))).to.deep.equal([
      "2026-01-26",
      "2026-02-02",
      "2026-02-09",
      "2026-02-16",
      "2026-02-23",
    ]);
    expect(iso(bucketsOf(period, "month"))).to.deep.equal([
      "2026-01-01",
      "2026-02-01",
      "2026-03-01",
    ]);
  });

  it("put the last moment of a Sunday before Monday", () => {
    const monday = Date.UTC(2026, 7, 3);
    expect(iso([bucketOf(monday - 1, "week"), bucketOf(monday, "week")])).to.deep.equal([
      "2026-07-27",
      "2026-08-03",
    ]);
    expect(iso([bucketOf(Date.UTC(1969, 11, 31), "week")])).to.deep.equal(["1969-12-29"]);
  });

  it("are at most 400", () => {
    const of = (days: number) => ({ from: start, to: start + days * day });
    expect(bucketsOf(of(bucketsMax), "day")).to.have.length(bucketsMax);
    expect(() =>
      bucketsOf({ ...of(bucketsMax), to: start + bucketsMax * day + 1 }, "day"),
    ).to.throw(TooManyBuckets);
    expect(bucketsOf(of(bucketsMax * 7 - 6), "week")).to.have.length(bucketsMax);
  });
});
