import { runInThisContext } from "node:vm";
import { expect } from "chai";
import { growAgain, optimizeAgain, startSmall } from "../../src/cli/small-start.ts";

describe("A server that starts small", () => {
  /** Returns the least CPU time of five functions that V8 sees for the first time, in microseconds. */
  const timeOfNewFunctions = () => Math.min(...Array.from({ length: 5 }, timeOfNewFunction));

  function timeOfNewFunction(): number {
    const spin = runInThisContext(
      "(rounds) => { let sum = 0; for (let i = 0; i < rounds; i += 1) sum = (sum + i * 7) % 1000003; return sum; }",
    ) as (rounds: number) => number;
    const before = process.cpuUsage();
    for (let round = 0; round < 100; round += 1) spin(100_000);
    return process.cpuUsage(before).user;
  }

  it("optimizes functions again once its modules are loaded", () => {
    startSmall();
    const small = timeOfNewFunctions();
    optimizeAgain();
    growAgain();
    // From Node 22 on, V8's second optimizer goes on working meanwhile and saves most of the difference.
    const [major = 0] = process.versions.node.split(".").map(Number);
    expect(timeOfNewFunctions()).to.be.below(major < 22 ? small / 2 : small);
  });
});
