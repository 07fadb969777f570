import { expect } from "chai";
import {
  confirmationsOf,
  createState,
  keepBlocks,
  knownBlocks,
  networkState,
  networkStates,
  replaceState,
  type NetworkStateRow,
} from "../../../src/platform/chain/state.ts";
import { eachStore, testContext } from "../../support/stores.ts";

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
    headHeight: 101,
    scannedAt: 2_000,
    disabledTokens: ["USDC"],
    version: 1,
  };
}

eachStore("The state of a network", (store) => {
  it("is nothing before the first contact, and then what was written first", async () => {
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

  it("is replaced only by what followed it", async () => {
    const db = await store.open();
    await db.write(testContext, (tx) => createState(tx, stateOf("tron")));
    const { network: _network, version: _version, ...later } = stateOf("tron");
    const replace = (tipHeight: number) =>
      db.write(testContext, (tx) => replaceState(tx, stateOf("tron"), { ...later, tipHeight }));
    expect(await replace(110)).to.equal(true);
    expect(await replace(120)).to.equal(false);
    expect(await networkState(db, "tron")).to.include({ tipHeight: 110, version: 2 });
  });

  it("keeps the blocks of a range, each network by itself", async () => {
    const db = await store.open();
    const keep = (network: string, above: number, upTo: number, height: number | null) =>
      db.write(testContext, (tx) =>
        keepBlocks(
          tx,
          network,
          { above, upTo },
          height === null ? null : { height, hash: `hash ${String(height)}` },
        ),
      );
    const heights = async (network: string) =>
      (await knownBlocks(db, network)).map(({ height }) => height);
    for (const height of [100, 110, 120]) await keep("tron", 90, height, height);
    await keep("base", 0, 0, 5);
    expect(await heights("tron")).to.deep.equal([100, 110, 120]);
    await keep("tron", 100, 110, null);
    expect(await heights("tron")).to.deep.equal([110]);
    expect(await heights("base")).to.deep.equal([5]);
  });
});

describe("Confirmations", () => {
  it("count a block and those after it, and are none where the chain does not reach it", () => {
    expect(confirmationsOf(100, 100)).to.equal(1);
    expect(confirmationsOf(100, 98)).to.equal(3);
    expect(confirmationsOf(100, 101)).to.equal(0);
    expect(confirmationsOf(100, 140)).to.equal(0);
  });
});
