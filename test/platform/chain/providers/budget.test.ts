import { expect } from "chai";
import { hour } from "../../../../src/kernel/clock.ts";
import { makeBudget } from "../../../../src/platform/chain/providers/limits.ts";

describe("A provider's budget", () => {
  it("spreads requests over the second, and makes nobody wait because the clock was set back", async () => {
    let now = 1_000 * hour;
    const waits: number[] = [];
    const budget = makeBudget({
      limits: { requestsPerSecond: 10, requestsPerDay: null },
      clock: { now: () => now },
      provider: "http://node",
      delay(milliseconds) {
        waits.push(milliseconds);
        return Promise.resolve();
      },
    });
    for (let request = 0; request < 12; request += 1) await budget.take();
    expect(waits).to.deep.equal([100, 200]);
    now -= hour;
    await budget.take();
    expect(waits).to.deep.equal([100, 200, 300]);
  });
});
