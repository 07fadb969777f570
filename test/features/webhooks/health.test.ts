import { expect } from "chai";
import {
  countTroubled,
  createEndpointHealth,
  scheduleDeliveries,
  goodHealth,
  isFailing,
  isForgettable,
  observe,
  type Demand,
  type Health,
} from "../../../src/features/webhooks/delivery/circuit-breaker.ts";
import type { Attempt } from "../../../src/features/webhooks/delivery/attempt.ts";
import { demandOf, turnOf } from "../../../src/features/webhooks/delivery/deliverer.ts";
import type { EndpointBacklog } from "../../../src/features/webhooks/delivery/leases.ts";
import { createEndpointRateLimit } from "../../../src/features/webhooks/delivery/rate-limit.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { day, minute, second } from "../../../src/kernel/clock.ts";

const good = { isGood: true, isThrottled: false, isLone: false };
const bad = { isGood: false, isThrottled: false, isLone: false };
const silent = { isGood: false, isThrottled: true, isLone: false };

function after(health: Health, at: number, count: number, attempt = bad): Health {
  let known = health;
  for (let made = 0; made < count; made += 1) known = observe(known, { at, ...attempt });
  return known;
}

describe("an endpoint's health", () => {
  it("is failing if at least 70 % of ten attempts in five minutes failed, the last among them", () => {
    expect(isFailing(after(goodHealth, 0, 9))).to.equal(false);
    expect(isFailing(after(goodHealth, 0, 10))).to.equal(true);
    expect(isFailing(after(after(goodHealth, 0, 4, good), 0, 6))).to.equal(false);
    expect(isFailing(after(after(goodHealth, 0, 4, good), 0, 10))).to.equal(true);
    expect(isFailing(after(after(goodHealth, 0, 10), 0, 1, good))).to.equal(false);
    expect(isFailing(after(after(goodHealth, 0, 9), 5 * minute, 9))).to.equal(false);
  });

  it("is failing after the events of one order, however many attempts succeeded before", () => {
    const busy = after(goodHealth, 0, 500, good);
    // Of the newest 20 attempts, 14 are 70 %.
    expect(isFailing(after(busy, second, 13))).to.equal(false);
    expect(isFailing(after(busy, second, 14))).to.equal(true);
  });

  it("recovers with one lone attempt that succeeds, gradually", () => {
    let health = observe(after(goodHealth, 0, 10), { at: 40 * second, ...good, isLone: true });
    expect(health.concurrency).to.equal(1);
    health = observe(health, { at: 41 * second, ...bad });
    expect(isFailing(health)).to.equal(false);
    health = after(health, 42 * second, 3, good);
    expect(health.concurrency).to.equal(4);
    expect(isForgettable(health, 42 * second)).to.equal(false);
    expect(isForgettable(health, 5 * minute + 42 * second)).to.equal(true);
    const since = observe(health, { at: 10 * minute, ...bad });
    expect(isForgettable(since, 12 * minute)).to.equal(false);
    expect(isForgettable(after(health, 4 * minute, 1), 6 * minute)).to.equal(false);
  });

  it("allows more concurrent requests to a responsive endpoint, at most eight", () => {
    const allowed = [0, 1, 3, 4, 20].map((count) => after(goodHealth, 0, count, good).concurrency);
    expect(allowed).to.deep.equal([4, 5, 7, 8, 8]);
  });

  it("halves the concurrency of an overloaded receiver", () => {
    let health = goodHealth;
    const allowed = [1, 2, 3].map(() => {
      health = observe(health, { at: 0, ...silent });
      return health.concurrency;
    });
    expect(allowed).to.deep.equal([2, 1, 1]);
  });
});

describe("the health of all endpoints", () => {
  it("follows the last attempt of those that are recorded together", () => {
    const attempt = (status: number): Attempt =>
      ({
        delivery: { endpointId: "whe_1" },
        result: { outcome: "response", status },
        endedAt: 0,
        isLone: false,
      }) as unknown as Attempt;
    const failed = Array.from({ length: 10 }, () => attempt(500));
    const failing = createEndpointHealth().learn(failed, 0);
    expect([...failing]).to.deep.equal(["whe_1"]);
    expect(createEndpointHealth().learn([...failed, attempt(200)], 0).size).to.equal(0);
  });

  it("is remembered of a thousand for as long as it takes, and of more for five minutes", () => {
    const slow = (endpoint: number, at: number): Attempt =>
      ({
        delivery: { endpointId: idOf(endpoint) },
        result: { outcome: "response", status: 200 },
        endedAt: at,
        isLone: true,
      }) as unknown as Attempt;
    const idOf = (endpoint: number) => `whe_${String(endpoint)}` as Id<"webhookEndpoint">;
    const health = createEndpointHealth();
    const first = Array.from({ length: 1_000 }, (_, endpoint) => slow(endpoint, 0));
    health.learn(first, 0);
    health.learn([slow(1, 6 * minute)], 6 * minute);
    expect(health.of(idOf(0)).concurrency).to.equal(1);
    health.learn([slow(1_000, 6 * minute)], 6 * minute);
    expect(health.of(idOf(0))).to.equal(goodHealth);
  });
});

describe("the turn of an endpoint", () => {
  const now = 1_800_000_000_000;
  const waiting = { status: "enabled", pausedSince: null, probeAt: null, dueAt: now + 1 } as const;

  it("is for all due deliveries, for one that is tried alone, or for none", () => {
    const paused = { pausedSince: now - 1, dueAt: now } as const;
    for (const [changes, turn] of [
      [{ dueAt: now }, "all"],
      [{}, "none"],
      [{ dueAt: now, status: "disabled" }, "none"],
      // Ahead of its schedule, a delivery is tried alone only after a failure, and twenty times.
      [{ probeAt: now }, "lone"],
      [{ probeAt: now + 1 }, "none"],
      [{ probeAt: now, attempts: 0 }, "none"],
      [{ probeAt: now, earlyAttempts: 19 }, "lone"],
      [{ probeAt: now, earlyAttempts: 20 }, "none"],
      [{ probeAt: now, dueAt: now }, "all"],
      [paused, "none"],
      [{ ...paused, probeAt: now + 1 }, "none"],
      [{ ...paused, probeAt: now, attempts: 0, earlyAttempts: 20 }, "lone"],
    ] as const) {
      const backlog = { ...waiting, attempts: 1, earlyAttempts: 0, ...changes } as EndpointBacklog;
      expect(turnOf(backlog, now), JSON.stringify(changes)).to.equal(turn);
    }
  });

  it("uses the room of troubled endpoints for all requests of one that fails, and for retries elsewhere", () => {
    const open = [
      ["failing", { count: 3, retries: 1 }],
      ["healthy", { count: 20, retries: 4 }],
      ["unknown", { count: 5, retries: 0 }],
    ] as const;
    const failing = after(goodHealth, 0, 1);
    expect(countTroubled(open, (id) => (id === "failing" ? failing : goodHealth))).to.equal(7);
    expect(countTroubled([], () => failing)).to.equal(0);
  });
});

describe("the allotment of requests", () => {
  const demand = (endpointId: string, dueAt: number): Demand<string> => ({
    endpointId,
    dueAt,
    isRetry: false,
    isLone: false,
  });
  const roomy = {
    free: 64,
    freeForTroubled: 48,
    batchMax: 32,
    health: () => goodHealth,
    pace: () => Infinity,
    underWay: () => 0,
  };

  it("gives every endpoint one before any gets its second, and at most four", () => {
    const demands = [demand("a", 3), demand("b", 1), demand("c", 2)];
    expect(scheduleDeliveries(demands, { ...roomy, free: 4 })).to.deep.equal(
      new Map([
        ["b", 2],
        ["c", 1],
        ["a", 1],
      ]),
    );
    expect([...scheduleDeliveries(demands, roomy).values()]).to.deep.equal([4, 4, 4]);
    expect(scheduleDeliveries(demands, { ...roomy, underWay: () => 3 }).get("a")).to.equal(1);
    expect(scheduleDeliveries(demands, { ...roomy, underWay: () => 4 }).size).to.equal(0);
  });

  it("serves healthy endpoints first and reserves slots for them", () => {
    const troubled = observe(goodHealth, { at: 0, ...bad });
    const health = (id: string) => (id.startsWith("bad") ? troubled : goodHealth);
    const demands = [demand("bad 1", 1), demand("bad 2", 2), demand("fine", 90)];
    const allotted = scheduleDeliveries(demands, { ...roomy, health, free: 7, freeForTroubled: 2 });
    expect([...allotted]).to.deep.equal([
      ["fine", 4],
      ["bad 1", 1],
      ["bad 2", 1],
    ]);
  });

  it("reserves slots for first attempts while others are retried", () => {
    const again = Array.from({ length: 20 }, (_, n) => ({
      ...demand(`again ${String(n)}`, 1),
      isRetry: true,
    }));
    const allotted = scheduleDeliveries([...again, demand("fresh", 2)], { ...roomy, batchMax: 64 });
    expect(allotted.get("fresh")).to.equal(4);
    allotted.delete("fresh");
    expect([...allotted.values()].reduce((sum, count) => sum + count, 0)).to.equal(48);
  });

  it("takes an endpoint that has been failing for a while for one that is retried", () => {
    const backlog = {
      endpointId: "whe_1" as Id<"webhookEndpoint">,
      status: "enabled",
      dueAt: 1,
      attempts: 0,
      earlyAttempts: 0,
      pausedSince: null,
      probeAt: null,
      failingSince: null,
    } as unknown as EndpointBacklog;
    const retried = (changes: Partial<EndpointBacklog>) =>
      demandOf({ ...backlog, ...changes }, 1).isRetry;
    expect(retried({})).to.equal(false);
    expect(retried({ attempts: 1 })).to.equal(true);
    expect(retried({ failingSince: 0 })).to.equal(true);
  });

  it("gives one at a time to an endpoint that may only be tried", () => {
    const demands = [{ ...demand("tried", 1), isLone: true }, demand("fine", 2)];
    const allotted = scheduleDeliveries(demands, roomy);
    expect([...allotted]).to.deep.equal([
      ["fine", 4],
      ["tried", 1],
    ]);
    expect(scheduleDeliveries(demands, { ...roomy, underWay: () => 1 }).has("tried")).to.equal(
      false,
    );
  });

  it("respects each endpoint's rate limit", () => {
    const pace = (id: string) => (id === "a" ? 2 : 0);
    const allotted = scheduleDeliveries([demand("a", 1), demand("b", 2)], { ...roomy, pace });
    expect([...allotted]).to.deep.equal([["a", 2]]);
  });

  it("never claims more than a batch", () => {
    const demands = Array.from({ length: 50 }, (_, place) => demand(String(place), place));
    expect(scheduleDeliveries(demands, roomy).size).to.equal(32);
  });
});

describe("the rate limit of an endpoint", () => {
  it("allows a burst of one second's requests, then an even rate, per endpoint", () => {
    const pace = createEndpointRateLimit(20);
    expect(pace.available("a", 0)).to.equal(20);
    pace.spend("a", 20, 0);
    expect([0, 49, 50, 999, 1_000, 9_000].map((at) => pace.available("a", at))).to.deep.equal([
      0, 0, 1, 19, 20, 20,
    ]);
    expect(pace.available("b", 0)).to.equal(20);
    expect(pace.intervalMs).to.equal(50);
  });

  it("does not wait until a clock that was set back has caught up", () => {
    const pace = createEndpointRateLimit(20);
    pace.spend("a", 20, 40 * day);
    expect(pace.available("a", 40 * day)).to.equal(0);
    expect(pace.available("a", 0)).to.equal(20);
  });

  it("may be unlimited, and keeps no endpoint forever", () => {
    expect(createEndpointRateLimit(0).available("a", 0)).to.equal(Infinity);
    const pace = createEndpointRateLimit(1);
    for (let n = 0; n < 5_000; n += 1) {
      pace.spend(String(n), 1, n);
      expect(pace.available(String(n), n)).to.equal(0);
    }
    expect(pace.available("4999", 4_999)).to.equal(0);
    expect(pace.available("0", 4_999)).to.equal(1);
  });
});
