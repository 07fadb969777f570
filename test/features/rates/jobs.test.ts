import { expect } from "chai";
import { makeRatesWorkers } from "../../../src/features/rates/jobs.ts";
import { minute, second } from "../../../src/kernel/clock.ts";
import { ratio } from "../../../src/kernel/money/ratio.ts";

/** The workers of a plan with pairs that are asked for or fixed, and what they do. */
function open(kinds: readonly ("asked" | "fixed")[], refreshMs = minute) {
  const given = { hasLease: true };
  const did: unknown[] = [];
  const lease = { token: 7 };
  const pairs = kinds.map((kind) => ({ fixed: kind === "fixed" ? ratio(1n, 1n) : null }));
  const workers = makeRatesWorkers({
    plan: { refreshMs, pairs },
    rates: {
      async refreshDue(_context: unknown, guard: (tx: string) => Promise<void>) {
        did.push("refresh");
        await guard("tx");
      },
    },
    leases: {
      acquire(name: string, milliseconds: number) {
        did.push([name, milliseconds]);
        return Promise.resolve(given.hasLease ? lease : null);
      },
      guard: (tx: string, held: unknown) =>
        Promise.resolve(void did.push([tx, held === lease ? "its lease" : held])),
    },
  } as never);
  return { given, did, workers };
}

describe("The worker of exchange rates", () => {
  it("exists if any pair has sources, and looks every ten seconds, or as often as pairs are checked", () => {
    expect(open([]).workers).to.deep.equal([]);
    expect(open(["fixed", "fixed"]).workers).to.deep.equal([]);
    for (const [refreshMs, everyMs] of [
      [minute, 10 * second],
      [5 * second, 5 * second],
    ] as const) {
      const { workers } = open(["fixed", "asked"], refreshMs);
      expect(workers.map((worker) => worker.everyMs)).to.deep.equal([everyMs]);
    }
  });

  it("checks what is due under its lease of two minutes, and only in the process that holds it", async () => {
    const { workers, given, did } = open(["asked"]);
    const run = () => workers[0]?.run(new AbortController().signal);
    expect(await run()).to.equal(false);
    const acquired = ["rates", 2 * minute];
    expect(did.splice(0)).to.deep.equal([acquired, "refresh", ["tx", "its lease"]]);
    given.hasLease = false;
    expect(await run()).to.equal(false);
    expect(did).to.deep.equal([acquired]);
  });
});
