// The rules by which a network counts as read.
import { expect } from "chai";
import {
  graded,
  networkHealth,
  worst,
  type NetworkReading,
} from "../../../src/features/admin/health.ts";
import { minute, second } from "../../../src/kernel/clock.ts";

const now = 1_800_000_000_000;
const state = {
  network: "tron",
  chainId: 1,
  cursorHeight: 980,
  tipHeight: 1_000,
  tipHash: "00",
  tipTime: now - 3 * second,
  headHeight: 1_000,
  scannedAt: now - 2 * second,
  cursorTime: 0,
  disabledTokens: [],
};
const good: NetworkReading = {
  network: { blockTimeMs: 3 * second, pollMs: 3 * second, isTest: false },
  provider: "https://node.example",
  state,
  isWatched: true,
  alarms: 0,
  own: { problem: null, heldPayments: 0 },
};
const of = (changes: Partial<NetworkReading>) => networkHealth({ ...good, ...changes }, now);
const withState = (changes: Partial<typeof state>, own: NetworkReading["own"] = null) =>
  of({ state: { ...state, ...changes }, own });

describe("the health of a network", () => {
  it("is good while it is read up to its tip", () => {
    expect(of({})).to.deep.equal({ status: "ok", message: "read 2 s ago, 0 blocks behind" });
    expect(withState({ headHeight: 1_010 }).message).to.equal("read 2 s ago, 10 blocks behind");
  });

  it("is unknown where no server reads it, whatever was seen last", () => {
    expect(of({ isWatched: false }).status).to.equal("unknown");
    expect(of({ isWatched: false, state: null }).message).to.include("never");
  });

  it("is down without a provider, before the first answer, and after minutes of silence", () => {
    expect(of({ provider: null }).status).to.equal("down");
    expect(of({ state: null, own: null }).status).to.equal("down");
    const own = { problem: "wrong chain id", heldPayments: 0 };
    expect(of({ state: null, own })).to.deep.equal({ status: "down", message: own.problem });
    expect(withState({ scannedAt: now - 6 * minute }).status).to.equal("down");
    expect(withState({ scannedAt: now - 6 * minute }, own).message).to.equal(own.problem);
  });

  it("degrades by silence, lag, an old tip, contradiction and tokens that are off", () => {
    for (const degraded of [
      withState({ scannedAt: now - minute }),
      withState({ headHeight: 1_100 }),
      withState({ tipTime: now - 10 * minute }),
      withState({ disabledTokens: ["USDT"] as never }),
      of({ alarms: 1 }),
      of({ own: { problem: null, heldPayments: 2 } }),
      of({ own: { problem: "rate limited", heldPayments: 0 } }),
    ]) {
      expect(degraded.status, degraded.message).to.equal("degraded");
    }
  });

  it("does not mind a test network that stands still, nor a slow poll", () => {
    const network = { ...good.network, isTest: true };
    const still = { ...state, tipTime: now - 60 * minute };
    expect(of({ network, state: still }).status).to.equal("ok");
    const slow = { ...good.network, pollMs: minute };
    const read = { ...state, scannedAt: now - 2 * minute };
    expect(of({ network: slow, state: read }).status).to.equal("ok");
  });
});

describe("the health of several", () => {
  it("is that of the worst", () => {
    const check = (status: "ok" | "unknown" | "degraded" | "down") => ({ status, message: "" });
    expect(worst([])).to.equal("ok");
    expect(worst([check("ok"), check("unknown")])).to.equal("unknown");
    expect(worst([check("degraded"), check("unknown")])).to.equal("degraded");
    expect(worst([check("degraded"), check("down"), check("ok")])).to.equal("down");
  });

  it("grades a measure by its bounds", () => {
    const bounds = { degradedAbove: 10, downAbove: 20 };
    const grades = [10, 11, 20, 21].map((value) => graded(value, bounds, "").status);
    expect(grades).to.deep.equal(["ok", "degraded", "degraded", "down"]);
  });
});
