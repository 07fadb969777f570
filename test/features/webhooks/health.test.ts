import { expect } from "chai";
import {
  scheduleDeliveries,
  allowance,
  goodHealth,
  isForgettable,
  observe,
  type Demand,
  type Health,
} from "../../../src/features/webhooks/delivery/circuit-breaker.ts";
import { createEndpointRateLimit } from "../../../src/features/webhooks/delivery/rate-limit.ts";
import { minute, second } from "../../../src/kernel/clock.ts";

const good = { isGood: true, isThrottled: false };
const bad = { isGood: false, isThrottled: false };
const silent = { isGood: false, isThrottled: true };

function after(health: Health, at: number, count: number, attempt = bad): Health {
  let known = health;
  for (let made = 0; made < count; made += 1) known = observe(known, { at, ...attempt });
  return known;
}

describe("an endpoint's health", () => {
  it("is postponed for 30 s if at least 70 % of ten attempts failed", () => {
    expect(allowance(after(goodHealth, 0, 9), 0)).to.equal(4);
    const open = after(goodHealth, 0, 10);
    expect(open.openUntil).to.equal(30 * second);
    expect(allowance(open, 30 * second - 1)).to.equal(0);
    expect(allowance(open, 30 * second)).to.equal(1);
    const mixed = after(after(goodHealth, 0, 4, good), 0, 6);
    expect(mixed.openUntil).to.equal(null);
    expect(after(after(goodHealth, 0, 9), 5 * minute, 9).openUntil).to.equal(null);
  });

  it("is postponed twice as long by each failed probe, up to two minutes", () => {
    let health = after(goodHealth, 0, 10);
    const waits: number[] = [];
    for (let probe = 0; probe < 8; probe += 1) {
      const at = health.openUntil ?? 0;
      // Attempts running when the endpoint was postponed change nothing.
      health = observe(observe(health, { at: at - 1, ...bad }), { at, ...bad });
      waits.push((health.openUntil ?? 0) - at);
    }
    expect(waits.map((wait) => wait / minute)).to.deep.equal([1, 2, 2, 2, 2, 2, 2, 2]);
  });

  it("recovers after one success, gradually", () => {
    let health = observe(after(goodHealth, 0, 10), { at: 40 * second, ...good });
    expect(allowance(health, 40 * second)).to.equal(1);
    health = observe(health, { at: 41 * second, ...bad });
    expect(health.openUntil).to.equal(null);
    health = after(health, 42 * second, 3, good);
    expect(allowance(health, 42 * second)).to.equal(4);
    expect(isForgettable(health, 42 * second)).to.equal(false);
    expect(isForgettable(health, 7 * minute)).to.equal(true);
    const open = after(goodHealth, 0, 10);
    expect(isForgettable(open, 7 * minute)).to.equal(false);
  });

  it("allows more concurrent requests to a responsive endpoint, at most eight", () => {
    const allowed = [0, 1, 3, 4, 20].map((count) =>
      allowance(after(goodHealth, 0, count, good), 0),
    );
    expect(allowed).to.deep.equal([4, 5, 7, 8, 8]);
  });

  it("halves the concurrency of an overloaded receiver", () => {
    let health = goodHealth;
    const allowed = [1, 2, 3].map(() => {
      health = observe(health, { at: 0, ...silent });
      return allowance(health, 0);
    });
    expect(allowed).to.deep.equal([2, 1, 1]);
  });
});

describe("the allotment of requests", () => {
  const demand = (endpointId: string, dueAt: number): Demand<string> => ({
    endpointId,
    dueAt,
    isRetry: false,
  });
  const roomy = {
    now: 100,
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

  it("may be unlimited, and keeps no endpoint forever", () => {
    expect(createEndpointRateLimit(0).available("a", 0)).to.equal(Infinity);
    const pace = createEndpointRateLimit(1);
    for (let n = 0; n < 5_000; n += 1) pace.spend(String(n), 1, n);
    expect(pace.available("4999", 4_999)).to.equal(0);
    expect(pace.available("0", 4_999)).to.equal(1);
  });
});
