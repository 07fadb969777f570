// Ranges of blocks that no provider reads any more: newer blocks are read, the range stays on record, and a provider that
// has it again, or an operator, ends it.
import { expect } from "chai";
import {
  acceptGap,
  auditBlocks,
  scanBlocks,
} from "../../../../src/features/payments/networks/chain.ts";
import { day, hour, minute } from "../../../../src/kernel/clock.ts";
import { gapsOf } from "../../../../src/platform/chain/state/reading-ranges.ts";
import { refusal } from "../../../support/ledger.ts";
import type { FakeNode } from "../../../support/chain/fake-node.ts";
import type { Lie } from "../../../support/chain/rpc-front.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { blockMs, standInInvoices, token } from "../../../support/chain/asked-invoices.ts";
import { openPool, type PooledNetwork, type PooledOptions } from "../../../support/chain/world.ts";
import { addressOf } from "../../../support/chain/fake-chain.ts";

const shop = addressOf("shop");
const words = "pruned history unavailable";
const transactionHash = "7".repeat(64);

eachStore("A range that no provider reads any more", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound(standInInvoices);

  let till: PooledNetwork;
  afterEach(() => till.stop());

  /** Reads 60 blocks, and lets 2,000 more pass while Till is down, the 1,000th with a payment. */
  async function open(options: PooledOptions = {}): Promise<void> {
    till = await openPool(await store.open(), options);
    till.invoices.ask({ address: shop });
    await till.mine(1);
    till.pass(938);
    till.chain.mine([{ to: shop, amount: token(25) }]);
    till.pass(1_001);
  }

  /** Makes nodes, by default all, refuse a range. */
  function prune(from: number, to: number, nodes = till.nodes): void {
    for (const { view } of nodes) view.pruned = [{ from, to, words }];
  }

  /** Lets time pass with a few blocks, as the server reads the network: a long time by the minute. */
  async function wait(milliseconds: number): Promise<void> {
    const blocks = milliseconds > 10 * minute ? 5 : 2;
    const steps = Math.ceil(milliseconds / (blocks * blockMs));
    for (let step = 0; step < steps; step += 1) await till.mine(blocks);
  }

  /** Lets time pass and asks again after long waits, without reading in between. */
  async function waitLong(milliseconds: number): Promise<void> {
    till.advance(milliseconds);
    await wait(2 * minute);
  }

  const gaps = async () =>
    (await gapsOf(till.db, till.network.id)).map(
      ({ fromHeight, toHeight, acceptedAt, refusals }) => ({
        from: fromHeight,
        to: toHeight,
        isAccepted: acceptedAt !== null,
        refusedBy: refusals.length,
      }),
    );
  const accept = (from: number, to: number, reason = "Pruned everywhere") =>
    acceptGap(till.app, testContext, "ethereum", { from, to }, reason);
  const codeOf = async (work: Promise<unknown>) => (await refusal(work)).code;
  const audited = async () => (await auditBlocks(till.app, "ethereum", {})).gaps;
  const openAlarm = () => till.alarms.open().find(({ kind }) => kind === "blocks_refused");

  it("does not stop the reading of newer blocks, and stays on record with an alarm that names the command", async () => {
    await open();
    prune(0, 1_500);
    await wait(5 * minute);
    expect((await till.state()).tipHeight).to.equal(till.chain.height());
    // The last readings of blocks 51 to 61 are refused too.
    expect(await gaps()).to.deep.equal([{ from: 51, to: 1_500, isAccepted: false, refusedBy: 2 }]);
    expect(await audited()).to.deep.equal([{ from: 62, to: 1_500 }]);
    await wait(minute);
    expect(await till.storedAlarms()).to.deep.equal(["blocks_refused"]);
    expect(openAlarm()?.message).to.include(words);
    expect(openAlarm()?.message).to.include(
      "till chain accept-gap --network ethereum --from 51 --to 1500 --reason",
    );
    // A new payment is seen, and the one in the gap is not.
    till.chain.mine([{ to: shop, amount: token(3) }]);
    await wait(5 * minute);
    expect((await till.transfers()).map(({ amount }) => amount)).to.deep.equal([token(3)]);
    expect((await till.payments()).map(({ status }) => status)).to.deep.equal(["confirmed"]);
    await waitLong(2 * hour);
    expect(openAlarm()?.subject).to.equal("blocks 51 to 1500");
    // Invoices keep what they hold: the payment in the gap may still be found.
    expect(await till.watcher.finalTime()).to.be.at.most(till.chain.block(50).time);
  });

  it("is read once a provider has it again, with its payments, and the alarm ends", async () => {
    await open();
    prune(0, 1_500);
    await wait(5 * minute);
    expect(await till.transfers()).to.deep.equal([]);
    for (const { view } of till.nodes.slice(1)) view.pruned = [];
    await waitLong(hour);
    await wait(30 * minute);
    expect((await till.transfers()).map(({ amount }) => amount)).to.deep.equal([token(25)]);
    expect(await gaps()).to.deep.equal([]);
    expect(await audited()).to.deep.equal([]);
    expect(openAlarm()).to.equal(undefined);
  });

  /** A payment is seen in block 61, which is replaced while Till is down, and is in a pruned range when Till is back. */
  async function replaceUnread(isKept: boolean): Promise<void> {
    till = await openPool(await store.open());
    till.invoices.ask({ address: shop });
    const paid = { to: shop, amount: token(25), transactionHash };
    till.chain.mine([paid]);
    await till.mine(0);
    expect(await placed()).to.deep.equal([["seen", 61, false]]);
    till.chain.reorg(4);
    if (isKept) till.chain.place(59, [paid]);
    till.pass(1_000);
    prune(0, 500);
    await wait(5 * minute);
    expect(await gaps()).to.have.length(1);
    expect((await till.state()).cursorHeight).to.be.above(500);
    expect(await placed()).to.deep.equal([["seen", 61, false]]);
  }

  const placed = async () =>
    (await till.transfers()).map(({ status, blockHeight, isFinal }) => [
      status,
      blockHeight,
      isFinal,
    ]);

  it("makes no transfer final, and moves it once a provider has the range again", async () => {
    await replaceUnread(true);
    for (const { view } of till.nodes) view.pruned = [];
    await waitLong(hour);
    await wait(30 * minute);
    expect(await placed()).to.deep.equal([["seen", 59, true]]);
    expect((await till.payments()).map(({ status }) => status)).to.deep.equal(["confirmed"]);
  });

  it("reverts a payment whose block was replaced without it, once a provider has the range again", async () => {
    await replaceUnread(false);
    for (const { view } of till.nodes) view.pruned = [];
    await waitLong(hour);
    await wait(30 * minute);
    expect(await placed()).to.deep.equal([["orphaned", 61, false]]);
    expect((await till.payments()).map(({ status }) => status)).to.deep.equal(["reverted"]);
  });

  /** A payment is seen in block 61 and stays there, but the newest block above it is replaced while Till is down. */
  async function passOver(nodes = 2): Promise<void> {
    till = await openPool(await store.open(), { nodes });
    till.invoices.ask({ address: shop });
    till.chain.mine([{ to: shop, amount: token(25), transactionHash }]);
    await till.mine(2);
    expect(await placed()).to.deep.equal([["seen", 61, false]]);
    till.chain.reorg(1);
    till.pass(1_000);
    prune(0, 500);
    await wait(5 * minute);
    expect(await gaps()).to.have.length(1);
    expect(await placed()).to.deep.equal([["seen", 61, false]]);
  }

  /** Returns what the payment's changes were, in the order of their names. */
  const changes = async () =>
    (
      await till.db.all<{ action: string }>(
        "SELECT action FROM audit_logs WHERE action LIKE 'payment.%' ORDER BY action",
      )
    ).map(({ action }) => action);

  /** Tells another hash of block 61 than the chain has. */
  const forged: Lie = ({ method, params: [asked] }, result) =>
    method === "eth_getBlockByNumber" && Number(asked) === 61
      ? { ...(result as object), hash: `0x${"66".repeat(32)}` }
      : result;

  it.onBoth(
    "reverts no payment that a provider has whose headers of its block contradict its logs",
    async () => {
      await passOver(1);
      for (const node of till.nodes) node.lie(forged);
      prune(0, 0);
      await waitLong(hour);
      await wait(30 * minute);
      expect(await placed()).to.deep.equal([["seen", 61, true]]);
      expect(await changes()).to.deep.equal(["payment.confirmed", "payment.detected"]);
    },
  );

  /** Lists the payment in block 59 instead of block 61. */
  const relocated: Lie = ({ method }, result) => {
    if (method !== "eth_getLogs") return result;
    const blockHash = `0x${till.chain.block(59).hash}`;
    return (result as { transactionHash: string }[]).map((log) =>
      log.transactionHash === `0x${transactionHash}`
        ? { ...log, blockHash, blockNumber: "0x3b", blockTimestamp: undefined }
        : log,
    );
  };

  /** Lets one of two nodes tell a lie about the payment, while the other one still refuses the range. */
  async function lieAlone(lie: Lie, hidden: readonly string[] = []): Promise<FakeNode> {
    await passOver();
    const [liar] = till.nodes;
    if (liar === undefined) throw new Error("no node");
    liar.lie(lie);
    liar.view.hidden = new Set(hidden);
    prune(0, 0, [liar]);
    await waitLong(hour);
    await wait(30 * minute);
    return liar;
  }

  it.onBoth(
    "reverts no payment for one provider, while another one that refuses the range has its block",
    async () => {
      const liar = await lieAlone(forged, [transactionHash]);
      expect(await placed()).to.deep.equal([["seen", 61, false]]);
      expect(await gaps()).to.have.length(1);
      // An operator who reads the block again does not change that.
      const scanned = scanBlocks(till.app, testContext, "ethereum", { from: 51, to: 61 });
      expect(await codeOf(scanned)).to.equal("scan_interrupted");
      expect(await placed()).to.deep.equal([["seen", 61, false]]);
      // Once both have the range, it is read.
      liar.lie(null);
      liar.view.hidden = new Set();
      prune(0, 0);
      await waitLong(hour);
      await wait(30 * minute);
      expect(await placed()).to.deep.equal([["seen", 61, true]]);
      // Nor does a final transfer leave its block for one provider.
      liar.lie((call, result) => relocated(call, forged(call, result)));
      const rescanned = scanBlocks(till.app, testContext, "ethereum", { from: 51, to: 61 });
      expect(await codeOf(rescanned)).to.equal("scan_interrupted");
      expect(await placed()).to.deep.equal([["seen", 61, true]]);
      expect(await changes()).to.deep.equal(["payment.confirmed", "payment.detected"]);
    },
  );

  it.onBoth(
    "moves no payment to another block for one provider, while another one that refuses the range has its block",
    async () => {
      await lieAlone(relocated);
      expect((await placed()).map(([status, height]) => [status, height])).to.deep.equal([
        ["seen", 61],
      ]);
      expect(await changes()).to.deep.equal(["payment.confirmed", "payment.detected"]);
    },
  );

  it.onBoth(
    "counts no transfer twice that a transaction has no more in its new block, while its former block is refused",
    async () => {
      await replaceUnread(false);
      till.chain.place(59, [{ to: shop, amount: token(24), transactionHash }]);
      prune(60, 500);
      await waitLong(hour);
      await wait(30 * minute);
      expect((await gaps()).map(({ from }) => from)).to.deep.equal([60]);
      expect(await placed()).to.deep.equal([
        ["orphaned", 61, false],
        ["seen", 59, true],
      ]);
    },
  );

  it("may lie between blocks that are read, and no readable block is left out", async () => {
    await open();
    prune(700, 1_200);
    await wait(5 * minute);
    expect(await gaps()).to.deep.equal([{ from: 700, to: 1_200, isAccepted: false, refusedBy: 2 }]);
    expect(await audited()).to.deep.equal([{ from: 700, to: 1_200 }]);
    expect((await till.state()).tipHeight).to.equal(till.chain.height());
  });

  it("is passed over too if providers have pruned the blocks with their logs", async () => {
    await open();
    prune(0, 1_500);
    for (const { view } of till.nodes) view.prunesBlocks = true;
    await wait(5 * minute);
    expect(await gaps()).to.deep.equal([{ from: 51, to: 1_500, isAccepted: false, refusedBy: 2 }]);
    expect((await till.state()).tipHeight).to.equal(till.chain.height());
    // The blocks above the last final one were read once, but may have been replaced since.
    expect(await audited()).to.deep.equal([{ from: 52, to: 1_500 }]);
  });

  it("is none if one provider still reads it", async () => {
    await open();
    prune(0, 1_500, till.nodes.slice(0, 1));
    await wait(10 * minute);
    expect((await till.state()).tipHeight).to.equal(till.chain.height());
    expect(await till.payments()).to.have.length(1);
    expect(await audited()).to.deep.equal([]);
    expect(openAlarm()).to.equal(undefined);
  });

  for (const said of [
    "History has been pruned for this block",
    "block range is not available on this node",
    "header not found",
    "missing trie node 0xab (path )",
    "query timeout exceeded",
    "specified block too old",
    "",
  ]) {
    it(`is recognized if the provider refuses it with '${said}'`, async () => {
      await open({ nodes: 1 });
      for (const { view } of till.nodes) view.pruned = [{ from: 0, to: 1_500, words: said }];
      await wait(6 * minute);
      const found = await gaps();
      expect(found.map(({ from, to }) => [from, to])).to.deep.equal([[51, 1_500]]);
      expect((await till.state()).tipHeight).to.equal(till.chain.height());
    });
  }

  it("is given up by an operator once every provider refused it for long, with an audit entry", async () => {
    await open();
    prune(0, 1_500);
    await wait(5 * minute);
    expect(await codeOf(accept(51, 1_500))).to.equal("gap_not_accepted");
    await waitLong(hour);
    await waitLong(hour);
    const dry = { ...testContext, finish: () => Promise.reject(new Error("tried out")) };
    const trial = acceptGap(till.app, dry, "ethereum", { from: 51, to: 1_500 }, "r");
    expect(await trial.catch((error: unknown) => String(error))).to.include("tried out");
    expect((await gaps())[0]).to.include({ isAccepted: false });
    await accept(51, 1_000);
    // The rest keeps holds from the newest block below it whose hash is known.
    expect(await till.watcher.finalTime()).to.be.within(
      till.chain.block(50).time,
      till.chain.block(61).time,
    );
    expect((await gaps()).map(({ from, to, isAccepted }) => [from, to, isAccepted])).to.deep.equal([
      [51, 1_000, true],
      [1_001, 1_500, false],
    ]);
    expect(await audited()).to.deep.equal([{ from: 1_001, to: 1_500 }]);
    await wait(minute);
    expect(openAlarm()?.subject).to.equal("blocks 1001 to 1500");
    await accept(1_001, 1_500);
    await wait(minute);
    expect(openAlarm()).to.equal(undefined);
    expect(await audited()).to.deep.equal([]);
    const entries = await till.db.all<{ changes: string }>(
      "SELECT changes FROM audit_logs WHERE action = 'chain.gap_accepted' ORDER BY id",
    );
    expect(entries).to.have.length(2);
    expect(JSON.stringify(entries[0]?.changes)).to.include("Pruned everywhere");
    // The holds of the network end again.
    await waitLong(3 * hour);
    await waitLong(3 * hour);
    expect(await till.watcher.finalTime()).to.be.above(till.chain.block(1_500).time);
    // Nothing of it is asked for again.
    const before = await gaps();
    await waitLong(day);
    expect(await gaps()).to.deep.equal(before);
  });

  it("is not given up while a provider has not refused it, outside of it, in one command too large, or unknown", async () => {
    await open();
    prune(0, 1_500);
    const [, another] = till.nodes;
    another?.fail("unavailable", Infinity);
    expect(await codeOf(accept(51, 1_500))).to.equal("gap_not_accepted");
    await wait(5 * minute);
    await waitLong(hour);
    await waitLong(hour);
    // The other provider may have the range.
    expect(await gaps()).to.deep.equal([{ from: 51, to: 1_500, isAccepted: false, refusedBy: 1 }]);
    expect(await codeOf(accept(51, 1_500))).to.equal("gap_not_accepted");
    another?.heal();
    await waitLong(hour);
    await waitLong(hour);
    expect((await gaps())[0]).to.include({ refusedBy: 2 });
    expect(await codeOf(accept(50, 1_500))).to.equal("gap_not_accepted");
    expect(await codeOf(accept(51, 1_501))).to.equal("gap_not_accepted");
    expect(await codeOf(accept(1_500, 62))).to.equal("gap_not_accepted");
    expect(await codeOf(accept(51, till.chain.height()))).to.equal("gap_not_accepted");
    expect(await codeOf(accept(0, 5_000_000))).to.equal("gap_not_accepted");
    const other = acceptGap(till.app, testContext, "tron", { from: 51, to: 1_500 }, "r");
    expect(await codeOf(other)).to.equal("not_found");
    expect((await gaps())[0]).to.include({ isAccepted: false });
  });

  it("is read from a provider that lacks only its upper part, and is not given up with the rest", async () => {
    await open();
    const [first, second] = till.nodes;
    prune(0, 1_500);
    second?.fail("unavailable", Infinity);
    await wait(5 * minute);
    expect(await gaps()).to.deep.equal([{ from: 51, to: 1_500, isAccepted: false, refusedBy: 1 }]);
    // The payment is in block 1,000.
    prune(1_001, 1_500, till.nodes.slice(1));
    second?.heal();
    await waitLong(hour);
    await wait(25 * minute);
    expect(first?.view.pruned).to.have.length(1);
    expect(await gaps()).to.deep.equal([
      { from: 1_001, to: 1_500, isAccepted: false, refusedBy: 2 },
    ]);
    expect((await till.transfers()).map(({ amount }) => amount)).to.deep.equal([token(25)]);
  });

  it("is not given up if a provider reads one of its ends or its middle now, or does not answer, and is read then", async () => {
    await open();
    prune(0, 1_500);
    await wait(5 * minute);
    await waitLong(hour);
    await waitLong(hour);
    const [, second] = till.nodes;
    second?.fail("unavailable", Infinity);
    expect(await codeOf(accept(51, 1_500))).to.equal("gap_not_accepted");
    second?.heal();
    await wait(3 * minute);
    for (const [from, to] of [
      [52, 1_500],
      [0, 1_499],
    ] as const) {
      prune(from, to, till.nodes.slice(1));
      expect((await refusal(accept(51, 1_500))).message).to.include("reads block");
    }
    // The lower half is back, and the upper end is not.
    prune(1_001, 1_500, till.nodes.slice(1));
    expect((await refusal(accept(51, 1_500))).message).to.include("reads block 775 now");
    expect((await gaps())[0]).to.include({ isAccepted: false });
    await waitLong(6 * hour);
    await wait(20 * minute);
    await waitLong(hour);
    expect((await till.transfers()).map(({ amount }) => amount)).to.deep.equal([token(25)]);
    expect((await gaps()).map(({ from, to }) => [from, to])).to.deep.equal([[1_001, 1_500]]);
  });

  it.onBoth("is given up once, however many operators do so at a time", async () => {
    await open();
    prune(0, 1_500);
    await wait(5 * minute);
    await waitLong(hour);
    await waitLong(hour);
    const outcomes = await Promise.all(
      Array.from({ length: 64 }, () => codeOf(accept(51, 1_500)).catch(() => "accepted")),
    );
    expect(outcomes.filter((code) => code !== "gap_not_accepted")).to.have.length(1);
    const [{ count } = { count: 0 }] = await till.db.all<{ count: number }>(
      "SELECT count(*) AS count FROM audit_logs WHERE action = 'chain.gap_accepted'",
    );
    expect(count).to.equal(1);
  });
});
