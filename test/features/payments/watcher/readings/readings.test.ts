// Final blocks are read again some minutes and an hour after the watcher read them: an index that lagged behind its node,
// or a provider that omitted transfers, causes no lost payment, whatever the number of providers.
import { expect } from "chai";
import {
  acknowledgeAlarms,
  auditBlocks,
  scanBlocks,
} from "../../../../../src/features/payments/networks/chain.ts";
import { hour, minute, second } from "../../../../../src/kernel/clock.ts";
import { makeRangeSize } from "../../../../../src/features/payments/watcher/chain-reader.ts";
import type { FakeNode } from "../../../../support/chain/fake-node.ts";
import { eachStore, takeTurns, testContext } from "../../../../support/store/stores.ts";
import { standInInvoices, token } from "../../../../support/chain/asked-invoices.ts";
import {
  openPool,
  type PooledNetwork,
  type PooledOptions,
} from "../../../../support/chain/world.ts";
import { addressOf } from "../../../../support/chain/fake-chain.ts";

const shop = addressOf("shop");

eachStore("The readings of final blocks", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound(standInInvoices);

  let till: PooledNetwork;
  const opened: PooledNetwork[] = [];

  async function open(options: PooledOptions = {}): Promise<readonly FakeNode[]> {
    till = await openPool(await store.open(), { nodes: 1, ...options });
    opened.push(till);
    till.invoices.ask({ address: shop });
    return till.nodes;
  }
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.stop();
  });

  /** Makes a payment in the next block that these nodes do not list, until it is final and unrecorded. */
  async function hidePayment(nodes: readonly FakeNode[]): Promise<number> {
    const height = till.chain.height() + 1;
    till.chain.mine([{ to: shop, amount: token(25) }]);
    const hidden = till.chain.transfers(height).map(({ transactionHash }) => transactionHash);
    for (const node of nodes) node.view.hidden = new Set(hidden);
    await till.mine(13);
    expect((await till.state()).cursorHeight).to.be.greaterThan(height);
    expect(await till.transfers()).to.deep.equal([]);
    return height;
  }

  async function later(milliseconds: number): Promise<void> {
    till.advance(milliseconds);
    await till.mine(1);
    // Another scan handles payments that were confirmed meanwhile.
    await till.mine(1);
  }

  const readingsAt = async (height: number) => {
    const { readings } = await auditBlocks(till.app, "ethereum", {});
    const one = readings.find(({ from, to }) => from <= height && height <= to);
    return [one?.timesRead, one?.providers.length];
  };
  const audited = () =>
    till.db.all("SELECT target_id AS id FROM audit_logs WHERE action = 'chain.transfer_left_out'");

  it("request no block times for payments that are on record", async () => {
    const nodes = await open({ nodes: 2 });
    const heights = new Set<number>();
    for (let payments = 0; payments < 20; payments += 1) {
      till.chain.mine([{ to: shop, amount: token(25) }]);
      heights.add(till.chain.height());
    }
    await till.mine(13);
    expect(await till.transfers()).to.have.length(20);
    // Makes the watcher forget the agreed times of final blocks.
    await till.watcher.finalTime();
    const asked: number[] = [];
    for (const node of nodes) {
      node.lie(({ method, params: [height] }, result) => {
        const isOfPayment = method === "eth_getBlockByNumber" && heights.has(Number(height));
        if (isOfPayment) asked.push(Number(height));
        return result;
      });
    }
    await later(4 * minute);
    await later(2 * hour);
    expect(await readingsAt([...heights][10] ?? 0)).to.deep.equal([3, 2]);
    expect(asked).to.deep.equal([]);
  });

  it("find a payment that the only provider's index omitted until its block was final", async () => {
    const nodes = await open();
    const height = await hidePayment(nodes);
    expect(await readingsAt(height)).to.deep.equal([1, 1]);
    for (const node of nodes) node.view.hidden = new Set();
    await later(4 * minute);
    expect((await till.payments()).map(({ status }) => status)).to.deep.equal(["confirmed"]);
    expect(await readingsAt(height)).to.deep.equal([2, 1]);
    expect(await till.storedAlarms()).to.deep.equal(["transfer_left_out"]);
    expect(await audited()).to.deep.equal([{ id: "ethereum" }]);
    await later(2 * hour);
    expect(await readingsAt(height)).to.deep.equal([3, 1]);
    expect(await till.transfers()).to.have.length(1);
    expect(await audited()).to.have.length(1);
    await acknowledgeAlarms(till.app, testContext, "ethereum", null);
    await later(minute);
    expect(await till.storedAlarms()).to.deep.equal([]);
  });

  it("bring a payment back that a reorganization moved to a block whose index lagged", async () => {
    const [node] = await open();
    const payment = { to: shop, amount: token(25), transactionHash: "7".repeat(64) };
    till.chain.mine([payment]);
    await till.mine(1);
    const seen = async () =>
      (await till.transfers()).map(({ status, blockHeight }) => [status, blockHeight]);
    const first = till.chain.height() - 1;
    expect(await seen()).to.deep.equal([["seen", first]]);
    till.chain.reorg(2);
    till.chain.mine([payment]);
    const moved = till.chain.height();
    if (node !== undefined) node.view.hidden = new Set([payment.transactionHash]);
    await till.mine(13);
    expect(await seen()).to.deep.equal([["orphaned", first]]);
    if (node !== undefined) node.view.hidden = new Set();
    await later(4 * minute);
    expect(await seen()).to.deep.equal([["seen", moved]]);
    expect((await till.payments()).map(({ status }) => status)).to.deep.equal(["confirmed"]);
  });

  it("find a payment even if an operator scanned its block twice while the index lagged", async () => {
    const nodes = await open();
    const height = await hidePayment(nodes);
    for (let scans = 0; scans < 2; scans += 1) {
      await scanBlocks(till.app, testContext, "ethereum", { from: height, to: height });
    }
    expect(await readingsAt(height)).to.deep.equal([3, 1]);
    for (const node of nodes) node.view.hidden = new Set();
    await later(4 * minute);
    expect((await till.payments()).map(({ status }) => status)).to.deep.equal(["confirmed"]);
  });

  it("find a payment after an hour if the index lagged for longer than some minutes", async () => {
    const nodes = await open();
    const height = await hidePayment(nodes);
    await later(4 * minute);
    expect(await readingsAt(height)).to.deep.equal([2, 1]);
    expect(await till.transfers()).to.deep.equal([]);
    for (const node of nodes) node.view.hidden = new Set();
    await later(hour + 12 * minute);
    expect(await till.payments()).to.have.length(1);
    expect(await till.storedAlarms()).to.deep.equal(["transfer_left_out"]);
  });

  it("come from the second provider if there is one", async () => {
    const [first] = await open({ nodes: 2 });
    if (first === undefined) throw new Error("there is no node");
    // The provider's index lagged, and has caught up when it is asked again.
    const height = await hidePayment([first]);
    first.view.hidden = new Set();
    await later(4 * minute);
    expect(await till.payments()).to.have.length(1);
    expect(await readingsAt(height)).to.deep.equal([2, 2]);
    expect(await till.storedAlarms()).to.deep.equal(["transfer_left_out"]);
    expect(till.pool.health()[0]?.condition).to.equal("ok");
  });

  it("come from the same provider while the second one is away", async () => {
    const [, other] = await open({ nodes: 2 });
    other?.fail("unavailable", Infinity);
    const height = await hidePayment([]).catch(() => till.chain.height() - 13);
    await later(4 * minute);
    expect(await readingsAt(height)).to.deep.equal([2, 1]);
    other?.heal();
    till.advance(minute);
    await till.mine(1);
    await later(hour + 12 * minute);
    expect(await readingsAt(height)).to.deep.equal([3, 2]);
  });

  it("raise no alarm about a transfer from before its address was watched", async () => {
    await open();
    const newcomer = addressOf("newcomer");
    till.chain.mine([{ to: newcomer, amount: token(25) }]);
    await till.mine(13);
    const issuedAt = till.chain.block(till.chain.height()).time + second;
    till.invoices.ask({ address: newcomer, terms: { issuedAt } });
    await later(4 * minute);
    expect(await till.transfers()).to.have.length(1);
    expect(await till.storedAlarms()).to.deep.equal([]);
    expect(await audited()).to.deep.equal([]);
  });

  it("are repeated after a probe finds that the provider omits transfers", async () => {
    const [first] = await open({ nodes: 2 });
    if (first === undefined) throw new Error("there is no node");
    till.chain.mine([{ to: addressOf("somebody"), amount: token(7) }]);
    till.chain.mine([], 10);
    till.advance(11 * minute);
    await till.look();
    const { provenAt } = till.pool.health()[0] ?? {};
    expect(provenAt).to.be.a("number");
    await till.mine(20);
    const height = (await till.state()).cursorHeight;
    expect(await readingsAt(height)).to.deep.equal([1, 1]);
    first.view.hidesLogs = true;
    till.chain.mine([{ to: addressOf("somebody"), amount: token(7) }]);
    till.chain.mine([], 10);
    till.advance(11 * minute);
    await till.look();
    expect(till.pool.health()[0]?.condition).to.equal("silent_logs");
    await later(minute);
    const { readings } = await auditBlocks(till.app, "ethereum", {});
    const { provider } = till.pool.health()[0] ?? {};
    const own = readings.filter(({ providers }) => providers.includes(provider ?? ""));
    // Only the blocks that it read before its last good probe still count as read from it.
    expect(own.every(({ to }) => to < height)).to.equal(true);
    expect(readings.every(({ timesRead }) => timesRead > 0)).to.equal(true);
  });

  it("release no hold before all of them were made, nor after they were dropped", async () => {
    const [only] = await open();
    if (only === undefined) throw new Error("there is no node");
    only.view.hidesLogs = true;
    till.chain.mine([{ to: shop, amount: token(25) }]);
    await till.mine(13);
    expect(await till.transfers()).to.deep.equal([]);
    // The blocks were read once.
    const first = till.chain.block(50).time;
    expect(await till.watcher.finalTime()).to.equal(first);
    const probe = async () => {
      till.chain.mine([{ to: addressOf("somebody"), amount: token(7) }]);
      till.chain.mine([], 10);
      till.advance(11 * minute);
      await till.look();
    };
    await probe();
    expect(till.pool.health()[0]?.condition).to.equal("silent_logs");
    // Weeks later its index is repaired.
    till.advance(30 * 24 * hour);
    await till.mine(1);
    expect(await till.watcher.finalTime()).to.equal(first);
    only.view.hidesLogs = false;
    await probe();
    for (let looks = 0; looks < 3; looks += 1) await later(minute);
    expect(await till.transfers()).to.have.length(1);
    expect(await till.watcher.finalTime()).to.equal(first);
    await later(hour);
    expect(await till.watcher.finalTime()).to.be.greaterThan(first);
  });

  it("without new transfers conflict with no scan meanwhile if all of their blocks are final", async () => {
    await open();
    await till.mine(30);
    const [client] = till.pool.providers;
    if (client === undefined) throw new Error("there is no provider");
    const { cursorHeight } = await till.state();
    const readTo = (to: number) =>
      till.scanner.read(client, makeRangeSize(1_000), { from: to - 5, to });
    const readings = [await readTo(cursorHeight), await readTo(cursorHeight + 1)];
    await till.mine(2);
    const recorded: string[] = [];
    for (const reading of readings) {
      const record = till.scanner.record(testContext, reading, { guard: () => Promise.resolve() });
      recorded.push(await record.then(() => "recorded", String));
    }
    expect(recorded[0]).to.equal("recorded");
    expect(recorded[1]).to.match(/another process has scanned the network meanwhile/);
    expect(await readingsAt(cursorHeight)).to.deep.equal([2, 1]);
    expect(await readingsAt(cursorHeight + 1)).to.deep.equal([1, 1]);
  });

  it("enter more transfers than one transaction holds, and count once", async () => {
    const [only] = await open();
    const [client] = till.pool.providers;
    if (only === undefined || client === undefined) throw new Error("there is no provider");
    only.view.hidesLogs = true;
    const height = till.chain.height() + 1;
    till.chain.mine(Array.from({ length: 1_001 }, () => ({ to: shop, amount: token(0.02) })));
    await till.mine(13);
    only.view.hidesLogs = false;
    const range = { from: height, to: height };
    const reading = await till.scanner.read(client, makeRangeSize(1_000), range);
    const entered: number[] = [];
    await till.scanner.record(testContext, reading, {
      guard: () => Promise.resolve(),
      within: (_tx, logs) => Promise.resolve(void entered.push(logs.length)),
    });
    expect(entered).to.deep.equal([1_000, 1]);
    expect(await till.transfers()).to.have.length(1_001);
    expect(await readingsAt(height)).to.deep.equal([2, 1]);
  });

  it("show which blocks were read only once", async () => {
    await open();
    await till.mine(30);
    const { readings, cursorHeight, witnessedTo } = await auditBlocks(till.app, "ethereum", {});
    expect(readings.map(({ from, to, timesRead }) => [from, to, timesRead])).to.deep.equal([
      [51, cursorHeight, 1],
    ]);
    expect(witnessedTo).to.equal(null);
  });
});
