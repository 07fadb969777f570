import { expect } from "chai";
import { ratesWorkers } from "../../../src/features/rates/api.ts";
import { rateBook } from "../../../src/features/rates/store.ts";
import { minute, second } from "../../../src/kernel/clock.ts";
import { ratio } from "../../../src/kernel/money/ratio.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import type { Leases } from "../../../src/platform/jobs/leases.ts";
import { noRates } from "../../../src/platform/rates/plan.ts";
import { appOf, testConfig } from "../../support/context.ts";
import { anyStore } from "../../support/store/stores.ts";

/** Nobody listens here: the check finds that its source does not respond. */
const source = { name: "mint", url: "http://127.0.0.1:1/", value: "/price", isInverted: false };
const pair = { from: "EUR", to: "USD", maxSpread: ratio(1n, 50n), least: null, most: null };

/** The workers of a plan with pairs that are asked for or fixed, and what they do. */
function open(db: Database, kinds: readonly ("asked" | "fixed")[], refreshMs = minute) {
  const given = { hasLease: true };
  const did: unknown[] = [];
  const lease = { token: 7 };
  const pairs = kinds.map((kind) => ({
    ...pair,
    name: `${kind}/USD`,
    fixed: kind === "fixed" ? ratio(1n, 1n) : null,
    sources: kind === "fixed" ? [] : [{ ...source, dated: null, refreshMs: minute }],
  }));
  const leases = {
    acquire(name: string, milliseconds: number) {
      did.push([name, milliseconds]);
      return Promise.resolve(given.hasLease ? lease : null);
    },
    guard: (_tx: unknown, held: unknown) =>
      Promise.resolve(void did.push(held === lease ? "its lease" : held)),
  } as unknown as Leases;
  const config = { ...testConfig, rates: { ...noRates, refreshMs, pairs } };
  return { given, did, workers: ratesWorkers(appOf({ db, config, leases })) };
}

anyStore("The worker of exchange rates", (store) => {
  let db: Database;
  before(async () => {
    db = await store.open();
  });

  it("exists if any pair has sources, and looks every ten seconds, or as often as pairs are checked", () => {
    expect(open(db, []).workers).to.deep.equal([]);
    expect(open(db, ["fixed", "fixed"]).workers).to.deep.equal([]);
    for (const [refreshMs, everyMs] of [
      [minute, 10 * second],
      [5 * second, 5 * second],
    ] as const) {
      const { workers } = open(db, ["fixed", "asked"], refreshMs);
      expect(workers.map((worker) => worker.everyMs)).to.deep.equal([everyMs]);
    }
  });

  it("checks what is due under its lease of two minutes, and only in the process that holds it", async () => {
    const { workers, given, did } = open(db, ["asked"]);
    const run = () => workers[0]?.run(new AbortController().signal);
    given.hasLease = false;
    expect(await run()).to.equal(false);
    const acquired = ["rates", 2 * minute];
    expect(did.splice(0)).to.deep.equal([acquired]);
    expect(await db.find(rateBook, "")).to.deep.equal([]);
    given.hasLease = true;
    expect(await run()).to.equal(false);
    expect(did).to.deep.equal([acquired, "its lease"]);
    const [book] = await db.find(rateBook, "");
    expect(Object.keys(book?.pairs ?? {})).to.deep.equal(["asked/USD"]);
  });
});
