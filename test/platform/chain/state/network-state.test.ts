import { expect } from "chai";
import {
  confirmationsOf,
  createState,
  storeBlocks,
  knownBlocks,
  networkState,
  networkStates,
  replaceState,
  type NetworkStateRow,
} from "../../../../src/platform/chain/state/network-state.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";

function stateOf(network: string): NetworkStateRow {
  return {
    network,
    chainId: 1,
    cursorHeight: 90,
    cursorHash: "a".repeat(64),
    cursorTime: 900,
    tipHeight: 100,
    tipHash: "b".repeat(64),
    tipTime: 1_000,
    tipSeenAt: 1_500,
    headHeight: 101,
    scannedAt: 2_000,
    usualLagMs: 500,
    disabledTokens: ["USDC"],
    version: 1,
  };
}

eachStore("The state of a network", (store) => {
  it("is missing before the first contact, and then the one that was written first", async () => {
    const db = await store.open();
    expect(await networkState(db, "tron")).to.equal(null);
    const first = await db.write(testContext, (tx) => createState(tx, stateOf("tron")));
    const second = await db.write(testContext, (tx) =>
      createState(tx, { ...stateOf("tron"), tipHeight: 7 }),
    );
    expect([first, second]).to.deep.equal([true, false]);
    expect(await networkState(db, "tron")).to.deep.equal(stateOf("tron"));
    expect([...(await networkStates(db)).keys()]).to.deep.equal(["tron"]);
  });

  it("is replaced only by its direct successor", async () => {
    const db = await store.open();
    await db.write(testContext, (tx) => createState(tx, stateOf("tron")));
    const { network: _network, version: _version, ...later } = stateOf("tron");
    const replace = (tipHeight: number) =>
      db.write(testContext, (tx) => replaceState(tx, stateOf("tron"), { ...later, tipHeight }));
    expect(await replace(110)).to.equal(true);
    expect(await replace(120)).to.equal(false);
    expect(await networkState(db, "tron")).to.include({ tipHeight: 110, version: 2 });
  });

  it("replaces the stored blocks of a network, but not those of others", async () => {
    const db = await store.open();
    const keep = (network: string, kept: Readonly<Record<number, string>>) =>
      db.write(testContext, async (tx) => {
        const blocks = Object.entries(kept).map(([height, hash]) => ({
          height: Number(height),
          hash,
        }));
        await storeBlocks(tx, network, await knownBlocks(tx, network), blocks);
      });
    const stored = async (network: string) =>
      (await knownBlocks(db, network)).map(({ height, hash }) => `${String(height)} ${hash}`);
    await keep("tron", { 90: "a", 100: "b", 110: "c" });
    await keep("base", { 100: "x" });
    expect(await stored("tron")).to.deep.equal(["90 a", "100 b", "110 c"]);
    await keep("tron", { 100: "b", 110: "other", 120: "d" });
    expect(await stored("tron")).to.deep.equal(["100 b", "110 other", "120 d"]);
    await keep("tron", {});
    expect(await stored("tron")).to.deep.equal([]);
    expect(await stored("base")).to.deep.equal(["100 x"]);
  });
});

describe("Confirmations", () => {
  it("count a block and those after it, and are 0 if the chain does not reach the block", () => {
    expect(confirmationsOf(100, 100)).to.equal(1);
    expect(confirmationsOf(100, 98)).to.equal(3);
    expect(confirmationsOf(100, 101)).to.equal(0);
    expect(confirmationsOf(100, 140)).to.equal(0);
  });
});
