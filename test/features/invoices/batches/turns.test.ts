import { expect } from "chai";
import { makeTurns, waitingMax } from "../../../../src/features/invoices/batches/batch.ts";
import { RateLimited } from "../../../../src/http/declare/problems.ts";

describe("The turns of batches", () => {
  /** Work that ends when the test says so. */
  function works() {
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    const work = (name: string) => () => {
      begun.push(name);
      return new Promise<string>((resolve) => {
        ends.set(name, () => {
          resolve(name);
        });
      });
    };
    const end = async (name: string) => {
      ends.get(name)?.();
      await new Promise(setImmediate);
    };
    return { begun, work, end };
  }

  it("run one after another for each organization, in the order of arrival", async () => {
    const turns = makeTurns();
    const { begun, work, end } = works();
    const taken = [turns.take("a", work("1")), turns.take("a", work("2"))];
    taken.push(turns.take("b", work("other")));
    await new Promise(setImmediate);
    expect(begun).to.deep.equal(["1", "other"]);
    await end("1");
    expect(begun).to.deep.equal(["1", "other", "2"]);
    await end("2");
    await end("other");
    expect(await Promise.all(taken)).to.deep.equal(["1", "2", "other"]);
  });

  it("go on after a failure, which only its own caller sees", async () => {
    const turns = makeTurns();
    const failed = turns.take("a", () => Promise.reject(new Error("no")));
    const next = turns.take("a", () => Promise.resolve("yes"));
    expect(await failed.catch((error: unknown) => String(error))).to.equal("Error: no");
    expect(await next).to.equal("yes");
  });

  it("are refused while the most are waiting, and free again one by one", async () => {
    const turns = makeTurns();
    const { begun, work, end } = works();
    const names = Array.from({ length: 1 + waitingMax }, (_, place) => String(place));
    const taken = names.map((name) => turns.take("a", work(name)));
    const isRefused = (key: string) =>
      turns
        .take(key, () => Promise.resolve("done"))
        .then(
          () => false,
          (error: unknown) => error instanceof RateLimited,
        );
    expect(await isRefused("a")).to.equal(true);
    expect(await isRefused("b")).to.equal(false);
    await end("0");
    const last = turns.take("a", work("last"));
    expect(await isRefused("a")).to.equal(true);
    for (const name of [...names, "last"]) await end(name);
    expect(begun).to.deep.equal([...names, "last"]);
    expect(await Promise.all([...taken, last])).to.deep.equal(begun);
    expect(await isRefused("a")).to.equal(false);
  });
});
