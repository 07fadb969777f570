import { expect } from "chai";
import { batchesOf } from "../../../src/platform/database/query/lists.ts";

describe("the batches of a query", () => {
  async function walk(count: number, size: number) {
    const rows = Array.from({ length: count }, (_, place) => String.fromCharCode(97 + place));
    const reads: string[] = [];
    const batches: string[] = [];
    const read = (after: string) => {
      reads.push(after);
      return Promise.resolve(rows.filter((row) => row > after).slice(0, size));
    };
    for await (const batch of batchesOf(size, read, (row) => row)) batches.push(batch.join(""));
    return { batches, reads };
  }

  it("are read one after the other until one is not full", async () => {
    for (const [count, batches, reads] of [
      [0, [], [""]],
      [1, ["a"], [""]],
      [2, ["ab"], ["", "b"]],
      [3, ["ab", "c"], ["", "b"]],
      [4, ["ab", "cd"], ["", "b", "d"]],
    ] as const) {
      expect(await walk(count, 2), String(count)).to.deep.equal({ batches, reads });
    }
  });
});
