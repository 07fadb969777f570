// The rules by which a network counts as read.
import { expect } from "chai";
import {
  graded,
  networkHealth,
  providerHealth,
  worst,
  type NetworkFacts,
} from "../../../src/features/admin/status/health.ts";
import { minute, second } from "../../../src/kernel/clock.ts";
import type { ProviderHealth } from "../../../src/platform/chain/state/provider-health.ts";

const now = 1_800_000_000_000;
const state = {
  network: "tron",
  chainId: 1,
  cursorHeight: 980,
  tipHeight: 1_000,
  tipHash: "00",
  tipTime: now - 3 * second,
  tipSeenAt: now - 2 * second,
  headHeight: 1_000,
  scannedAt: now - 2 * second,
  usualLagMs: 0,
  cursorTime: 0,
  disabledTokens: [],
};
const good: NetworkFacts = {
  network: { blockTimeMs: 3 * second, pollMs: 3 * second, kind: { isSimulated: false } },
  provider: "https://node.example",
  state,
  isWatched: true,
  alarms: 0,
  own: { problem: null, heldPayments: 0 },
};
const of = (changes: Partial<NetworkFacts>) => networkHealth({ ...good, ...changes }, now);
const withState = (changes: Partial<typeof state>, own: NetworkFacts["own"] = null) =>
  of({ state: { ...state, ...changes }, own });

describe("the health of a standby provider", () => {
  const health: ProviderHealth = {
    place: 1,
    provider: "https://two",
    condition: "ok",
    isInUse: false,
    latencyMs: 20,
    tipHeight: 999,
    lagBlocks: 1,
    errorPercent: 0,
    requestsToday: 5,
    budgetDay: 0,
    requestsPerDay: null,
    lastError: null,
    retryAt: null,
    answeredAt: now - minute,
  };
  const lastError = { kind: "unreachable", message: "https://two: HTTP 503", at: now } as const;
  const told = (changes: Partial<ProviderHealth>, isWatched = true, age = 10 * second) =>
    providerHealth({ health: { ...health, ...changes }, writtenAt: now - age }, isWatched, now);

  it("is unknown if no server has used it recently", () => {
    expect(told({}, false).status).to.equal("unknown");
    expect(told({}, true, minute).status).to.equal("ok");
    expect(told({}, true, minute + 1).status).to.equal("unknown");
    expect(providerHealth(null, true, now).status).to.equal("unknown");
    expect(told({ condition: "unknown" }).status).to.equal("unknown");
  });

  it("is ok while it responds, and for 30 seconds after", () => {
    expect(told({})).to.deep.equal({ status: "ok", message: "standby, 1 blocks behind" });
    const failed = { condition: "waiting", lastError } as const;
    expect(told({ ...failed, answeredAt: now - 30 * second + 1 })).to.deep.equal({
      status: "ok",
      message: "will be retried soon: https://two: HTTP 503",
    });
    expect(told({ ...failed, answeredAt: now - 30 * second }).status).to.equal("down");
    expect(told({ ...failed, answeredAt: now - 31 * second })).to.deep.equal({
      status: "down",
      message: "has not responded for 31 s: https://two: HTTP 503",
    });
    expect(told({ ...failed, answeredAt: null })).to.deep.equal({
      status: "down",
      message: "has not responded yet: https://two: HTTP 503",
    });
  });

  it("is degraded if it is used only after the others, and down if it is not used", () => {
    expect(told({ condition: "behind", lastError }).status).to.equal("degraded");
    for (const condition of ["wrong_chain", "silent_logs"] as const) {
      expect(told({ condition, lastError }).status).to.equal("down");
    }
  });
});

describe("the health of a network", () => {
  it("is ok while it is read up to its tip", () => {
    expect(of({})).to.deep.equal({ status: "ok", message: "read 2 s ago, 0 blocks behind" });
    expect(withState({ headHeight: 1_010 }).message).to.equal("read 2 s ago, 10 blocks behind");
  });

  it("is unknown if no server reads it, whatever was seen last", () => {
    expect(of({ isWatched: false }).status).to.equal("unknown");
    expect(of({ isWatched: false, state: null }).message).to.include("never");
  });

  it("is down without a provider, before the first response, and after minutes of silence", () => {
    expect(of({ provider: null }).status).to.equal("down");
    expect(of({ state: null, own: null }).status).to.equal("down");
    const own = { problem: "wrong chain id", heldPayments: 0 };
    expect(of({ state: null, own })).to.deep.equal({ status: "down", message: own.problem });
    expect(withState({ scannedAt: now - 6 * minute }).status).to.equal("down");
    expect(withState({ scannedAt: now - 6 * minute }, own).message).to.equal(own.problem);
  });

  it("is degraded by silence, lag, an old tip, disagreement and disabled tokens", () => {
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

  it("changes with the next millisecond or block after each bound", () => {
    const told = (changes: Partial<typeof state>) => {
      const { status, message } = withState(changes);
      return `${status}: ${message}`;
    };
    const isRead = "ok: read 2 s ago, 0 blocks behind";
    for (const [changes, expected] of [
      [{ scannedAt: now - 30 * second }, "ok: read 30 s ago, 0 blocks behind"],
      [{ scannedAt: now - 30 * second - 1 }, "degraded: It was last read 30 s ago."],
      [{ scannedAt: now - 5 * minute }, "degraded: It was last read 300 s ago."],
      [{ scannedAt: now - 5 * minute - 1 }, "down: It was last read 300 s ago."],
      [{ scannedAt: now + 5 * second }, "ok: read 0 s ago, 0 blocks behind"],
      [{ headHeight: 1_020 }, "ok: read 2 s ago, 20 blocks behind"],
      [
        { headHeight: 1_021 },
        "degraded: catching up with the chain; read 2 s ago, 21 blocks behind",
      ],
      [{ headHeight: 990 }, isRead],
      [{ tipTime: now - 5 * minute - 3 * second }, isRead],
      [
        { tipTime: now - 5 * minute - 3 * second - 1 },
        "degraded: the provider's newest block is 303 s old; read 2 s ago, 0 blocks behind",
      ],
    ] as const) {
      expect(told(changes)).to.equal(expected);
    }
    const slow = { ...good.network, pollMs: minute };
    const silent = (silence: number) =>
      of({ network: slow, state: { ...state, scannedAt: now - silence } }).status;
    expect([silent(3 * minute), silent(3 * minute + 1)]).to.deep.equal(["ok", "degraded"]);
  });

  it("counts the open alarms", () => {
    const messages = [1, 2].map((alarms) => of({ alarms }).message.split(";")[0]);
    expect(messages).to.deep.equal([
      "1 open alarm, see till chain status",
      "2 open alarms, see till chain status",
    ]);
  });

  it("tolerates a simulated network that produces no blocks, and a slow poll interval", () => {
    const network = { ...good.network, kind: { isSimulated: true } };
    const still = { ...state, tipTime: now - 60 * minute };
    expect(of({ network, state: still }).status).to.equal("ok");
    const slow = { ...good.network, pollMs: minute };
    const read = { ...state, scannedAt: now - 2 * minute };
    expect(of({ network: slow, state: read }).status).to.equal("ok");
  });
});

describe("the health of several checks", () => {
  it("is the worst of them", () => {
    const check = (status: "ok" | "unknown" | "degraded" | "down") => ({ status, message: "" });
    expect(worst([])).to.equal("ok");
    expect(worst([check("ok"), check("unknown")])).to.equal("unknown");
    expect(worst([check("degraded"), check("unknown")])).to.equal("degraded");
    expect(worst([check("degraded"), check("down"), check("ok")])).to.equal("down");
  });

  it("grades a measurement by its bounds", () => {
    const bounds = { degradedAbove: 10, downAbove: 20 };
    const grades = [10, 11, 20, 21].map((value) => graded(value, bounds, "").status);
    expect(grades).to.deep.equal(["ok", "degraded", "degraded", "down"]);
  });
});
