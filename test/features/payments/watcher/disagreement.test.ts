// Providers of one network that contradict each other, on purpose or by fault: reports of blocks that do not exist,
// alarms that end with their cause, and alarms that an operator acknowledges.
import { expect } from "chai";
import {
  acknowledgeAlarms,
  auditBlocks,
} from "../../../../src/features/payments/networks/chain.ts";
import {
  type TimedLog,
  type WindowDifference,
  keyInBlock,
} from "../../../../src/features/payments/ledger/chain-diff.ts";
import { rejectedPayment } from "../../../../src/features/payments/ledger/payment-rules.ts";
import { putOnChain, updatePayments } from "../../../../src/features/payments/ledger/store.ts";
import { judgeReading } from "../../../../src/features/payments/watcher/judgement.ts";
import type { RangeReading } from "../../../../src/features/payments/watcher/readings/rescanner.ts";
import { minute, second } from "../../../../src/kernel/clock.ts";
import type { ChainClient, Receipt, UnreadableLog } from "../../../../src/platform/chain/client.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import type { ProviderHealth } from "../../../../src/platform/chain/state/provider-health.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import type { FakeNode } from "../../../support/chain/fake-node.ts";
import { addressOf } from "../../../support/chain/fake-chain.ts";
import { refusal } from "../../../support/ledger.ts";
import { blockMs, token, standInInvoices } from "../../../support/chain/asked-invoices.ts";
import { openPool, type PooledNetwork } from "../../../support/chain/world.ts";

const shop = addressOf("shop");

eachStore("Providers that disagree", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound(standInInvoices);
  store.leavesUnsound({
    checks: ["payments.ledger"],
    because: "a test rejects a payment without its invoice",
  });

  let till: PooledNetwork;
  let first: FakeNode;
  let other: FakeNode;
  beforeEach(async () => {
    till = await openPool(await store.open());
    till.invoices.ask({ address: shop });
    const [one, two] = till.nodes;
    if (one === undefined || two === undefined) throw new Error("there are no two nodes");
    [first, other] = [one, two];
  });
  afterEach(() => till.stop());

  const pay = () => {
    till.chain.mine([{ to: shop, amount: token(25) }]);
    till.advance(blockMs);
  };
  const statuses = async () => (await till.payments()).map(({ status }) => status);
  const later = async (blocks = 5) => {
    till.advance(11 * minute - blocks * blockMs);
    await till.mine(blocks);
  };

  describe("on the height of the chain", () => {
    for (const isAllFinal of [false, true]) {
      const what = isAllFinal ? "final blocks that do not exist" : "blocks that do not exist";
      it(`lead to no reading from the one that reports ${what}`, async () => {
        first.view.ahead = 5_000;
        first.view.isAllFinal = isAllFinal;
        pay();
        await till.look();
        const { tipHeight, cursorHeight } = await till.state();
        expect(tipHeight).to.equal(till.chain.height());
        expect(cursorHeight).to.be.below(till.chain.height());
        expect(await statuses()).to.deep.equal(["confirming"]);
        expect(await till.storedAlarms()).to.deep.equal(["provider_too_far_ahead"]);
        expect(till.pool.health()[0]).to.include({ condition: "behind", isInUse: false });
        await till.mine(4);
        expect(await statuses()).to.deep.equal(["confirmed"]);
        Object.assign(first.view, { ahead: 0, isAllFinal: false });
        till.advance(6 * minute);
        await till.mine(1);
        expect(await till.storedAlarms()).to.deep.equal([]);
        expect(till.pool.health()[0]).to.include({ condition: "ok", isInUse: true });
      });
    }

    it("lead to no reading from the one that calls its newest block final", async () => {
      const ours = await openPool(await store.open(), { blocks: 200, finalityLag: 80 });
      const [liar] = ours.nodes;
      if (liar !== undefined) liar.view.isAllFinal = true;
      await ours.mine(1);
      expect(await ours.storedAlarms()).to.deep.equal(["provider_too_far_ahead"]);
      expect((await ours.state()).cursorHeight).to.equal(ours.chain.height() - 80);
      await ours.stop();
    });

    it("count as agreeing if one does not know the final block", async () => {
      const ours = await openPool(await store.open(), {
        blocks: 200,
        onNodes: ([, second]) => {
          if (second !== undefined) second.view.withoutFinal = true;
        },
      });
      for (let times = 0; times < 5; times += 1) await ours.mine(10);
      expect(await ours.storedAlarms()).to.deep.equal([]);
      expect(ours.pool.health()[0]).to.include({ condition: "ok", isInUse: true });
      await ours.stop();
    });

    it("never let a network start at blocks that do not exist", async () => {
      const fresh = await openPool(await store.open(), {
        onNodes: ([liar]) => {
          if (liar !== undefined) Object.assign(liar.view, { ahead: 5_000, isAllFinal: true });
        },
      });
      expect((await fresh.state()).tipHeight).to.equal(fresh.chain.height());
      await fresh.stop();
    });

    it("lose no payment to false final blocks that one reported while the other was away", async () => {
      const reported = 60;
      other.fail("unavailable", 1_000);
      Object.assign(first.view, { ahead: reported, isAllFinal: true });
      till.advance(minute);
      await till.look();
      const { cursorHeight } = await till.state();
      expect(cursorHeight).to.equal(till.chain.height() + reported);
      Object.assign(first.view, { ahead: 0, isAllFinal: false });
      other.heal();
      // The new blocks differ from those that were reported.
      till.chain.reorg(0);
      pay();
      const each = 10;
      const alarms = new Set<string>();
      while (till.chain.height() <= cursorHeight + 2 * each) {
        till.advance(2 * minute);
        await till.mine(each);
        for (const alarm of await till.storedAlarms()) alarms.add(alarm);
      }
      expect([...alarms].sort()).to.deep.equal(["final_block_changed", "network_not_read"]);
      expect(await till.storedAlarms()).to.deep.equal(["final_block_changed"]);
      expect(await statuses()).to.deep.equal(["confirmed"]);
      const audit = await auditBlocks(till.app, "ethereum", {});
      expect(audit).to.deep.include({ gaps: [], seams: [], to: till.chain.height() });
    });

    it("do not confirm a payment by a few blocks that only one has", async () => {
      first.view.ahead = 5;
      pay();
      await till.look();
      for (let looks = 0; looks < 5; looks += 1) await till.look();
      expect(await statuses()).to.deep.equal(["confirming"]);
      expect(await till.storedAlarms()).to.deep.equal([]);
      first.view.ahead = 0;
      till.advance(2 * minute);
      await till.mine(6);
      expect(await statuses()).to.deep.equal(["confirmed"]);
    });

    it("are read at the one that is ahead if the other's blocks are old", async () => {
      other.view.lag = 40;
      pay();
      await till.mine(30);
      expect((await till.state()).tipHeight).to.equal(till.chain.height());
      expect(till.pool.health()[0]).to.include({ condition: "ok", isInUse: true });
      expect(await till.storedAlarms()).to.deep.equal([]);
    });

    it("do not stall if one reports fewer blocks than were read", async () => {
      await till.mine(30);
      other.view.lag = 25;
      till.advance(-25 * blockMs);
      await till.mine(20);
      expect((await till.state()).tipHeight).to.equal(till.chain.height());
      expect(till.pool.health()[0]).to.include({ isInUse: true });
    });
  });

  describe("on a payment", () => {
    beforeEach(async () => {
      first.view.lies.set(till.chain.height() + 1, { to: shop, amount: token(25) });
      await till.mine(20);
      await later();
      expect(await till.storedAlarms()).to.deep.equal(["payment_held"]);
      expect(till.watcher.health().heldPayments).to.equal(1);
    });

    it("hold it for as long as they disagree", async () => {
      for (let times = 0; times < 3; times += 1) await later();
      expect(await statuses()).to.deep.equal(["confirming"]);
      expect(await till.storedAlarms()).to.deep.equal(["payment_held"]);
    });

    it("have their alarm cleared when the other one has it too", async () => {
      other.view.lies = first.view.lies;
      await later();
      expect(await statuses()).to.deep.equal(["confirmed"]);
      expect(await till.storedAlarms()).to.deep.equal([]);
      expect(till.watcher.health().heldPayments).to.equal(0);
    });

    it("have their alarm cleared when the merchant has decided", async () => {
      const [held] = await till.payments();
      if (held === undefined) throw new Error("there is no payment");
      await till.db.write(testContext, (tx) => updatePayments(tx, [rejectedPayment(held)]));
      await later();
      expect(await till.storedAlarms()).to.deep.equal([]);
      expect(till.watcher.health().heldPayments).to.equal(0);
    });
  });

  describe("on a payment that waits for the merchant", () => {
    const verification = async () => (await till.transfers())[0]?.verification;
    beforeEach(async () => {
      till.invoices.ask({ address: addressOf("canceled"), terms: { isCanceled: true } });
      const lie = { to: addressOf("canceled"), amount: token(25) };
      first.view.lies.set(till.chain.height() + 1, lie);
      await till.mine(20);
      await later();
      expect(await statuses()).to.deep.equal(["review"]);
      expect(await till.storedAlarms()).to.deep.equal(["transfer_held"]);
    });

    it("leave its transfer unverified for as long as they disagree", async () => {
      other.fail("unavailable", Infinity);
      for (let times = 0; times < 3; times += 1) await later();
      expect(await verification()).to.equal("open");
      expect(await till.storedAlarms()).to.include("transfer_held");
    });

    it("have it verified, in its block only, once the other one has it too", async () => {
      other.view.lies = first.view.lies;
      await later();
      expect(await verification()).to.equal("verified");
      expect(await till.storedAlarms()).to.deep.equal([]);
      const [transfer] = await till.transfers();
      if (transfer === undefined) throw new Error("there is no transfer");
      const row = { ...transfer, blockHash: "ab".repeat(32) };
      await till.db.write(testContext, (tx) => putOnChain(tx, [{ row, isMatched: false }]));
      await later();
      expect(await verification()).to.equal("open");
      expect(await till.storedAlarms()).to.deep.equal(["transfer_held"]);
    });

    it("have their alarm cleared when its transfer counts for an invoice as a whole", async () => {
      await till.db.write(testContext, (tx) =>
        tx.run("UPDATE transfers SET disposition = 'matched'"),
      );
      await later();
      expect(await till.storedAlarms()).to.deep.equal([]);
    });
  });

  it("are not waited for if the network has only one", async () => {
    const alone = await openPool(await store.open(), { nodes: 1 });
    try {
      alone.invoices.ask({ address: shop, terms: { isCanceled: true } });
      alone.chain.mine([{ to: shop, amount: token(25) }]);
      await alone.mine(5);
      expect(await alone.transfers()).to.have.length(1);
      expect((await alone.transfers())[0]).to.include({ verification: "open", isFinal: false });
      await alone.mine(10);
      expect((await alone.transfers())[0]).to.include({ verification: "verified", isFinal: true });
    } finally {
      await alone.stop();
    }
  });

  describe("on a transfer that only the second one has", () => {
    let block = 0;
    beforeEach(async () => {
      block = till.chain.height() + 1;
      other.view.lies.set(block, { to: shop, amount: token(25) });
      await till.mine(30);
      till.advance(2 * minute);
      await till.mine(5);
      expect(await till.storedAlarms()).to.deep.equal(["providers_disagree"]);
    });

    it("raise an alarm until the second one no longer has it", async () => {
      await later();
      expect(await till.storedAlarms()).to.deep.equal(["providers_disagree"]);
      other.view.lies.clear();
      await later();
      expect(await till.storedAlarms()).to.deep.equal([]);
      expect(await till.transfers()).to.deep.equal([]);
    });

    it("have it entered when the first one has it too", async () => {
      first.view.lies = other.view.lies;
      await later();
      expect(await till.storedAlarms()).to.deep.equal(["transfer_left_out"]);
      expect(await till.transfers()).to.have.length(1);
      await later();
      expect(await statuses()).to.deep.equal(["confirmed"]);
    });

    it("raise an alarm until an operator acknowledges it, and not again", async () => {
      const acknowledge = (subject: string | null) =>
        acknowledgeAlarms(till.app, testContext, "ethereum", subject);
      const unknown = await refusal(acknowledge("nothing"));
      expect(unknown.code).to.equal("alarm_not_acknowledged");
      expect(unknown.message).to.include("No such alarm is open");
      const { ended } = await acknowledge("1e".repeat(32));
      expect(ended.map(({ kind }) => kind)).to.deep.equal(["providers_disagree"]);
      till.advance(20 * second);
      for (let times = 0; times < 2; times += 1) await later();
      expect(await till.storedAlarms()).to.deep.equal([]);
      const others = till.alarms.open().filter(({ kind }) => kind !== "chain_time_lags");
      expect(others).to.deep.equal([]);
      expect((await refusal(acknowledge(null))).code).to.equal("alarm_not_acknowledged");
      const logged = await till.db.all(
        "SELECT target_id AS id FROM audit_logs WHERE action = 'chain.alarm_acknowledged'",
      );
      expect(logged).to.deep.equal([{ id: "ethereum" }]);
    });
  });

  it("on very many transfers raise one alarm, which ends when they agree", async () => {
    for (let count = 1; count <= 60; count += 1) {
      const transactionHash = count.toString(16).padStart(64, "e");
      const at = till.chain.height() + count;
      other.view.lies.set(at, { to: shop, amount: token(25), transactionHash });
    }
    await till.mine(80);
    till.advance(2 * minute);
    await till.mine(5);
    const alarms = till.alarms.open();
    expect(alarms).to.have.length(51);
    const atOnce = alarms.filter(({ subject }) => subject.startsWith("blocks "));
    expect(atOnce.map(({ message }) => message)).to.match(/has 60 transfers to us in blocks/);
    other.view.lies.clear();
    for (let times = 0; times < 4; times += 1) await later();
    expect(await till.storedAlarms()).to.deep.equal([]);
  });

  it("does not let an operator acknowledge an alarm that ends with its cause", async () => {
    till.alarms.raise("token_disabled", "USDT", "is off");
    await till.mine(1);
    const problem = await refusal(acknowledgeAlarms(till.app, testContext, "ethereum", null));
    expect(problem.message).to.include("end when their cause does");
  });

  it("clears alarms about providers and tokens that are no longer configured", async () => {
    till.alarms.raise("provider_silent_logs", "https://gone.example", "leaves transfers out");
    till.alarms.raise("token_disabled", "GONE", "is off");
    await till.mine(1);
    expect(await till.storedAlarms()).to.have.length(2);
    await till.takeOver();
    await till.mine(2);
    expect(await till.storedAlarms()).to.deep.equal([]);
  });
});

describe("The judge of a reading", () => {
  const log = (place: number): TimedLog => ({
    transactionHash: `tx${String(place)}`,
    logIndex: 3,
    ordinal: 0,
    blockHeight: 100 + place,
    blockHash: `b${String(place)}`,
    blockTime: 1,
    contract: "usdt",
    from: "payer",
    to: "shop",
    amount: 25n,
    isTimeAgreed: true,
  });
  const nothing = { fresh: [], moved: [], orphaned: [], contradicting: [] };
  const [one, two, three] = [log(1), log(2), log(3)];
  const moved = [{ transfer: {} as never, log: three }];
  const both: WindowDifference<TimedLog> = { ...nothing, fresh: [one, two], moved };
  const receiptOf = ({ blockHash, ...rest }: TimedLog) =>
    ({
      blockHash,
      transfers: [
        { ...rest, amount: 1_000n },
        { ...rest, logIndex: 2 },
      ],
    }) as unknown as Receipt;

  /** Judges a reading of one provider, of which the other one lists some transfers, and has some receipts. */
  async function judge(
    difference: WindowDifference<TimedLog>,
    listed: Partial<WindowDifference<TimedLog>> | null,
    receipts: Readonly<Record<string, Receipt>> = {},
    inUse = "http://other",
    unreadable: readonly UnreadableLog[] = [],
  ) {
    const alarms = createAlarms({ clock: { now: () => 1 }, logger: silentLogger });
    for (const { transactionHash } of [one, two, three]) {
      alarms.raise("providers_disagree", transactionHash, "before");
    }
    const asked: unknown[] = [];
    const distrusted: unknown[] = [];
    const judging: Parameters<typeof judgeReading>[0] = {
      alarms,
      pool: {
        distrust: (_reason, omitted) => distrusted.push(omitted),
        health: () =>
          ["http://one", "http://other"].map(
            (provider) => ({ provider, isInUse: provider === inUse }) as ProviderHealth,
          ),
      },
      scanner: {
        network: { id: "ethereum", maxLogRange: 1_000 } as never,
        read(_client, _size, range) {
          asked.push(range);
          const again = { difference: { ...nothing, ...listed }, unreadable };
          return Promise.resolve(again as unknown as RangeReading);
        },
      },
    };
    const client = {
      provider: "http://other",
      receipt: (hash: string) => Promise.resolve(receipts[hash] ?? null),
    } as Partial<ChainClient> as ChainClient;
    const reading = { from: 100, to: 900, provider: "http://one", difference } as RangeReading;
    const judged = await judgeReading(judging, reading, listed === null ? null : client);
    const open = alarms.open().map(({ subject, message }) => [subject, message !== "before"]);
    const proven = [...judged.provenLeftOut];
    return { ...judged.difference, proven, denied: [...judged.denied], open, asked, distrusted };
  }
  const before = ["tx1", "tx2", "tx3"].map((subject) => [subject, false]);

  it("believes a reading without another provider, and one without transfers that are not on record", async () => {
    const quiet = { proven: [], denied: [], open: before, asked: [], distrusted: [] };
    expect(await judge(both, null)).to.deep.equal({ ...both, ...quiet });
    expect(await judge(nothing, {})).to.deep.equal({ ...nothing, ...quiet });
  });

  it("asks another provider for the blocks of these transfers, and keeps those that it lists too", async () => {
    const judged = await judge(both, { fresh: [two], moved });
    expect(judged.asked).to.deep.equal([{ from: 101, to: 103 }]);
    expect(judged).to.deep.include({ fresh: [two], moved, denied: ["tx1"], proven: [] });
    expect(judged.open).to.deep.equal([["tx1", true], ...before.slice(1)]);
    const others = await judge(both, { fresh: [one, { ...two, blockHash: "b9" }] });
    expect(others).to.deep.include({ fresh: [one], moved: [], denied: ["tx2", "tx3"] });
    const another = await judge(both, { fresh: [{ ...one, ordinal: 1 }, two, three] });
    expect(another).to.deep.include({ fresh: [two], moved, denied: ["tx1"] });
    const counted = await judge(both, { fresh: [{ ...one, logIndex: 4 }, two, three] });
    expect(counted).to.deep.include({ ...both, denied: [] });
  });

  it("keeps those that the other one may list in logs that cannot be read", async () => {
    const of = (transactionHash: string | null, blockHeight: number | null) => [
      { transactionHash, blockHeight, reason: "odd" },
    ];
    for (const [unreadable, denied] of [
      [of("tx1", 101), ["tx2", "tx3"]],
      [of(null, 102), ["tx1", "tx3"]],
      [of(null, null), []],
      [of("tx9", 101), ["tx1", "tx2", "tx3"]],
    ] as const) {
      const judged = await judge(both, {}, {}, "http://other", unreadable);
      expect(judged.denied).to.deep.equal(denied);
    }
  });

  it("keeps those of which the other one has the receipt, and distrusts that one if it is in use", async () => {
    const receipts = { tx1: receiptOf(one), tx3: receiptOf(three) };
    const judged = await judge(both, { fresh: [two] }, receipts);
    expect(judged).to.deep.include({ ...both, denied: [], open: [["tx2", false]] });
    expect(judged.proven).to.deep.equal([one, three].map(keyInBlock));
    expect(judged.distrusted).to.deep.equal([
      { transactionHash: "tx1", to: "shop" },
      { transactionHash: "tx3", to: "shop" },
    ]);
    expect((await judge(both, {}, receipts, "http://one")).distrusted).to.deep.equal([]);
    const wrong = [{ blockHash: "b9" }, { ordinal: 9 }, { contract: "x" }, { to: "x" }];
    for (const change of [...wrong, { amount: 1n }]) {
      const wrongly = { tx1: receiptOf({ ...one, ...change }) };
      const { denied } = await judge(both, { fresh: [two], moved }, wrongly);
      expect(denied, JSON.stringify(Object.keys(change))).to.deep.equal(["tx1"]);
    }
  });

  it("judges fifty missing transfers one by one, and raises one alarm if there are more", async () => {
    const many = (count: number) => Array.from({ length: count }, (_, place) => log(place + 10));
    const fifty = await judge({ ...nothing, fresh: many(50) }, {});
    expect(fifty.open).to.have.length(53);
    expect(fifty.open.filter(([subject]) => subject === "blocks 100 to 900")).to.deep.equal([]);
    const more = await judge({ ...nothing, fresh: many(51) }, {});
    expect(more.open).to.have.length(54);
    expect(more.open.at(-1)).to.deep.equal(["blocks 100 to 900", true]);
    expect(more.fresh).to.deep.equal([]);
    expect(more.denied).to.have.length(51);
  });
});
