// Unit tests of the checks of exchange rates: when sources are asked, and what operators hear, with a store in memory.
import { expect } from "chai";
import { makeRatesService } from "../../../src/features/rates/index.ts";
import type { RateBookRow } from "../../../src/features/rates/table.ts";
import { hour, minute, second } from "../../../src/kernel/clock.ts";
import { readRatio } from "../../../src/kernel/money/ratio.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { noRates, type RatePair, type RatesPlan } from "../../../src/platform/rates/plan.ts";
import { testContext } from "../../support/store/stores.ts";

/** Pairs are checked each minute; their sources are asked every ten minutes, and half a minute after a failure. */
const refreshMs = minute;
const pairOf = (name: string): RatePair => {
  const [from = "", to = ""] = name.split("/");
  const source = { name: "mint", url: `http://mint/${name}`, value: "/price" };
  return {
    name,
    from,
    to,
    fixed: name === "AED/USD" ? readRatio("0.272294") : null,
    sources:
      name === "AED/USD"
        ? []
        : [{ ...source, isInverted: false, dated: null, refreshMs: 10 * minute }],
    maxSpread: readRatio("0.02"),
    least: null,
    most: null,
  };
};

/** Opens a store without rates, whose services ask sources that answer 1.08 until a test breaks them. */
function openStore() {
  let now = 1_800_000_000_000;
  let row: RateBookRow | null = null;
  const broken = new Set<string>();
  const asked: string[] = [];
  const logged: unknown[] = [];
  const checks: number[] = [];
  const note = (first: unknown, message = first) => void logged.push(message);
  const tx = {
    insertIfAbsent(_table: unknown, first: RateBookRow) {
      row ??= first;
      return Promise.resolve();
    },
    lockOne: () => Promise.resolve(row),
    update(_table: unknown, set: Omit<RateBookRow, "id">) {
      row = { id: 1, ...set };
      checks.push(set.updatedAt);
      return Promise.resolve(1);
    },
  };
  return {
    broken,
    asked,
    logged,
    /** The times at which the pairs were checked. */
    checks,
    pairs: () => Object.keys(row?.pairs ?? {}),
    now: () => now,
    advance: (milliseconds: number) => (now += milliseconds),
    /** Starts a service, as a new process does. */
    start: (...names: readonly string[]) => {
      const plan: RatesPlan = { ...noRates, refreshMs, pairs: names.map(pairOf) };
      const service = makeRatesService({
        plan,
        clock: { now: () => now },
        logger: { ...silentLogger, warn: note, info: note },
        journal: { record: () => [] },
        stopping: new AbortController().signal,
        fetch(url: string) {
          const name = url.replace("http://mint/", "");
          asked.push(name);
          const status = broken.has(name) ? 500 : 200;
          const body = [new TextEncoder().encode('{"price":"1.08"}')];
          return Promise.resolve({ status, headers: { get: () => null }, body });
        },
        db: {
          findOne: () => Promise.resolve(row),
          write: (_context: unknown, change: (to: typeof tx) => Promise<unknown>) => change(tx),
        },
      } as never);
      return {
        ...service,
        refresh: () => service.refresh(testContext),
        refreshDue: (guard = () => Promise.resolve()) => service.refreshDue(testContext, guard),
      };
    },
  };
}

describe("The check of exchange rates", () => {
  it("comes once a minute, from the last one of any process on, and asks the sources that are due", async () => {
    const store = openStore();
    const { start, asked, checks, advance } = store;
    await start("EUR/USD").refreshDue();
    const begun = store.now();
    expect(checks).to.deep.equal([begun]);
    advance(30 * second);
    const service = start("EUR/USD");
    await service.refreshDue();
    expect([asked.length, checks.length]).to.deep.equal([1, 1]);
    advance(30 * second);
    await service.refreshDue();
    expect([asked.length, checks.length]).to.deep.equal([2, 2]);
    await service.refreshDue();
    advance(minute - 1);
    await service.refreshDue();
    expect(checks).to.have.length(2);
    advance(1);
    await service.refreshDue();
    advance(1);
    await service.refreshDue();
    // The source is not due, and its last answer was checked again.
    expect([asked.length, checks.length]).to.deep.equal([2, 3]);
    advance(-hour);
    await service.refreshDue();
    expect(checks).to.have.length(4);
  });

  it("comes sooner for a source that failed, however it was asked before", async () => {
    for (const first of ["refresh", "refreshDue"] as const) {
      const { start, asked, broken, advance } = openStore();
      broken.add("EUR/USD");
      const service = start("EUR/USD");
      await service[first]();
      advance(30 * second - 1);
      await service.refreshDue();
      expect(asked, first).to.have.length(1);
      advance(1);
      await service.refreshDue();
      expect(asked, first).to.have.length(2);
    }
  });

  it("comes at once for a pair that was added to the file, and drops one that was removed", async () => {
    const { start, asked, pairs, advance } = openStore();
    await start("EUR/USD", "GBP/USD").refresh();
    advance(second);
    asked.length = 0;
    await start("GBP/USD", "CHF/USD").refreshDue();
    expect(asked).to.have.members(["GBP/USD", "CHF/USD"]);
    expect(pairs()).to.have.members(["GBP/USD", "CHF/USD"]);
  });

  it("stores nothing once another process has the lease", async () => {
    const { start, checks } = openStore();
    const service = start("EUR/USD");
    const lost = service.refreshDue(() => Promise.reject(new Error("the lease was lost")));
    expect(await lost.catch(String)).to.equal("Error: the lease was lost");
    expect(checks).to.deep.equal([]);
  });

  it("leaves fixed rates alone", async () => {
    const { start, asked, logged, pairs } = openStore();
    const views = await start("AED/USD", "EUR/USD").refresh();
    expect(views.map(({ status }) => status)).to.deep.equal(["fixed", "fresh"]);
    expect([asked, pairs(), logged]).to.deep.equal([["EUR/USD"], ["EUR/USD"], []]);
  });
});

describe("The health of exchange rates", () => {
  it("is down if any pair has no current rate, and has the age of the oldest one", async () => {
    const { start, broken, advance, now } = openStore();
    const service = start("AED/USD", "EUR/USD", "GBP/USD");
    expect(await service.health()).to.deep.equal({
      status: "down",
      oldestQuoteAt: null,
      problems: ["EUR/USD, GBP/USD: missing"],
    });
    await service.refresh();
    const begun = now();
    expect(await service.health()).to.deep.equal({
      status: "ok",
      oldestQuoteAt: begun,
      problems: [],
    });
    broken.add("GBP/USD");
    advance(10 * minute);
    await service.refresh();
    const failing = await service.health();
    expect(failing).to.include({ status: "degraded", oldestQuoteAt: begun });
    expect(failing.problems).to.have.length(1);
    advance(hour - 5 * minute);
    expect(await service.health()).to.include({ status: "down", oldestQuoteAt: begun });
  });
});
