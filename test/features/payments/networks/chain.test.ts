import { expect } from "chai";
import { enabledNetworks } from "../../../support/merchants.ts";
import { appOf } from "../../../support/context.ts";
import {
  auditBlocks,
  listNetworkStatuses,
  scanBlocks,
} from "../../../../src/features/payments/networks/chain.ts";
import { providerMetrics } from "../../../../src/features/payments/networks/metrics.ts";
import { watchWorkerName } from "../../../../src/features/payments/wake.ts";
import { minute, second } from "../../../../src/kernel/clock.ts";
import type { Alarm, AlarmKind } from "../../../../src/platform/chain/state/alarms.ts";
import { createState } from "../../../../src/platform/chain/state/network-state.ts";
import {
  storedProviders,
  writeAlarms,
  writeProviders,
  type ProviderHealth,
} from "../../../../src/platform/chain/state/provider-health.ts";
import { readingTable } from "../../../../src/platform/chain/state/readings.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { refusal, stateOf } from "../../../support/ledger.ts";
import { anyStore, eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { token, standInInvoices } from "../../../support/chain/asked-invoices.ts";
import { openPool, type PooledNetwork } from "../../../support/chain/world.ts";
import { addressOf } from "../../../support/chain/fake-chain.ts";

const shop = addressOf("shop");

eachStore("The chain service", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound(standInInvoices);

  let till: PooledNetwork;
  beforeEach(async () => {
    till = await openPool(await store.open(), { nodes: 1 });
    till.invoices.ask({ address: shop });
  });
  afterEach(() => till.stop());

  const scan = (from: number, to: number) =>
    scanBlocks(till.app, testContext, "ethereum", { from, to });
  const audit = (range: { from?: number; to?: number } = {}) =>
    auditBlocks(till.app, "ethereum", range);

  /** Makes a payment in block 61 that the only provider omits until the block is final. */
  async function hidePayment(): Promise<void> {
    till.chain.mine([{ to: shop, amount: token(25) }]);
    const [hidden] = till.chain.transfers(61);
    const [node] = till.nodes;
    if (node === undefined || hidden === undefined) throw new Error("nothing to hide");
    node.view.hidden = new Set([hidden.transactionHash]);
    await till.mine(30);
    expect(await till.transfers()).to.deep.equal([]);
    expect((await till.state()).cursorHeight).to.be.greaterThan(61);
    node.view.hidden = new Set();
  }

  it("scans blocks again and enters a missing transfer once", async () => {
    await hidePayment();
    const { version } = await till.state();
    const first = await scan(55, 70);
    expect([first.found, first.fresh.length]).to.deep.equal([1, 1]);
    // The watcher, which may be at work, notices that something was entered.
    expect((await till.state()).version).to.equal(version + 1);
    const again = await scan(55, 70);
    expect([again.found, again.fresh.length]).to.deep.equal([1, 0]);
    expect((await till.state()).version).to.equal(version + 1);
    expect(await till.payments()).to.have.length(1);
    await till.mine(1);
    till.advance(minute);
    await till.mine(1);
    expect((await till.payments()).map(({ status }) => status)).to.deep.equal(["confirmed"]);
    expect(await till.transfers()).to.have.length(1);
    expect((await till.transfers())[0]?.isFinal).to.equal(true);
  });

  it.onBoth("scans while the watcher continues, and both find the same transfers", async () => {
    await hidePayment();
    till.chain.mine([{ to: shop, amount: token(3) }]);
    const [report] = await Promise.all([scan(50, 80), till.look()]);
    expect(report.fresh).to.have.length(1);
    await till.mine(1);
    expect(await till.payments()).to.have.length(2);
    expect(await audit()).to.deep.include({ gaps: [], seams: [] });
  });

  it("proves that no block went unread through payments, reorganizations and downtime", async () => {
    for (let round = 0; round < 6; round += 1) {
      till.chain.mine([{ to: shop, amount: token(1) }]);
      await till.mine(3);
      till.chain.reorg(3);
      await till.mine(1);
      till.pass(300 * round);
      await till.mine(1);
    }
    const { ranges, ...proof } = await audit();
    expect(proof).to.deep.include({ gaps: [], seams: [], to: till.chain.height() });
    expect(ranges).to.have.length(1);
    expect(ranges[0]).to.include({
      fromHeight: 51,
      toHeight: till.chain.height(),
      toHash: till.chain.block(till.chain.height()).hash,
      parentHash: till.chain.block(50).hash,
    });
  });

  it("names the unread blocks until they are read", async () => {
    await till.mine(100);
    await till.db.write(testContext, (tx) =>
      tx.run("UPDATE network_readings SET from_height = 101, parent_hash = $1", [
        till.chain.block(100).hash,
      ]),
    );
    expect((await audit({ from: 60, to: 150 })).gaps).to.deep.equal([{ from: 60, to: 100 }]);
    expect((await audit({ from: 100, to: 100 })).gaps).to.deep.equal([{ from: 100, to: 100 }]);
    expect((await audit({ from: 120 })).gaps).to.deep.equal([]);
    expect((await audit({ to: 500 })).gaps).to.deep.equal([{ from: 161, to: 500 }]);
    await scan(60, 80);
    expect((await audit({ from: 60, to: 150 })).gaps).to.deep.equal([{ from: 81, to: 100 }]);
    await scan(75, 100);
    const { gaps, ranges } = await audit({ from: 60, to: 150 });
    expect(gaps).to.deep.equal([]);
    expect(ranges.map(({ fromHeight, toHeight }) => [fromHeight, toHeight])).to.deep.equal([
      [60, 160],
    ]);
  });

  it("names the block at which two ranges of different chains meet", async () => {
    await till.mine(100);
    await till.db.write(testContext, (tx) =>
      tx.run("UPDATE network_readings SET from_height = 101, parent_hash = $1", ["ee".repeat(32)]),
    );
    await scan(60, 100);
    const { gaps, seams } = await audit({ from: 60, to: 150 });
    expect(gaps).to.deep.equal([]);
    expect(seams).to.deep.equal([{ height: 100 }]);
  });

  it("refuses a range that cannot be scanned, with the reason", async () => {
    expect((await refusal(scan(10, 9))).code).to.equal("not_scanned");
    expect(await scan(60, 60)).to.include({ from: 60, to: 60, found: 0 });
    expect((await refusal(scan(10, 1_000))).message).to.match(/Block 60 is the newest/);
    expect((await refusal(auditBlocks(till.app, "tron", {}))).code).to.equal("not_found");
    const [node] = till.nodes;
    node?.fail("unavailable", Infinity);
    const refused = await refusal(scan(10, 20));
    expect(refused).to.include({ code: "provider_unusable", status: 503 });
    node?.heal();
  });

  it("shows what was stored of each network's own providers, and a new process begins with that", async () => {
    const [node] = till.nodes;
    await till.mine(1);
    const read = async () => {
      const [status] = await listNetworkStatuses(till.app, { isLive: false });
      return status;
    };
    const before = await read();
    const [own] = before?.providers ?? [];
    if (own === undefined) throw new Error("no provider is stored");
    expect(before?.network.id).to.equal("ethereum");
    expect(own.provider).to.equal(new URL(String(node?.url)).origin);
    // The same provider may serve two networks. These rows sort before and after those of Ethereum.
    const answeredAt = Date.UTC(2020, 0, 1);
    const failed = { ...own, answeredAt, condition: "wrong_chain" as const };
    await till.db.write(testContext, async (tx) => {
      for (const network of ["arbitrum", "polygon"]) await writeProviders(tx, network, [failed], 1);
    });
    expect(await read()).to.deep.equal(before);
    await till.takeOver();
    const [resumed] = till.pool.health();
    expect(resumed?.answeredAt).to.be.at.least(Number(own.answeredAt));
    expect((await read())?.providers[0]?.condition).to.equal("ok");
    await till.db.write(testContext, (tx) => writeProviders(tx, "ethereum", [], 1));
    expect(await read()).to.deep.include({ providers: [], providersAt: null });
    expect((await storedProviders(till.db, "polygon")).map(({ health }) => health)).to.deep.equal([
      failed,
    ]);
  });

  it("counts requests, failures and open alarms for metrics", async () => {
    const [node] = till.nodes;
    node?.fail("rate-limited", 1);
    await till.mine(1);
    till.advance(minute);
    await till.mine(1);
    const counts = await providerMetrics(till.app).read();
    const values = (name: string) => counts[name]?.map(({ value }) => value);
    expect(counts["till_provider_errors_total"]?.[0]?.labels).to.include({ kind: "rate_limited" });
    expect(values("till_provider_errors_total")).to.deep.equal([1]);
    expect(values("till_provider_requests_total")?.[0]).to.be.greaterThan(2);
    expect(counts["till_chain_alarms"]).to.deep.equal([]);
  });
});

anyStore("The state of networks, as operators see it", (store) => {
  const now = 1_000 * second;
  let db: Database;

  before(async () => {
    db = await store.open();
    const reading = (fromHeight: number, toHeight: number, ...providers: readonly string[]) => ({
      fromHeight,
      parentHash: `h${String(fromHeight - 1)}`,
      toHeight,
      toHash: `h${String(toHeight)}`,
      readings: providers.map((provider) => ({ provider, at: 1 })),
      openedAt: 1,
    });
    const { leases } = appOf({ db, clock: { now: () => now } });
    await leases.acquire(watchWorkerName("base"), minute);
    await db.write(testContext, async (tx) => {
      for (const network of ["base", "polygon", "arbitrum"]) {
        await createState(tx, stateOf(network, 100, now, read));
      }
      await writeProviders(tx, "base", [health("b")], 7);
      await writeProviders(tx, "tron", [health("t")], 8);
      const ended = { ...alarm("payment_held", "3"), endedAt: now };
      const open = [alarm("payment_held", "1"), alarm("token_disabled", "9")];
      await writeAlarms(tx, "base", [...open, ended], now);
      await writeAlarms(tx, "tron", [alarm("payment_held", "2")], now);
      await tx.insertMany(readingTable, [
        { network: "base", ...reading(11, 20, "one", "two") },
        { network: "base", ...reading(21, 95, "one") },
        { network: "polygon", ...reading(11, 95, "one") },
      ]);
    });
  });

  const read = { cursorHeight: 90, cursorTime: 0, tipTime: now - 5 * second, headHeight: 103 };
  const health = (provider: string): ProviderHealth => ({
    provider,
    place: 0,
    condition: "ok",
    isInUse: true,
    latencyMs: null,
    tipHeight: 90,
    lagBlocks: null,
    errorPercent: 0,
    requestsToday: 0,
    budgetDay: 0,
    requestsPerDay: null,
    lastError: null,
    retryAt: null,
    answeredAt: null,
  });
  const alarm = (kind: AlarmKind, subject: string): Alarm => ({
    kind,
    subject,
    message: "a message",
    raisedAt: 1,
    endedAt: null,
  });

  /** Opens some networks, of which the pooled one can be asked now. */
  function open(enabledIds: readonly string[], till?: PooledNetwork) {
    const networks = enabledNetworks(...enabledIds);
    const clock = { now: () => now };
    const app =
      till === undefined
        ? appOf({ db, clock, networks, providersOf: () => [] })
        : Object.assign(till.app, { clock, networks });
    return {
      audit: (network: string) => auditBlocks(app, network, {}),
      status: async (isLive: boolean) => {
        const statuses = await listNetworkStatuses(app, { isLive });
        return statuses.map(({ providers, alarms, ...status }) => ({
          ...status,
          network: status.network.id,
          state: status.state?.network ?? null,
          providers: providers.map(({ provider }) => provider),
          alarms: alarms.map(({ kind, subject }) => `${kind} ${subject}`),
        }));
      },
    };
  }

  it("is that of the store, each network's own", async () => {
    for (const isLive of [false, true]) {
      expect(await open(["base", "tron"]).status(isLive)).to.deep.equal([
        {
          network: "base",
          state: "base",
          isWatched: true,
          headHeight: 103,
          lagMs: 5 * second,
          providers: ["b"],
          providersAt: 7,
          alarms: ["payment_held 1", "token_disabled 9"],
        },
        {
          network: "tron",
          state: null,
          isWatched: false,
          headHeight: null,
          lagMs: null,
          providers: ["t"],
          providersAt: 8,
          alarms: ["payment_held 2"],
        },
      ]);
    }
  });

  it("is that of a network's providers if these are asked, with the alarms that are not stored yet", async () => {
    const till = await openPool(await store.open(), { nodes: 1 });
    try {
      till.alarms.raise("final_transaction_moved", "1", "a message");
      await till.mine(1);
      till.alarms.raise("final_transaction_moved", "2", "a message");
      till.alarms.raise("transfer_left_out", "1", "a message");
      await till.db.write(testContext, (tx) => writeProviders(tx, "tron", [health("t")], 8));
      till.chain.mine([], 3);
      const { status } = open(["tron", "ethereum"], till);
      const [other, stored] = await status(false);
      expect(stored).to.deep.include({ headHeight: 61, alarms: ["final_transaction_moved 1"] });
      expect(stored?.providersAt).not.to.equal(now);
      const [unasked, live] = await status(true);
      expect(live).to.deep.include({
        headHeight: 64,
        providersAt: now,
        alarms: ["final_transaction_moved 1", "final_transaction_moved 2", "transfer_left_out 1"],
      });
      expect(other).to.deep.include({ providers: ["t"], providersAt: 8 });
      expect(unasked).to.deep.equal(other);
    } finally {
      await till.stop();
    }
  });

  it("has the blocks that two providers have read, up to the newest final one", async () => {
    const { audit } = open(["base", "polygon", "arbitrum"]);
    const found = await audit("base");
    expect(found).to.deep.include({ from: 11, to: 100, gaps: [{ from: 96, to: 100 }] });
    expect(found.readings.map(({ from, to }) => [from, to])).to.deep.equal([
      [11, 20],
      [21, 90],
    ]);
    expect(found.witnessedTo).to.equal(20);
    expect((await audit("polygon")).witnessedTo).to.equal(null);
    const unread = { from: 91, gaps: [{ from: 91, to: 100 }], witnessedTo: null };
    expect(await audit("arbitrum")).to.deep.include(unread);
  });
});
