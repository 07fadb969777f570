// Chains and providers that replace blocks that they had called final.
import { expect } from "chai";
import { coverageOf } from "../../../../src/platform/chain/state/reading-ranges.ts";
import {
  addReading,
  extendReadings,
  readingsOf,
} from "../../../../src/platform/chain/state/readings.ts";
import { knownBlocks } from "../../../../src/platform/chain/state/network-state.ts";
import { minute, second } from "../../../../src/kernel/clock.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { makeRangeSize } from "../../../../src/features/payments/watcher/chain-reader.ts";
import { openPool, poolBlockMs, type PooledNetwork } from "./pooled-network.ts";
import { addressOf } from "./scripted-chain.ts";
import { standInInvoices, token } from "./watched-network.ts";

const shop = addressOf("shop");

eachStore("A chain that replaces final blocks", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound(standInInvoices);

  let till: PooledNetwork;
  afterEach(() => till.stop());

  async function open(nodes: number, blocks = 60): Promise<void> {
    till = await openPool(await store.open(), { nodes, blocks });
  }
  const statuses = async () => (await till.payments()).map(({ status }) => status);
  /** Opens an invoice whose payment is the given number of blocks deep. */
  async function paid(depth: number) {
    const { id } = till.invoices.ask({ address: shop });
    till.chain.mine(1, [{ to: shop, amount: token(25) }]);
    till.advance(poolBlockMs);
    for (let left = depth - 1; left > 0; left -= 5) await till.mine(Math.min(5, left));
    till.advance(3 * minute);
    await till.mine(1);
    expect(await statuses()).to.deep.equal(["confirmed"]);
    expect((await till.transfers())[0]?.isFinal).to.equal(true);
    return () => till.invoices.totals.get(id);
  }
  const isContiguous = async () => {
    const audit = await till.service.audit("ethereum", {});
    expect(audit).to.deep.include({ gaps: [], seams: [], to: till.chain.height() });
    expect(audit.ranges.at(-1)?.toHash).to.equal(till.chain.block(till.chain.height()).hash);
  };

  it("reverts a payment that was 25 blocks deep, and raises an alarm immediately", async () => {
    await open(1);
    const totals = await paid(25);
    till.chain.reorg(28);
    await till.mine(1);
    expect(await till.storedAlarms()).to.include("final_block_changed");
    // The only provider is not believed immediately: its address may lead to another machine.
    expect(await statuses()).to.deep.equal(["confirmed"]);
    till.advance(31 * second);
    await till.mine(1);
    expect(await statuses()).to.deep.equal(["reverted"]);
    expect(totals()).to.include({ seen: 0n, confirmed: 0n, isReverted: true });
    expect((await till.transfers())[0]).to.include({ status: "orphaned", isFinal: false });
    expect(await till.storedAlarms()).to.deep.equal(["final_block_changed"]);
    await isContiguous();
    await till.service.acknowledge(testContext, "ethereum", null);
    till.advance(minute);
    await till.mine(12);
    expect(await till.storedAlarms()).to.deep.equal([]);
    await isContiguous();
  });

  it("credits a payment again that comes back in another block", async () => {
    await open(1);
    const totals = await paid(25);
    const [transfer] = till.chain.transfers(61);
    if (transfer === undefined) throw new Error("nothing was paid");
    till.chain.reorg(28);
    till.chain.place(70, [transfer]);
    await till.mine(1);
    till.advance(31 * second);
    await till.mine(1);
    for (let times = 0; times < 3; times += 1) await till.mine(5);
    expect(await statuses()).to.deep.equal(["confirmed"]);
    expect((await till.payments())[0]?.blockHeight).to.equal(70);
    expect(totals()).to.include({ confirmed: token(25), isReverted: false });
    await isContiguous();
  });

  it("is believed immediately if two providers report it", async () => {
    await open(2);
    await paid(25);
    till.chain.reorg(28);
    await till.mine(1);
    expect(await statuses()).to.deep.equal(["reverted"]);
    expect(await till.storedAlarms()).to.deep.equal(["final_block_changed"]);
  });

  it("makes the provider be skipped if another one has the final block", async () => {
    await open(2);
    await paid(25);
    const [liar] = till.nodes;
    liar?.lie(({ method, params }, result) => {
      const isBlock = method === "eth_getBlockByNumber" && /^0x/.test(String(params[0]));
      return isBlock && result !== null
        ? { ...(result as object), hash: `0x${"9".repeat(64)}` }
        : result;
    });
    await till.mine(1);
    expect(await statuses()).to.deep.equal(["confirmed"]);
    expect((await till.state()).tipHeight).to.equal(till.chain.height());
    expect(till.pool.health()[0]).to.include({ isInUse: false });
    expect(await till.storedAlarms()).to.deep.equal(["final_block_changed"]);
    liar?.heal();
    till.advance(6 * minute);
    await till.mine(1);
    expect(till.pool.health()[0]).to.include({ isInUse: true });
    expect(await till.storedAlarms()).to.deep.equal([]);
  });

  it("is not believed of a provider that reports the old block again a moment later", async () => {
    await open(1);
    await paid(25);
    const [node] = till.nodes;
    node?.lie(({ method, params }, result) => {
      const isBlock = method === "eth_getBlockByNumber" && /^0x/.test(String(params[0]));
      return isBlock && result !== null
        ? { ...(result as object), hash: `0x${"9".repeat(64)}` }
        : result;
    });
    await till.mine(1);
    expect(await till.storedAlarms()).to.include("final_block_changed");
    node?.heal();
    till.advance(minute);
    await till.mine(1);
    expect(await till.storedAlarms()).to.deep.equal([]);
    expect(await statuses()).to.deep.equal(["confirmed"]);
  });

  it("invalidates a reading of blocks that it replaced meanwhile", async () => {
    await open(1);
    await paid(25);
    const [client] = till.pool.providers;
    if (client === undefined) throw new Error("there is no provider");
    const range = { from: 62, to: 66 };
    const reading = await till.scanner.read(client, makeRangeSize(1_000), range);
    till.chain.reorg(28);
    await till.mine(1);
    till.advance(31 * second);
    const guard = () => Promise.resolve();
    const refused = (error: unknown) => String(error);
    await till.watcher.look(guard);
    expect((await till.state()).cursorHeight).to.be.below(range.to);
    const record = till.scanner.record(testContext, reading, { guard });
    expect(await record.then(() => "recorded", refused)).to.match(/replaced final blocks/);
    await till.look();
    await isContiguous();
  });

  it("is followed back thousands of blocks, as far as hashes are kept", async () => {
    await open(1);
    await paid(25);
    for (let round = 0; round < 20; round += 1) await till.mine(200);
    const kept = await knownBlocks(till.db, "ethereum");
    expect(kept.length).to.be.below(130);
    till.chain.reorg(till.chain.height() - 55);
    await till.mine(1);
    till.advance(31 * second);
    await till.mine(1);
    expect(await statuses()).to.deep.equal(["reverted"]);
    await isContiguous();
  });

  it("stops the watcher with an alarm if the provider has none of the kept blocks", async () => {
    await open(1);
    await paid(25);
    const before = await till.state();
    till.chain.reorg(till.chain.height() - 5);
    await till.mine(1);
    till.advance(31 * second);
    await till.mine(1);
    expect(till.watcher.health().problem).to.match(
      /none of the final blocks that were kept, from 50 to \d+\./,
    );
    expect((await till.state()).cursorHeight).to.equal(before.cursorHeight);
    expect(await statuses()).to.deep.equal(["confirmed"]);
    expect(await till.storedAlarms()).to.deep.equal(["final_block_changed", "network_not_read"]);
  });

  it("does not join a range to one that ends with another hash", async () => {
    const db = await store.open();
    const reading = { provider: "one", at: 1_000 };
    await db.write(testContext, async (tx) => {
      const first = { parent: { height: 9, hash: "a" }, to: { height: 20, hash: "b" } };
      await addReading(tx, "base", first, reading);
      const next = { parent: { height: 20, hash: "other" }, to: { height: 30, hash: "c" } };
      await extendReadings(tx, "base", next, reading);
    });
    const rows = await readingsOf(db, "base");
    expect(coverageOf(rows, 10, 30)).to.deep.equal({ gaps: [], seams: [{ height: 20 }] });
    await open(1);
  });
});
