import { expect } from "chai";
import { hour, second } from "../../../src/kernel/clock.ts";
import { createBackground } from "../../../src/platform/jobs/background.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { movingClock } from "../../support/app.ts";
import { until } from "../../support/until.ts";

describe("the background", () => {
  it("continues after the clock was set back", async () => {
    const clock = movingClock();
    let runs = 0;
    const worker = {
      name: "counting",
      everyMs: 1 * second,
      run: () => {
        runs += 1;
        return Promise.resolve(false);
      },
    };
    const background = createBackground({ workers: [worker], clock, logger: silentLogger });
    background.start();
    try {
      await until(
        "a run",
        () => runs,
        (count) => count >= 1,
      );
      clock.advance(-hour);
      const before = runs;
      const after = await until(
        "another run",
        () => runs,
        (count) => count > before,
      );
      expect(after).to.be.above(before);
    } finally {
      await background.stop();
    }
  });
});
