import { expect } from "chai";
import {
  failOn,
  notFailing,
  type FailingState,
  type FailingVerdict,
} from "../../../src/features/webhooks/endpoints/failure-policy.ts";
import { hour } from "../../../src/kernel/clock.ts";

/** Returns the verdicts on failures at these times, in hours; `!` marks a delivery that is given up. */
function story(...times: readonly string[]): FailingVerdict[] {
  let state: FailingState = notFailing;
  return times.map((time) => {
    const now = Number.parseFloat(time) * hour;
    const verdict = failOn(state, { now, firstAt: now, hasGivenUp: time.endsWith("!") });
    state = verdict.state;
    return verdict;
  });
}

describe("an endpoint whose attempts all fail", () => {
  it("causes a notice after one day and after three, once each", () => {
    const told = story("0", "23.9", "24", "30", "71", "72", "100", "400").map(
      ({ isNotice }) => isNotice,
    );
    expect(told).to.deep.equal([false, false, true, false, false, true, false, false]);
    // Nobody looked for a while: one notice says it all.
    expect(story("0", "80", "81").map(({ isNotice }) => isNotice)).to.deep.equal([
      false,
      true,
      false,
    ]);
  });

  it("is disabled after five days, if two deliveries at least half a day apart were given up", () => {
    const disables = (...times: readonly string[]) => story(...times).at(-1)?.disables;
    expect(disables("0", "76!", "120!")).to.equal(true);
    expect(disables("0", "76!", "119.9!")).to.equal(false);
    expect(disables("0", "76!", "130")).to.equal(false);
    expect(disables("0", "115!", "120!")).to.equal(false);
    expect(disables("0", "120!")).to.equal(false);
    expect(disables("0", "120!", "132!")).to.equal(true);
  });

  it("is measured from its first failure", () => {
    const [first, second] = story("5", "6");
    expect(first?.state).to.deep.equal({ ...notFailing, failingSince: 5 * hour });
    expect(second?.state.failingSince).to.equal(5 * hour);
    expect(story("0", "48", "96").every(({ disables }) => !disables)).to.equal(true);
  });
});
