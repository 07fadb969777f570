import { expect } from "chai";
import {
  createEndpointHealth,
  goodHealth,
  isFailing,
  isForgettable,
  isTroubled,
  observe,
  type Health,
} from "../../../src/features/webhooks/delivery/circuit-breaker.ts";
import {
  countSlots,
  scheduleDeliveries,
  type Capacity,
  type Demand,
  type SlotUse,
} from "../../../src/features/webhooks/delivery/slots.ts";
import {
  createEndpointRateLimit,
  demandOf,
  turnOf,
  type Attempt,
} from "../../../src/features/webhooks/delivery/deliverer.ts";
import type { EndpointBacklog } from "../../../src/features/webhooks/delivery/leases.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { day, minute, second } from "../../../src/kernel/clock.ts";

const good = { isGood: true, isSlow: false, isThrottled: false, isLone: false };
const bad = { ...good, isGood: false };
const slow = { ...good, isSlow: true };
const silent = { ...bad, isSlow: true, isThrottled: true };

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

  it("allows a receiver that takes seconds no further concurrent requests, though it answers 200", () => {
    expect(after(goodHealth, 0, 20, slow).concurrency).to.equal(4);
    expect(after(after(goodHealth, 0, 2, good), 0, 20, slow).concurrency).to.equal(6);
  });

  it("is troubled by its last failure, and by each slow answer of the newest 20 in five minutes", () => {
    const troubled = (health: Health, now = 0) => isTroubled(health, now);
    expect(troubled(goodHealth)).to.equal(false);
    expect(troubled(after(goodHealth, 0, 1))).to.equal(true);
    expect(troubled(after(after(goodHealth, 0, 1), 0, 1, good))).to.equal(false);
    const once = after(goodHealth, 0, 1, slow);
    expect(troubled(once)).to.equal(true);
    // Fast answers in between do not hide it.
    expect(troubled(after(once, 1, 19, good), 1)).to.equal(true);
    expect(troubled(after(once, 1, 20, good), 1)).to.equal(false);
    expect(troubled(once, 5 * minute)).to.equal(false);
    // A clock that was set back does not keep it for long.
    expect(troubled(after(goodHealth, 40 * day, 1, slow), 0)).to.equal(false);
    expect(troubled(after(goodHealth, 0, 1, silent))).to.equal(true);
    const recovered = observe(after(goodHealth, 0, 10, silent), { at: 1, ...slow, isLone: true });
    expect(troubled(recovered, 1)).to.equal(true);
    expect(isFailing(recovered)).to.equal(false);
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
        isSlow: false,
      }) as unknown as Attempt;
    const failed = Array.from({ length: 10 }, () => attempt(500));
    const failing = createEndpointHealth().learn(failed, 0);
    expect([...failing]).to.deep.equal(["whe_1"]);
    expect(createEndpointHealth().learn([...failed, attempt(200)], 0).size).to.equal(0);
  });

  it("is remembered of a thousand for as long as it takes, and of more for five minutes", () => {
    const lone = (endpoint: number, at: number): Attempt =>
      ({
        delivery: { endpointId: idOf(endpoint) },
        result: { outcome: "response", status: 200 },
        endedAt: at,
        isLone: true,
        isSlow: false,
      }) as unknown as Attempt;
    const idOf = (endpoint: number) => `whe_${String(endpoint)}` as Id<"webhookEndpoint">;
    const health = createEndpointHealth();
    const first = Array.from({ length: 1_000 }, (_, endpoint) => lone(endpoint, 0));
    health.learn(first, 0);
    health.learn([lone(1, 6 * minute)], 6 * minute);
    expect(health.of(idOf(0)).concurrency).to.equal(1);
    health.learn([lone(1_000, 6 * minute)], 6 * minute);
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

  it("counts as troubled all requests of an endpoint that fails, and retries elsewhere", () => {
    const open = [
      ["failing", { organizationId: "org_1", sending: 3, retries: 1 }],
      ["healthy", { organizationId: "org_1", sending: 20, retries: 4 }],
      ["unknown", { organizationId: "org_2", sending: 5, retries: 0 }],
    ] as const;
    expect([...countSlots(open, (id) => id === "failing")]).to.deep.equal([
      ["org_1", { open: 23, troubled: 7 }],
      ["org_2", { open: 5, troubled: 0 }],
    ]);
    expect(countSlots([], () => true).size).to.equal(0);
  });
});

describe("the allotment of requests", () => {
  const demand = (endpointId: string, dueAt: number, organizationId = "shop"): Demand<string> => ({
    endpointId,
    organizationId,
    dueAt,
    isRetry: false,
    isLone: false,
  });
  const roomy: Capacity<string> = {
    startMax: 32,
    used: new Map(),
    isTroubled: () => false,
    concurrency: () => 4,
    pace: () => Infinity,
    underWay: () => 0,
  };
  /** Many endpoints of an organization. */
  const manyOf = (organizationId: string, dueAt = 1, count = 20): Demand<string>[] =>
    Array.from({ length: count }, (_, n) =>
      demand(`${organizationId} ${String(n)}`, dueAt, organizationId),
    );
  const isSlow = (id: string) => id.startsWith("slow");
  /** The number of slots that each organization has once nothing more may start. */
  function filled(
    demands: readonly Demand<string>[],
    changes: Partial<Capacity<string>> = {},
  ): Record<string, number> {
    const owner = new Map(demands.map((each) => [each.endpointId, each.organizationId]));
    const capacity = { ...roomy, ...changes };
    const used = new Map<string, SlotUse>(capacity.used);
    for (;;) {
      const allotted = scheduleDeliveries(demands, { ...capacity, used });
      if (allotted.size === 0) break;
      for (const [endpointId, count] of allotted) {
        const organizationId = owner.get(endpointId) ?? "";
        const before = used.get(organizationId) ?? { open: 0, troubled: 0 };
        const isRetry = demands.find((each) => each.endpointId === endpointId)?.isRetry === true;
        const troubled = isRetry || capacity.isTroubled(endpointId) ? count : 0;
        used.set(organizationId, {
          open: before.open + count,
          troubled: before.troubled + troubled,
        });
      }
    }
    return Object.fromEntries([...used].map(([id, { open }]) => [id, open]));
  }

  it("gives every endpoint one before any gets its second, and at most four", () => {
    const demands = [demand("a", 3), demand("b", 1), demand("c", 2)];
    expect(scheduleDeliveries(demands, { ...roomy, startMax: 4 })).to.deep.equal(
      new Map([
        ["b", 2],
        ["c", 1],
        ["a", 1],
      ]),
    );
    expect([...scheduleDeliveries(demands, roomy).values()]).to.deep.equal([4, 4, 4]);
    const eager = { ...roomy, concurrency: () => 8 };
    expect([...scheduleDeliveries(demands, eager).values()]).to.deep.equal([4, 4, 4]);
    expect(scheduleDeliveries(demands, { ...roomy, underWay: () => 3 }).get("a")).to.equal(1);
    expect(scheduleDeliveries(demands, { ...roomy, underWay: () => 4 }).size).to.equal(0);
  });

  it("serves healthy endpoints first and reserves slots for them", () => {
    const capacity = {
      ...roomy,
      startMax: 7,
      isTroubled: isSlow,
      used: new Map([["others", { open: 46, troubled: 46 }]]),
    };
    const demands = [demand("slow 1", 1), demand("slow 2", 2), demand("fine", 90)];
    expect([...scheduleDeliveries(demands, capacity)]).to.deep.equal([
      ["fine", 4],
      ["slow 1", 1],
      ["slow 2", 1],
    ]);
  });

  it("reserves slots for first attempts while others are retried", () => {
    const again = ["a", "b", "c", "d"].flatMap((id) =>
      manyOf(id).map((each) => ({ ...each, isRetry: true })),
    );
    expect(filled([...again, demand("fresh", 2, "fresh")])).to.deep.equal({
      a: 12,
      b: 12,
      c: 12,
      d: 12,
      fresh: 16,
    });
  });

  it("lets an organization have 64 slots while no other waits, however many are open elsewhere", () => {
    expect(filled(manyOf("alone"))).to.deep.equal({ alone: 64 });
    const used = new Map([["idle", { open: 10, troubled: 0 }]]);
    expect(filled(manyOf("alone"), { used })).to.deep.equal({ idle: 10, alone: 54 });
  });

  it("gives no organization more than a quarter while another one waits, even for one delivery", () => {
    expect(filled([...manyOf("a"), ...manyOf("b")])).to.deep.equal({ a: 16, b: 16 });
    const many = ["a", "b", "c", "d", "e", "f"].flatMap((id) => manyOf(id));
    expect(Object.values(filled(many)).reduce((sum, count) => sum + count, 0)).to.equal(64);
    const { a = 0, b = 0 } = filled([...manyOf("a"), demand("b", 9, "b")], {
      used: new Map([["a", { open: 15, troubled: 0 }]]),
    });
    expect([a, b]).to.deep.equal([16, 16]);
  });

  it("does not count as waiting an endpoint that may not be sent more anyway", () => {
    const demands = [...manyOf("alone"), demand("busy", 1, "other"), demand("paced", 1, "third")];
    const changes = {
      underWay: (id: string) => (id === "busy" ? 4 : 0),
      pace: (id: string) => (id === "paced" ? 0 : Infinity),
    };
    expect(filled(demands, changes)).to.deep.equal({ alone: 64 });
  });

  it("always leaves a slot for another organization, though one has all shared slots", () => {
    const used = new Map([["greedy", { open: 64, troubled: 0 }]]);
    const demands = [...manyOf("greedy", 0), ...manyOf("late", 9), ...manyOf("later", 99)];
    expect(filled(demands, { used })).to.deep.equal({ greedy: 64, late: 4, later: 4 });
  });

  it("prefers the organization with the fewest slots, then the one that has waited longest", () => {
    const used = new Map([
      ["a", { open: 2, troubled: 0 }],
      ["b", { open: 1, troubled: 0 }],
    ]);
    const demands = [demand("a", 1, "a"), demand("b", 2, "b"), demand("c", 4, "c")];
    const allotted = scheduleDeliveries(demands, { ...roomy, used, startMax: 4 });
    expect([...allotted]).to.deep.equal([
      ["c", 2],
      ["b", 1],
      ["a", 1],
    ]);
    expect([...scheduleDeliveries(demands, { ...roomy, startMax: 2 })]).to.deep.equal([
      ["a", 1],
      ["b", 1],
    ]);
  });

  it("serves a hundred organizations with one delivery each beside one with thousands", () => {
    const hundred = Array.from({ length: 100 }, (_, n) => demand(String(n), 100 + n, String(n)));
    const first = scheduleDeliveries([...manyOf("greedy", 1), ...hundred], {
      ...roomy,
      used: new Map([["greedy", { open: 16, troubled: 0 }]]),
    });
    expect([...first.keys()]).to.deep.equal(hundred.slice(0, 32).map((each) => each.endpointId));
  });

  it("leaves slots of troubled endpoints to other organizations, and the rest to healthy ones", () => {
    const capacity = { isTroubled: isSlow };
    expect(filled(manyOf("slow a"), capacity)).to.deep.equal({ "slow a": 32 });
    const two = [...manyOf("slow a"), ...manyOf("slow b")];
    expect(filled(two, capacity)).to.deep.equal({ "slow a": 16, "slow b": 16 });
    const used = new Map([["slow a", { open: 32, troubled: 32 }]]);
    expect(filled(two, { ...capacity, used })).to.deep.equal({ "slow a": 32, "slow b": 16 });
    const many = ["slow a", "slow b", "slow c", "slow d"].flatMap((id) => manyOf(id));
    expect(filled([...many, ...manyOf("fine", 9)], capacity)).to.deep.equal({
      fine: 16,
      "slow a": 12,
      "slow b": 12,
      "slow c": 12,
      "slow d": 12,
    });
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
    expect(scheduleDeliveries(demands, { ...roomy, startMax: -1 }).size).to.equal(0);
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
