import { expect } from "chai";
import {
  failOn,
  notFailing,
  probeDelay,
  type FailingState,
  type FailingVerdict,
} from "../../../src/features/webhooks/endpoints/failure-policy.ts";
import { hour, minute, second } from "../../../src/kernel/clock.ts";

const failure = {
  hasGivenUp: false,
  reason: "The receiver responded with 500.",
  isPausing: false,
  hasProbed: false,
  askedMs: 0,
};

/** Returns the verdicts on failures at these times, in hours; `!` marks a delivery that is given up. */
function story(...times: readonly string[]): FailingVerdict[] {
  let state: FailingState = notFailing;
  return times.map((time) => {
    const now = Number.parseFloat(time) * hour;
    const verdict = failOn(state, {
      ...failure,
      now,
      firstAt: now,
      hasGivenUp: time.endsWith("!"),
    });
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
    expect(first?.state).to.deep.equal({
      ...notFailing,
      failingSince: 5 * hour,
      probeAt: 5 * hour + minute / 2,
      lastFailure: failure.reason,
    });
    expect(second?.state.failingSince).to.equal(5 * hour);
    expect(story("0", "48", "96").every(({ disables }) => !disables)).to.equal(true);
  });
});

describe("the lone attempts at a failing endpoint", () => {
  const fail = (before: FailingState, at: number, more: Partial<typeof failure> = {}) =>
    failOn(before, { ...failure, now: at, firstAt: at, ...more }).state;

  it("follow a failure after 30 s, later after a twentieth of its length, at most two minutes", () => {
    const delays = [0, minute, 10 * minute, 20 * minute, hour, 5 * hour, 72 * hour].map(probeDelay);
    expect(delays.map((delay) => delay / second)).to.deep.equal([30, 30, 30, 60, 120, 120, 120]);
  });

  it("go on for as long as the endpoint is paused, each after the failure of the one before", () => {
    let state = fail(notFailing, 0, { isPausing: true });
    expect(state).to.include({ pausedSince: 0, probeAt: 30 * second });
    // A request that was open when the pause began changes nothing.
    state = fail(state, 10 * second, { isPausing: true });
    expect(state).to.include({ pausedSince: 0, probeAt: 30 * second });
    for (const at of [30 * second, 5 * minute, hour, 70 * hour]) {
      state = fail(state, at, { hasProbed: true });
      expect(state).to.include({ pausedSince: 0, probeAt: at + probeDelay(at) });
    }
  });

  it("end after ten minutes if the endpoint is not paused", () => {
    const young = fail(fail(notFailing, 0), 9 * minute, { hasProbed: true });
    expect(young).to.include({ pausedSince: null, probeAt: 9 * minute + 30 * second });
    expect(fail(young, 10 * minute, { hasProbed: true })).to.include({ probeAt: null });
  });

  it("respect the delay that the receiver asks for", () => {
    const state = fail(notFailing, 0, { isPausing: true, askedMs: hour });
    expect(state.probeAt).to.equal(hour);
  });
});
