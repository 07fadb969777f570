// The checks of exchange rates: when sources are asked, what is stored, and the health that operators see.
import { Readable } from "node:stream";
import { expect } from "chai";
import {
  makeRateSources,
  ratesHealth,
  refreshDueRates,
  refreshRates,
} from "../../../src/features/rates/rates.ts";
import { rateBook } from "../../../src/features/rates/store.ts";
import { hour, minute, second } from "../../../src/kernel/clock.ts";
import { readRatio } from "../../../src/kernel/money/ratio.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { noRates, type RatePair, type RatesPlan } from "../../../src/platform/rates/plan.ts";
import type { RateFetch } from "../../../src/platform/rates/source.ts";
import { appOf, testConfig } from "../../support/context.ts";
import { anyStore, testContext } from "../../support/store/stores.ts";

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

/** Removes the rates of a store, and opens sources that answer 1.08 until a test breaks them. */
async function openSources(db: Database) {
  await db.write(testContext, (tx) => tx.run("DELETE FROM rate_book"));
  const start = 1_800_000_000_000;
  let now = start;
  const broken = new Set<string>();
  const asked: string[] = [];
  let checks = 0;
  const logged: unknown[] = [];
  const note = (first: unknown, message = first) => void logged.push(message);
  const fetch: RateFetch = (url) => {
    const name = url.replace("http://mint/", "");
    asked.push(name);
    const status = broken.has(name) ? 500 : 200;
    const body = Readable.from([new TextEncoder().encode('{"price":"1.08"}')]);
    return Promise.resolve({ status, headers: { get: () => null }, body });
  };
  const book = () => db.findOne(rateBook, "WHERE id = 1");
  return {
    broken,
    asked,
    logged,
    /** Returns the time of the last check, in milliseconds since the first; null before it. */
    checkedAfter: async () => {
      const checked = await book();
      return checked === null ? null : checked.updatedAt - start;
    },
    /** Returns the number of due checks whose result was stored. */
    checks: () => checks,
    pairs: async () => Object.keys((await book())?.pairs ?? {}),
    now: () => now,
    advance: (milliseconds: number) => (now += milliseconds),
    /** Starts to check pairs, as a new process does. */
    start: (...names: readonly string[]) => {
      const plan: RatesPlan = { ...noRates, refreshMs, pairs: names.map(pairOf) };
      const app = appOf({
        db,
        config: { ...testConfig, rates: plan },
        clock: { now: () => now },
        logger: { ...silentLogger, warn: note, info: note },
      });
      const sources = makeRateSources(app, fetch);
      return {
        health: () => ratesHealth(app),
        refresh: () => refreshRates(app, testContext, sources),
        refreshDue: (guard = () => Promise.resolve(void (checks += 1))) =>
          refreshDueRates(app, testContext, guard, sources),
      };
    },
  };
}

anyStore("Exchange rates", (store) => {
  let db: Database;
  before(async () => {
    db = await store.open();
  });

  describe("are checked", () => {
    it("once a minute, from the last check of any process on, with the sources that are due", async () => {
      const { start, asked, checks, checkedAfter, advance } = await openSources(db);
      await start("EUR/USD").refreshDue();
      expect(await checkedAfter()).to.equal(0);
      advance(30 * second);
      const service = start("EUR/USD");
      await service.refreshDue();
      expect([asked.length, checks()]).to.deep.equal([1, 1]);
      advance(30 * second);
      await service.refreshDue();
      expect([asked.length, checks()]).to.deep.equal([2, 2]);
      await service.refreshDue();
      advance(minute - 1);
      await service.refreshDue();
      expect([checks(), await checkedAfter()]).to.deep.equal([2, minute]);
      advance(1);
      await service.refreshDue();
      advance(1);
      await service.refreshDue();
      // The source is not due, and its last answer was checked again.
      expect([asked.length, checks()]).to.deep.equal([2, 3]);
      advance(-hour);
      await service.refreshDue();
      expect([checks(), await checkedAfter()]).to.deep.equal([4, 2 * minute + 1 - hour]);
    });

    it("sooner for a source that failed, however it was asked before", async () => {
      for (const first of ["refresh", "refreshDue"] as const) {
        const { start, asked, broken, advance } = await openSources(db);
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

    it("at once if a pair was added to the file, and one that was removed is dropped", async () => {
      const { start, asked, pairs, advance } = await openSources(db);
      await start("EUR/USD", "GBP/USD").refresh();
      advance(second);
      asked.length = 0;
      await start("GBP/USD", "CHF/USD").refreshDue();
      expect(asked).to.have.members(["GBP/USD", "CHF/USD"]);
      expect(await pairs()).to.have.members(["GBP/USD", "CHF/USD"]);
    });

    it("without an effect once another process has the lease", async () => {
      const { start, checkedAfter } = await openSources(db);
      const service = start("EUR/USD");
      const lost = service.refreshDue(() => Promise.reject(new Error("the lease was lost")));
      expect(await lost.catch(String)).to.equal("Error: the lease was lost");
      expect(await checkedAfter()).to.equal(null);
    });

    it("unless they are fixed", async () => {
      const { start, asked, logged, pairs } = await openSources(db);
      const views = await start("AED/USD", "EUR/USD").refresh();
      expect(views.map(({ status }) => status)).to.deep.equal(["fixed", "fresh"]);
      expect([asked, await pairs(), logged]).to.deep.equal([["EUR/USD"], ["EUR/USD"], []]);
    });
  });

  it("are down if any pair has no current rate, and have the age of the oldest one", async () => {
    const { start, broken, advance, now } = await openSources(db);
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
