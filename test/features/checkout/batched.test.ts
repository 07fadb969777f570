import { expect } from "chai";
import { batchReads } from "../../../src/features/checkout/cache.ts";

interface Read {
  readonly keys: readonly string[];
  end(result: string): void;
  fail(): void;
}

/** Resolves once all reads that can begin have begun. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("reads in batches", () => {
  let reads: Read[];
  const make = (batchMax = 10) => {
    reads = [];
    return batchReads<string>(
      (keys) =>
        new Promise((resolve, reject) => {
          const fail = () => {
            reject(new Error("the store is down"));
          };
          reads.push({ keys, end: resolve, fail });
        }),
      batchMax,
    );
  };

  it("read the keys of one turn together, each once", async () => {
    const read = make();
    const answers = Promise.all([read("a"), read("b"), read("a")]);
    await turns();
    expect(reads.map(({ keys }) => keys)).to.deep.equal([["a", "b"]]);
    reads[0]?.end("one");
    expect(await answers).to.deep.equal(["one", "one", "one"]);
  });

  it("begin after each of their keys was asked for, even while another runs", async () => {
    const read = make();
    const early = read("a");
    await turns();
    const late = Promise.all([read("a"), read("b")]);
    await turns();
    expect(reads, "only one read runs").to.have.length(1);
    reads[0]?.end("old");
    await turns();
    reads[1]?.end("new");
    expect([await early, await late]).to.deep.equal(["old", ["new", "new"]]);
    expect(reads.map(({ keys }) => keys)).to.deep.equal([["a"], ["a", "b"]]);
  });

  it("that fail do not affect the next one", async () => {
    const read = make();
    const failing = read("a").catch((error: unknown) => (error as Error).message);
    await turns();
    const next = read("a");
    reads[0]?.fail();
    await turns();
    reads[1]?.end("up again");
    expect([await failing, await next]).to.deep.equal(["the store is down", "up again"]);
  });

  it("have a maximum size, and run one at a time", async () => {
    const read = make(2);
    const answers = Promise.all(["a", "b", "c"].map((key) => read(key)));
    await turns();
    expect(reads.map(({ keys }) => keys)).to.deep.equal([["a", "b"]]);
    for (const each of reads) each.end(each.keys.join());
    await turns();
    for (const each of reads) each.end(each.keys.join());
    expect(await answers).to.deep.equal(["a,b", "a,b", "c"]);
  });
});
