import { expect } from "chai";
import { minute, second } from "../../../../src/kernel/clock.ts";
import { makeQuarantine } from "../../../../src/platform/chain/providers/member.ts";

function atTime() {
  let now = 1_700_000_000_000;
  const quarantine = makeQuarantine({ now: () => now });
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  return { quarantine, pass, start: now };
}

describe("the quarantine of a provider", () => {
  it("has no reason, the best rank and no condition at first", () => {
    const { quarantine } = atTime();
    expect(quarantine.rank()).to.equal(0);
    expect(quarantine.condition()).to.equal(null);
    expect(quarantine.isBelieved()).to.equal(true);
    expect(quarantine.retryAt()).to.equal(null);
  });

  it("ends a backoff, a distrust and a lag at their own times", () => {
    const { quarantine, pass, start } = atTime();
    quarantine.wait(second);
    quarantine.put("behind");
    quarantine.put("distrusted");
    expect(quarantine.condition()).to.equal("waiting");
    expect(quarantine.retryAt()).to.equal(start + second);
    pass(second);
    expect([quarantine.has("waiting"), quarantine.condition()]).to.deep.equal([false, "behind"]);
    pass(14 * second);
    expect([quarantine.has("behind"), quarantine.isBelieved()]).to.deep.equal([false, false]);
    pass(5 * minute);
    expect([quarantine.isBelieved(), quarantine.rank()]).to.deep.equal([true, 0]);
  });

  it("knows from when a provider is checked or used again, unless its check is due", () => {
    const { quarantine, pass, start } = atTime();
    expect(quarantine.againAt()).to.equal(null);
    quarantine.put("silent_logs");
    expect(quarantine.againAt()).to.equal(null);
    quarantine.wait(5 * minute);
    quarantine.put("behind");
    expect(quarantine.againAt()).to.equal(start + 5 * minute);
    pass(5 * minute);
    expect([quarantine.againAt(), quarantine.condition()]).to.deep.equal([null, "silent_logs"]);
  });

  it("excludes a provider until the reason is lifted", () => {
    const { quarantine, pass } = atTime();
    quarantine.put("silent_logs");
    pass(365 * 24 * 60 * minute);
    expect([quarantine.isExcluded(), quarantine.rank()]).to.deep.equal([true, 2]);
    quarantine.put("behind");
    expect(quarantine.rank()).to.equal(3);
    quarantine.lift("silent_logs");
    expect([quarantine.isExcluded(), quarantine.rank()]).to.deep.equal([false, 1]);
  });

  it("keeps one exclusion when the other one is lifted", () => {
    const { quarantine } = atTime();
    quarantine.put("silent_logs");
    quarantine.put("wrong_chain");
    expect(quarantine.condition()).to.equal("wrong_chain");
    quarantine.lift("wrong_chain");
    expect(quarantine.condition()).to.equal("silent_logs");
  });

  it("ends a time that lies ahead of a clock that was set back", () => {
    const { quarantine, pass } = atTime();
    quarantine.wait(minute);
    quarantine.put("distrusted");
    pass(-second);
    expect([quarantine.has("waiting"), quarantine.has("distrusted")]).to.deep.equal([false, false]);
  });
});
