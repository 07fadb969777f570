// A network that is read from two nodes, one or both of which are behind, limited, broken or lying: no false
// payment is credited, no payment is lost, and alarms are raised.
import { expect } from "chai";
import {
  auditBlocks,
  listNetworkStatuses,
} from "../../../../src/features/payments/networks/chain.ts";
import { day, hour, minute, second } from "../../../../src/kernel/clock.ts";
import { addressOf } from "../../../support/chain/fake-chain.ts";
import { anyStore } from "../../../support/store/stores.ts";
import type { ProviderFault } from "../../../support/chain/rpc-front.ts";
import type { FakeNode } from "../../../support/chain/fake-node.ts";
import { blockMs, token, standInInvoices } from "../../../support/chain/asked-invoices.ts";
import { openPool, type PooledNetwork, type PooledOptions } from "../../../support/chain/world.ts";

const shop = addressOf("shop");
/** The timeout for a provider that does not answer, in milliseconds; enough for others on a machine that stalls. */
const silenceMs = 1_500;
/** Scans after which every transfer must be credited, also on a busy machine. */
const scansMax = 20;

anyStore("A network with several providers", (store) => {
  store.leavesUnsound(standInInvoices);

  let till: PooledNetwork;
  const opened: PooledNetwork[] = [];

  async function open(options: PooledOptions = {}): Promise<[FakeNode, FakeNode]> {
    till = await openPool(await store.open(), options);
    opened.push(till);
    till.invoices.ask({ address: shop });
    const [first, second = first] = till.nodes;
    if (first === undefined || second === undefined) throw new Error("there is no node");
    return [first, second];
  }
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.stop();
  });

  const pay = (amount = 25) => {
    till.chain.mine([{ to: shop, amount: token(amount) }]);
  };
  const condition = (place: number) => till.pool.health()[place]?.condition;
  const statuses = async () => (await till.payments()).map(({ status }) => status);
  /** Expects every transfer to be recorded once and confirmed in the end, and no block to be unread. */
  async function expectCredited(count = 1): Promise<void> {
    const credited = Array.from({ length: count }, () => "confirmed");
    const isCredited = async () => (await statuses()).join() === credited.join();
    // On a busy machine requests time out that no fault delays, and more scans are needed.
    for (let times = 0; times < 4 || (times < scansMax && !(await isCredited())); times += 1) {
      till.advance(3 * minute);
      await till.mine(9);
    }
    expect(await statuses()).to.deep.equal(credited);
    expect(await till.transfers()).to.have.length(count);
    const audit = await auditBlocks(till.app, "ethereum", {});
    expect(audit).to.deep.include({ gaps: [], seams: [], to: till.chain.height() });
  }

  describe("costs the providers", () => {
    it("two requests per idle scan, for one merchant or three hundred", async () => {
      const [first, second] = await open();
      const requestsOfLook = async () => {
        till.chain.mine();
        first.resetCounts();
        second.resetCounts();
        await till.look();
        return [first.counts().requests, second.counts().requests];
      };
      expect(await requestsOfLook()).to.deep.equal([2, 0]);
      for (let merchant = 0; merchant < 300; merchant += 1) {
        till.invoices.ask({ address: addressOf(`merchant ${String(merchant)}`) });
      }
      expect(await requestsOfLook()).to.deep.equal([2, 0]);
      for (let merchant = 300; merchant < 1_500; merchant += 1) {
        till.invoices.ask({ address: addressOf(`merchant ${String(merchant)}`) });
      }
      expect(await requestsOfLook()).to.deep.equal([2, 0]);
    });
  });

  // With sockets, because a connection is used again after a fault.
  describe("skips a provider that answers with", () => {
    const faults: readonly (readonly [string, ProviderFault])[] = [
      ["HTML", "html"],
      ["half a JSON", "truncated"],
      ["the wrong id", "wrong-id"],
      ["HTTP 200 and an error body", "overloaded"],
      ["429 and Retry-After", "rate-limited"],
      ["403", "forbidden"],
      ["503", "unavailable"],
      ["nothing, for longer than it is waited for", "hang"],
      ["a closed connection", "disconnect"],
    ];
    for (const [name, fault] of faults) {
      it(name, async () => {
        const [first] = await open({
          usesSockets: true,
          ...(fault === "hang" ? { timeoutMs: silenceMs } : {}),
        });
        first.fail(fault, Infinity);
        pay();
        await till.look();
        expect(await statuses()).to.deep.equal(["confirming"]);
        expect(condition(0)).to.equal("waiting");
        expect(till.pool.health()[0]?.lastError?.message).to.be.a("string");
        expect(till.pool.client.provider).to.equal(till.pool.providers[1]?.provider);
        first.heal();
        await expectCredited();
        expect(till.pool.health()[0]).to.include({ condition: "ok", isInUse: true });
      });
    }

    it("any of these if it is the only one: no payment is credited or lost, and an alarm is raised", async () => {
      const [first] = await open({ nodes: 1, usesSockets: true, timeoutMs: silenceMs });
      for (const [, fault] of faults) {
        first.fail(fault, Infinity);
        pay();
        const before = await till.state();
        await till.look();
        till.advance(minute);
        await till.look();
        expect(await till.state(), fault).to.deep.equal(before);
        expect(await till.storedAlarms(), fault).to.deep.equal(["network_not_read"]);
        first.heal();
        till.advance(minute);
        await till.look();
        expect(await till.storedAlarms(), fault).to.deep.equal([]);
      }
      await expectCredited(faults.length);
    });
  });

  it("skips one for as long as it asks, and longer after each failure", async () => {
    const [first] = await open();
    first.fail("rate-limited", 1);
    await till.mine(1);
    const waits: number[] = [];
    first.fail("unavailable", 6);
    for (let failure = 0; failure < 6; failure += 1) {
      till.advance(minute);
      const counted = first.counts().requests;
      await till.mine(1);
      expect(first.counts().requests).to.equal(counted + 1);
      const health = till.pool.health()[0];
      waits.push((health?.retryAt ?? 0) - (health?.lastError?.at ?? 0));
    }
    expect(waits).to.deep.equal([750, 1_500, 3_000, 6_000, 12_000, 22_500]);
    expect(till.pool.counts()[0]?.failures).to.deep.equal({ rate_limited: 1, unreachable: 6 });
  });

  it("reads smaller ranges if one refuses larger ones, and does not rank it lower for that", async () => {
    const [first] = await open();
    first.view.rangeMax = 7;
    for (let payment = 0; payment < 4; payment += 1) {
      pay();
      till.pass(30);
    }
    await till.look();
    expect(await till.payments()).to.have.length(4);
    expect(condition(0)).to.equal("ok");
    await expectCredited(4);
  });

  it("credits a transfer once that is listed ten times", async () => {
    const [first, second] = await open();
    first.view.repeats = 10;
    second.view.repeats = 10;
    pay();
    await till.look();
    await expectCredited();
  });

  it("does not use one of another chain, and names that chain", async () => {
    const [first] = await open();
    till.advance(day);
    first.view.chainId = 56;
    pay();
    await till.mine(1);
    expect(condition(0)).to.equal("wrong_chain");
    const [alarm] = (await listNetworkStatuses(till.app, { isLive: false }))[0]?.alarms ?? [];
    expect(alarm?.kind).to.equal("provider_wrong_chain");
    expect(alarm?.message).to.match(/serves chain 56, but Ethereum is chain 1\. Correct/);
    expect(await statuses()).to.deep.equal(["confirming"]);
    // A process that takes over knows no alarms, and ends the stored one with its cause.
    till.alarms.adopt([]);
    await till.takeOver();
    first.view.chainId = 1;
    await expectCredited();
    expect(await till.storedAlarms()).to.deep.equal([]);
    // The blocks are a day behind the clock, which ends with the first one that is not.
    expect(await till.isLagAlarmed()).to.equal(true);
    till.keepPace();
    await till.mine(1);
    expect(await till.isLagAlarmed()).to.equal(false);
  });

  it("never reads one of another chain, even if it is the only one", async () => {
    const [first] = await open({ nodes: 1 });
    till.advance(day);
    first.view.chainId = 56;
    pay();
    const before = await till.state();
    await till.mine(5);
    expect(await till.state()).to.deep.equal(before);
    expect(till.watcher.health().problem).to.match(/serves chain 56/);
  });

  it("asks another one if one is behind, and the first one again later", async () => {
    const [first] = await open();
    await till.mine(5);
    first.view.lag = 20;
    pay();
    await till.mine(2);
    expect((await till.state()).tipHeight).to.equal(till.chain.height());
    expect(condition(0)).to.equal("behind");
    expect(till.pool.health()[0]?.lagBlocks).to.equal(20);
    first.view.lag = 0;
    till.advance(minute);
    await till.mine(1);
    expect(till.pool.health()[0]).to.include({ condition: "ok", isInUse: true });
    await expectCredited();
  });

  it("reverts nothing while all are behind", async () => {
    const nodes = await open();
    pay();
    await till.mine(8);
    const before = await till.state();
    for (const node of nodes) node.view.lag = 6;
    await till.look();
    expect(await till.state()).to.deep.equal(before);
    for (const node of nodes) node.view.lag = 0;
    await expectCredited();
  });

  describe("of which one returns empty logs", () => {
    it("marks that one before it is read, by receipts of a final block", async () => {
      const [first] = await open();
      till.chain.mine([{ to: addressOf("somebody"), amount: token(7) }]);
      till.chain.mine([], 10);
      await till.look();
      first.view.hidesLogs = true;
      till.advance(11 * minute);
      pay();
      await till.look();
      expect(condition(0)).to.equal("silent_logs");
      expect(await till.storedAlarms()).to.deep.equal(["provider_silent_logs"]);
      expect(await statuses()).to.deep.equal(["confirming"]);
      await expectCredited();
    });

    it("marks that one when transfers vanish although it has their receipts", async () => {
      const [first] = await open();
      pay();
      await till.look();
      first.view.hidesLogs = true;
      await till.mine(1);
      expect(condition(0)).to.equal("silent_logs");
      await expectCredited();
      expect(await statuses()).to.deep.equal(["confirmed"]);
    });

    it("enters the transfers that it hid until they were final, once the second one shows them", async () => {
      const [first] = await open();
      first.view.withoutBlockReceipts = true;
      first.view.hidesLogs = true;
      pay();
      await till.mine(40);
      expect((await till.state()).cursorHeight).to.be.greaterThan(61);
      till.advance(2 * minute);
      await till.mine(1);
      expect(condition(0)).to.equal("silent_logs");
      expect(await till.payments()).to.have.length(1);
      await expectCredited();
    });

    it("uses that one again once its index works", async () => {
      const [first] = await open();
      till.chain.mine([{ to: addressOf("somebody"), amount: token(7) }]);
      till.chain.mine([], 10);
      first.view.hidesLogs = true;
      till.advance(11 * minute);
      await till.look();
      expect(condition(0)).to.equal("silent_logs");
      first.view.hidesLogs = false;
      till.advance(6 * minute);
      till.chain.mine([{ to: addressOf("somebody"), amount: token(7) }]);
      till.chain.mine([], 10);
      // The provider is probed while the other one is in use, and is preferred again at the next scan.
      await till.look();
      await till.look();
      expect(till.pool.health()[0]).to.include({ condition: "ok", isInUse: true });
      expect(await till.storedAlarms()).to.deep.equal([]);
    });

    for (const isTakenOver of [false, true]) {
      const by = isTakenOver ? ", by another process too" : "";
      it(`uses that one again once it lists what it hid, without receipts of blocks${by}`, async () => {
        const [first] = await open();
        first.view.withoutBlockReceipts = true;
        pay();
        await till.look();
        first.view.hidesLogs = true;
        await till.mine(1);
        expect(condition(0)).to.equal("silent_logs");
        if (isTakenOver) await till.takeOver();
        till.advance(6 * minute);
        await till.look();
        await till.look();
        expect(condition(0)).to.equal("silent_logs");
        first.view.hidesLogs = false;
        till.advance(6 * minute);
        await till.look();
        await till.look();
        expect(till.pool.health()[0]).to.include({ condition: "ok", isInUse: true });
        expect(await till.storedAlarms()).to.deep.equal([]);
      });
    }
  });

  describe("of which one is dead", () => {
    /** Pays, and mines the payment's three confirmations with a scan each. */
    async function payAndMine(): Promise<void> {
      pay();
      till.advance(blockMs);
      for (let blocks = 0; blocks < 3; blocks += 1) await till.mine(1);
    }

    it("delays payments by two minutes once, and not each of them", async () => {
      const [, second] = await open();
      await till.mine(1);
      second.fail("unavailable", Infinity);
      await payAndMine();
      expect(await statuses()).to.deep.equal(["confirming"]);
      till.advance(2 * minute);
      await till.mine(1);
      expect(await statuses()).to.deep.equal(["confirmed"]);
      await payAndMine();
      expect(await statuses()).to.deep.equal(["confirmed", "confirmed"]);
      second.heal();
      till.advance(minute);
      await payAndMine();
      second.fail("unavailable", Infinity);
      await payAndMine();
      expect(await statuses()).to.deep.equal([
        ...["confirmed", "confirmed", "confirmed", "confirming"],
      ]);
    });

    it("does not wait for one that was dead for long before the first payment", async () => {
      const [, second] = await open();
      second.fail("unavailable", Infinity);
      for (let minutes = 0; minutes < 4; minutes += 1) await till.mine(5);
      await till.takeOver();
      await payAndMine();
      expect(await statuses()).to.deep.equal(["confirmed"]);
    });

    it("waits again for one that was dead, recovered, and fails once more", async () => {
      const [, second] = await open();
      await till.mine(1);
      second.fail("unavailable", Infinity);
      await payAndMine();
      till.advance(2 * minute);
      await till.mine(1);
      expect(await statuses()).to.deep.equal(["confirmed"]);
      second.heal();
      // Without payments, the provider is asked for its tip only.
      for (let minutes = 0; minutes < 4; minutes += 1) await till.mine(5);
      second.fail("unavailable", Infinity);
      await payAndMine();
      expect(await statuses()).to.deep.equal(["confirmed", "confirming"]);
    });

    it("waits for one that fails once after Till was stopped", async () => {
      const [, second] = await open();
      await till.mine(1);
      till.pass(5 * 60);
      second.fail("unavailable", Infinity);
      await till.takeOver();
      await payAndMine();
      expect(await statuses()).to.deep.equal(["confirming"]);
      till.advance(2 * minute);
      await till.mine(1);
      expect(await statuses()).to.deep.equal(["confirmed"]);
    });

    it("waits two minutes, once, for one that reports its tip but has no receipts", async () => {
      const [, second] = await open();
      second.lie(({ method }, result) => {
        if (method === "eth_getTransactionReceipt") second.fail("unavailable", 1);
        return result;
      });
      for (let payments = 0; payments < 3; payments += 1) {
        await payAndMine();
        till.advance(minute);
        await till.mine(1);
      }
      till.advance(minute);
      await till.mine(1);
      expect(await statuses()).to.deep.equal(["confirmed", "confirmed", "confirmed"]);
    });
  });

  describe("that contradict each other", () => {
    it("holds a payment that only one has, with an alarm", async () => {
      const [first] = await open();
      first.view.lies.set(till.chain.height() + 1, { to: shop, amount: token(25) });
      await till.mine(30);
      till.advance(5 * minute);
      await till.mine(5);
      expect(await statuses()).to.deep.equal(["confirming"]);
      expect(await till.storedAlarms()).to.deep.equal(["payment_held"]);
      expect(till.watcher.health().heldPayments).to.equal(1);
    });

    it("raises an alarm about a transfer that the one in use denies, and enters nothing", async () => {
      const [, second] = await open();
      second.view.lies.set(till.chain.height() + 1, { to: shop, amount: token(25) });
      await till.mine(30);
      till.advance(2 * minute);
      await till.mine(5);
      expect(await till.transfers()).to.deep.equal([]);
      expect(await till.storedAlarms()).to.deep.equal(["providers_disagree"]);
    });

    it("waits without an alarm for one that is merely behind", async () => {
      const [, second] = await open();
      second.view.lag = 25;
      pay();
      await till.mine(20);
      expect(await statuses()).to.deep.equal(["confirming"]);
      expect(await till.storedAlarms()).to.deep.equal([]);
      second.view.lag = 0;
      await expectCredited();
    });
  });

  it("finds all of a thousand transfers, whatever faults its only provider has", async () => {
    const [node] = await open({ nodes: 1, usesSockets: true, timeoutMs: silenceMs });
    const faults: readonly ProviderFault[] = [
      ...(["rate-limited", "unavailable", "html", "truncated", "hang", "wrong-id"] as const),
    ];
    const shops = Array.from({ length: 10 }, (_, place) => addressOf(`shop ${String(place)}`));
    for (const address of shops) till.invoices.ask({ address });
    for (let round = 0; round < 20; round += 1) {
      for (let block = 0; block < 10; block += 1) {
        till.chain.mine(
          Array.from({ length: 5 }, () => ({ to: shops[block] ?? shop, amount: token(1) })),
        );
      }
      const fault = faults[round % faults.length];
      if (fault !== undefined) node.fail(fault, fault === "hang" ? 1 : 2);
      node.view.lag = round % 3 === 0 ? 15 : 0;
      await till.look();
      till.advance(minute);
    }
    node.heal();
    node.view.lag = 0;
    await expectCredited(1_000);
  });

  it("finds a payment among ten thousand transfers of dust within two scans", async () => {
    await open({ nodes: 1 });
    const dust = Array.from({ length: 5_000 }, () => ({ to: shop, amount: 1n }));
    till.chain.mine([...dust, { to: shop, amount: token(25) }, ...dust]);
    await till.look();
    await till.look();
    const paid = await till.payments();
    expect(paid.map(({ amount }) => amount)).to.deep.equal([token(25)]);
  });

  it("follows the blocks' time if the clock is two hours off, and waits while the clock is behind", async () => {
    await open();
    pay();
    await till.mine(1);
    till.advance(-2 * hour);
    pay();
    await till.look();
    expect(await till.transfers()).to.have.length(1);
    expect(await till.storedAlarms()).to.have.members([
      ...["network_not_read", "provider_wrong_time", "provider_wrong_time"],
    ]);
    till.advance(4 * hour);
    pay();
    await till.mine(20);
    await till.mine(1);
    expect(await till.storedAlarms()).to.deep.equal([]);
    expect(await till.isLagAlarmed()).to.equal(true);
    const times = (await till.transfers()).map(({ blockTime }) => blockTime);
    expect(times).to.deep.equal([61, 63, 64].map((height) => till.chain.block(height).time));
    await expectCredited(3);
  });

  it("stays within the daily limit, and continues at midnight UTC", async () => {
    await open({ nodes: 1, limits: { requestsPerSecond: 1_000, requestsPerDay: 40 } });
    for (let looks = 0; looks < 25; looks += 1) await till.mine(1);
    expect(till.budgets[0]?.spentToday().requests).to.equal(40);
    expect(till.watcher.health().problem).to.match(/today's 40 requests are used up/);
    till.advance(day);
    await till.mine(1);
    expect(till.watcher.health().problem).to.equal(null);
    expect((await till.state()).tipHeight).to.equal(till.chain.height());
  });

  it("stays within the limit per second", async () => {
    await open({
      nodes: 1,
      limits: { requestsPerSecond: 5, requestsPerDay: null },
      maxLogRange: 20,
    });
    till.pass(1_000);
    const before = till.budgets[0]?.spentToday().requests ?? 0;
    const begun = (await till.state()).scannedAt + 1_000 * blockMs;
    await till.look();
    const took = (await till.state()).scannedAt - begun;
    const asked = (till.budgets[0]?.spentToday().requests ?? 0) - before;
    expect(asked).to.be.greaterThan(50);
    expect(took / second).to.be.at.least(asked / 5 - 2);
  });

  it("shows the health of each, from the store or by probing", async () => {
    const [first] = await open();
    first.fail("unavailable", 1);
    await till.mine(1);
    const [stored] = await listNetworkStatuses(till.app, { isLive: false });
    expect(stored?.providers.map(({ condition: is, isInUse }) => [is, isInUse])).to.deep.equal([
      ["waiting", false],
      ["ok", true],
    ]);
    expect(stored?.providers[0]?.lastError?.kind).to.equal("unreachable");
    till.advance(minute);
    till.chain.mine([], 2);
    const [live] = await listNetworkStatuses(till.app, { isLive: true });
    expect(live?.providers.map(({ tipHeight }) => tipHeight)).to.deep.equal([63, 63]);
    expect(live?.headHeight).to.equal(63);
  });
});
