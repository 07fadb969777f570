import { expect } from "chai";
import { cronLines, lastTime } from "../../../src/platform/jobs/cron-line.ts";

/** The last time of a line up to a moment. */
function last(line: string, now: string): string | null {
  const time = lastTime(line, Date.parse(now));
  return time === null ? null : new Date(time).toISOString();
}

describe("a cron line", () => {
  const now = "2026-11-22T22:30:15.123Z"; // A Sunday.
  const cases: readonly (readonly [string, string])[] = [
    ["* * * * *", "2026-11-22T22:30:00.000Z"],
    ["15 3 * * *", "2026-11-22T03:15:00.000Z"],
    ["30 22 * * *", "2026-11-22T22:30:00.000Z"],
    ["31 22 * * *", "2026-11-21T22:31:00.000Z"],
    ["*/20 */6 * * *", "2026-11-22T18:40:00.000Z"],
    ["5-10/5,50 1 * * *", "2026-11-22T01:50:00.000Z"],
    ["0 4 * * 1", "2026-11-16T04:00:00.000Z"],
    ["0 4 * * 7", "2026-11-22T04:00:00.000Z"],
    ["0 4 1 * *", "2026-11-01T04:00:00.000Z"],
    ["0 4 1 * 5", "2026-11-20T04:00:00.000Z"],
    ["0 0 29 2 *", "2024-02-29T00:00:00.000Z"],
    ["  0 4  * * 0 ", "2026-11-22T04:00:00.000Z"],
    ["0 4 * * 5-7", "2026-11-22T04:00:00.000Z"],
    ["0 4 * * 6-7", "2026-11-22T04:00:00.000Z"],
    ["0 4 * * 5-6", "2026-11-21T04:00:00.000Z"],
    ["0 4 * 3 *", "2026-03-31T04:00:00.000Z"],
    ["0 4 1-12 3-5 *", "2026-05-12T04:00:00.000Z"],
    ["0,20,45 3,22,23 * * *", "2026-11-22T22:20:00.000Z"],
    ["5/20 22 * * *", "2026-11-22T22:25:00.000Z"],
    ["10-20/4 22 * * *", "2026-11-22T22:18:00.000Z"],
    ["59 23 31 12 *", "2025-12-31T23:59:00.000Z"],
    ["0 0 1 1 *", "2026-01-01T00:00:00.000Z"],
  ];
  for (const [line, expected] of cases) {
    it(`${line} was last due at ${expected}`, () => {
      expect(last(line, now)).to.equal(expected);
    });
  }

  it("may have what node-cron takes beyond plain numbers: names, ranges over midnight, the last day", () => {
    expect(last("0 4 * * mon-wed", now)).to.equal("2026-11-18T04:00:00.000Z");
    expect(last("0 22-2 * nov *", now)).to.equal("2026-11-22T22:00:00.000Z");
    expect(last("0 4 L * *", now)).to.equal("2026-10-31T04:00:00.000Z");
    expect(last("0 4 ? * sun", now)).to.equal("2026-11-22T04:00:00.000Z");
  });

  it("was last due at its very time, and not a millisecond before", () => {
    const time = "2026-11-22T04:00:00.000Z";
    expect(last("0 4 * * *", time)).to.equal(time);
    expect(last("0 4 * * *", "2026-11-22T03:59:59.999Z")).to.equal("2026-11-21T04:00:00.000Z");
  });

  it("was not due if the last five years have no such day", () => {
    expect(last("0 0 29 2 *", "2096-02-29T00:00:00.000Z")).to.equal("2096-02-29T00:00:00.000Z");
    expect(last("0 0 29 2 *", "2101-03-05T00:00:00.000Z")).to.equal("2096-02-29T00:00:00.000Z");
    expect(last("0 0 29 2 *", "2101-03-06T00:00:00.000Z")).to.equal(null);
  });

  it("is refused if it is malformed or never due", () => {
    const wrong = [
      "",
      "* * * *",
      "60 * * * *",
      "* 24 * * *",
      "0 0 30 2 *",
      "@daily",
      "* * * * * *",
      "1-60 * * * *",
      "1,x * * * *",
      "1,,2 * * * *",
      "* * 32 * *",
      "* * * 0 *",
      "0 0 31 4 *",
    ];
    for (const line of [
      ...wrong,
      "*/0 * * * *",
      "* * 0 * *",
      "* * * 13 *",
      "* * * * 8",
      "a * * * *",
    ]) {
      expect(cronLines(line), line).to.deep.equal([]);
    }
  });
});
