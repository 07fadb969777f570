import { expect } from "chai";
import { setRecent } from "../../src/kernel/memo.ts";

describe("a map of recent entries", () => {
  it("keeps those that were set last, in the order in which they were", () => {
    const map = new Map<string, number>();
    const after = (...keys: readonly string[]) => {
      for (const key of keys) setRecent(map, key, map.size, 3);
      return [...map.keys()].join("");
    };
    expect(after("a", "b", "c")).to.equal("abc");
    expect(after("a")).to.equal("bca");
    expect(after("d")).to.equal("cad");
    expect(after("d", "c", "e")).to.equal("dce");
  });

  it("has the newest value of each, and drops as many as it has too many", () => {
    const map = new Map(["a", "b", "c", "d", "e"].map((key, place) => [key, place]));
    setRecent(map, "e", 9, 2);
    expect([...map]).to.deep.equal([
      ["d", 3],
      ["e", 9],
    ]);
  });
});
