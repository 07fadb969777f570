import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { expect } from "chai";
import { growAgain, optimizeAgain, startSmall } from "../../src/cli/small-start.ts";

/** The bit of V8's status of a function whose code its optimizing compiler has made, not one of its quicker ones. */
const optimizedBit = 1 << 6;
/** Far more calls than V8 needs to optimize a function, also while its other thread is busy. */
const roundsMax = 20_000;

describe("A server that starts small", () => {
  let statusOf: (spin: (rounds: number) => number) => number;
  before(() => {
    setFlagsFromString("--allow-natives-syntax");
    statusOf = runInThisContext("(spin) => %GetOptimizationStatus(spin)") as typeof statusOf;
    // A function is parsed with its first call.
    statusOf(() => 0);
    setFlagsFromString("--no-allow-natives-syntax");
  });

  /** Returns whether V8 optimizes a function that it sees for the first time within a number of calls. */
  function isOptimized(rounds: number): boolean {
    const spin = runInThisContext(
      "(rounds) => { let sum = 0; for (let i = 0; i < rounds; i += 1) sum = (sum + i * 7) % 1000003; return sum; }",
    ) as (rounds: number) => number;
    for (let round = 0; round < rounds; round += 1) {
      spin(10_000);
      if ((statusOf(spin) & optimizedBit) !== 0) return true;
    }
    return false;
  }

  it("optimizes functions again once its modules are loaded", () => {
    startSmall();
    expect(isOptimized(1_000)).to.equal(false);
    optimizeAgain();
    growAgain();
    expect(isOptimized(roundsMax)).to.equal(true);
  });
});
