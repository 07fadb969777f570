import { expect } from "chai";
import { createRecent } from "../../../src/features/checkout/recent.ts";

interface Pending {
  readonly key: string;
  resolve(value: string | null): void;
  reject(error: Error): void;
}

function makeRecent(sizeMax = 10) {
  const world = { at: 1_000, loads: [] as Pending[] };
  const recent = createRecent<string>({
    load: (key) =>
      new Promise((resolve, reject) => {
        world.loads.push({ key, resolve, reject });
      }),
    clock: { now: () => world.at },
    ttlMs: 1_000,
    sizeMax,
  });
  const answer = (value: string | null): void => {
    world.loads.at(-1)?.resolve(value);
  };
  return { world, recent, answer };
}

describe("the checkout cache", () => {
  it("loads once for concurrent requests and within one second", async () => {
    const { world, recent, answer } = makeRecent();
    const asked = Array.from({ length: 50 }, () => recent.get("a"));
    answer("one");
    expect(new Set(await Promise.all(asked))).to.deep.equal(new Set(["one"]));
    world.at += 999;
    expect(await recent.get("a")).to.equal("one");
    expect(world.loads).to.have.length(1);
  });

  it("counts the age from the start of the load, however long it took", async () => {
    const { world, recent, answer } = makeRecent();
    const slow = recent.get("a");
    world.at += 1_000;
    const fresh = recent.get("a");
    expect(world.loads).to.have.length(2);
    world.loads[0]?.resolve("old");
    answer("new");
    expect([await slow, await fresh]).to.deep.equal(["old", "new"]);
    expect(await recent.get("a")).to.equal("new");
  });

  it("does not cache missing checkouts and errors", async () => {
    const { world, recent, answer } = makeRecent();
    const missing = recent.get("a");
    answer(null);
    expect(await missing).to.equal(null);
    const failing = recent.get("a");
    world.loads.at(-1)?.reject(new Error("the store is away"));
    expect(await failing.catch((error: unknown) => String(error))).to.contain("away");
    const found = recent.get("a");
    answer("here");
    expect(await found).to.equal("here");
    expect(world.loads).to.have.length(3);
  });

  it("discards a running load when it is cleared", async () => {
    const { world, recent, answer } = makeRecent();
    const before = recent.get("a");
    recent.clear();
    const after = recent.get("a");
    world.loads[0]?.resolve("before");
    answer("after");
    expect([await before, await after]).to.deep.equal(["before", "after"]);
    expect(await recent.get("a")).to.equal("after");
  });

  it("keeps to its size limit, and evicts the oldest entry", async () => {
    const { world, recent, answer } = makeRecent(3);
    for (const key of ["a", "b", "c", "d"]) {
      const asked = recent.get(key);
      answer(key);
      await asked;
    }
    await recent.get("d");
    await recent.get("b");
    expect(world.loads).to.have.length(4);
    void recent.get("a");
    expect(world.loads.map(({ key }) => key)).to.deep.equal(["a", "b", "c", "d", "a"]);
  });

  it("loads again when the clock was set back", async () => {
    const { world, recent, answer } = makeRecent();
    const first = recent.get("a");
    answer("one");
    await first;
    world.at -= 60_000;
    void recent.get("a");
    expect(world.loads).to.have.length(2);
  });
});
