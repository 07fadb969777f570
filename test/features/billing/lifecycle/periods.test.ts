import { expect } from "chai";
import fc from "fast-check";
import {
  boundary,
  periodAt,
  periodIndexAt,
  type Interval,
} from "../../../../src/features/billing/periods.ts";
import { day, toIso } from "../../../../src/kernel/clock.ts";

const at = (text: string) => Date.parse(text);

/** Anchors with boundaries that were checked by hand, by index. */
const checked: readonly (readonly [string, Interval, Readonly<Record<number, string>>])[] = [
  [
    "2026-01-31T10:00:00.000Z",
    "month",
    {
      0: "2026-01-31T10:00:00.000Z",
      1: "2026-02-28T10:00:00.000Z",
      2: "2026-03-31T10:00:00.000Z",
      3: "2026-04-30T10:00:00.000Z",
      4: "2026-05-31T10:00:00.000Z",
      12: "2027-01-31T10:00:00.000Z",
      13: "2027-02-28T10:00:00.000Z",
    },
  ],
  [
    "2026-01-30T10:00:00.000Z",
    "month",
    {
      1: "2026-02-28T10:00:00.000Z",
      2: "2026-03-30T10:00:00.000Z",
      3: "2026-04-30T10:00:00.000Z",
      4: "2026-05-30T10:00:00.000Z",
      12: "2027-01-30T10:00:00.000Z",
      13: "2027-02-28T10:00:00.000Z",
    },
  ],
  [
    "2027-11-30T23:59:59.999Z",
    "month",
    {
      1: "2027-12-30T23:59:59.999Z",
      2: "2028-01-30T23:59:59.999Z",
      3: "2028-02-29T23:59:59.999Z",
      4: "2028-03-30T23:59:59.999Z",
      12: "2028-11-30T23:59:59.999Z",
      13: "2028-12-30T23:59:59.999Z",
    },
  ],
  [
    "2028-02-29T00:00:00.000Z",
    "year",
    {
      1: "2029-02-28T00:00:00.000Z",
      2: "2030-02-28T00:00:00.000Z",
      3: "2031-02-28T00:00:00.000Z",
      4: "2032-02-29T00:00:00.000Z",
    },
  ],
  // 2100 is not a leap year.
  ["2096-02-29T12:00:00.000Z", "year", { 4: "2100-02-28T12:00:00.000Z" }],
];

const anyMoment = fc.integer({ min: at("1990-01-01T00:00:00Z"), max: at("2120-12-31T23:59:59Z") });
/** Times on the days that not every month has. */
const lateInMonth = fc
  .tuple(
    fc.integer({ min: 1990, max: 2120 }),
    fc.nat(11),
    fc.constantFrom(29, 30, 31),
    fc.nat(day - 1),
  )
  .map(([year, month, dayOfMonth, time]) => Date.UTC(year, month, dayOfMonth) + time);
const anchors = fc.oneof(anyMoment, lateInMonth);
const scale = process.env["TILL_PROVE"] === "1" ? 50 : 1;
const intervals = fc.constantFrom<Interval>("month", "year");

describe("periods", () => {
  for (const [anchor, interval, boundaries] of checked) {
    it(`of a ${interval} from ${anchor} end on its day of the month, or on the month's last day`, () => {
      for (const [n, expected] of Object.entries(boundaries)) {
        expect(toIso(boundary(at(anchor), interval, Number(n))), n).to.equal(expected);
      }
    });
  }

  it("follow each other without gaps for 400 boundaries from any anchor", () => {
    fc.assert(
      fc.property(anchors, intervals, (anchor, interval) => {
        let last = periodAt(anchor, interval, 0);
        expect(last.start).to.equal(anchor);
        for (let n = 1; n <= 400; n += 1) {
          const next = periodAt(anchor, interval, n);
          expect(next.start).to.equal(last.end);
          expect(next.end).to.be.greaterThan(next.start);
          last = next;
        }
      }),
      { numRuns: 40 * scale },
    );
  });

  it("keep the anchor's time of day, and its day in every month that has it", () => {
    fc.assert(
      fc.property(anchors, fc.integer({ min: 0, max: 400 }), (anchor, n) => {
        const [from, to] = [new Date(anchor), new Date(boundary(anchor, "month", n))];
        const lastDay = new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() + 1, 0));
        expect(to.getUTCDate()).to.equal(Math.min(from.getUTCDate(), lastDay.getUTCDate()));
        expect(toIso(to.getTime()).slice(10)).to.equal(toIso(anchor).slice(10));
      }),
    );
  });

  it("are found by any time in them, start inclusive and end exclusive", () => {
    fc.assert(
      fc.property(anchors, intervals, fc.integer({ min: 0, max: 400 }), (anchor, interval, n) => {
        const { start, end } = periodAt(anchor, interval, n);
        expect(periodIndexAt(anchor, interval, start)).to.equal(n);
        expect(periodIndexAt(anchor, interval, end - 1)).to.equal(n);
        expect(periodIndexAt(anchor, interval, end)).to.equal(n + 1);
      }),
    );
    expect(periodIndexAt(at("2026-01-31T10:00:00Z"), "month", at("2026-01-31T09:00:00Z"))).to.equal(
      -1,
    );
  });
});
