import { expect } from "chai";
import { providerMetrics } from "../../../../src/features/payments/networks/metrics.ts";
import { makeChainService } from "../../../../src/features/payments/networks/service.ts";
import { minute, second } from "../../../../src/kernel/clock.ts";
import { stateTable } from "../../../../src/platform/chain/state/network-state.ts";
import {
  alarmTable,
  providerTable,
  storedProviders,
  writeProviders,
} from "../../../../src/platform/chain/state/provider-store.ts";
import type { ReadingRow } from "../../../../src/platform/chain/state/reading-ranges.ts";
import { readingTable } from "../../../../src/platform/chain/state/readings.ts";
import { refusal } from "../../../support/invoice-services-fixture.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { openPool, type PooledNetwork } from "../watcher/pooled-network.ts";
import { addressOf } from "../watcher/scripted-chain.ts";
import { token, standInInvoices } from "../watcher/watched-network.ts";

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
    till.service.scan(testContext, "ethereum", { from, to });
  const audit = (range: { from?: number; to?: number } = {}) =>
    till.service.audit("ethereum", range);

  /** Makes a payment in block 61 that the only provider omits until the block is final. */
  async function hidePayment(): Promise<void> {
    till.chain.mine(1, [{ to: shop, amount: token(25) }]);
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
    till.chain.mine(1, [{ to: shop, amount: token(3) }]);
    const [report] = await Promise.all([scan(50, 80), till.look()]);
    expect(report.fresh).to.have.length(1);
    await till.mine(1);
    expect(await till.payments()).to.have.length(2);
    expect(await audit()).to.deep.include({ gaps: [], seams: [] });
  });

  it("proves that no block went unread through payments, reorganizations and downtime", async () => {
    for (let round = 0; round < 6; round += 1) {
      till.chain.mine(1, [{ to: shop, amount: token(1) }]);
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
    expect((await refusal(till.service.audit("tron", {}))).code).to.equal("not_found");
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
      const [status] = await till.service.status({ isLive: false });
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
    const pools = new Map([["ethereum", till.pool]]);
    const counts = await providerMetrics({ db: till.db, pools }).read();
    const values = (name: string) => counts[name]?.map(({ value }) => value);
    expect(counts["till_provider_errors_total"]?.[0]?.labels).to.include({ kind: "rate_limited" });
    expect(values("till_provider_errors_total")).to.deep.equal([1]);
    expect(values("till_provider_requests_total")?.[0]).to.be.greaterThan(2);
    expect(counts["till_chain_alarms"]).to.deep.equal([]);
  });
});

describe("The state of networks, as operators see it", () => {
  const now = 1_000 * second;

  interface Given {
    readonly readings?: readonly ReadingRow[];
    /** The heights that the providers of `base` report when they are asked. */
    readonly heights?: readonly (number | null)[];
    readonly probed?: readonly { readonly kind: string; readonly subject: string }[];
  }

  /** Opens the networks base, which is read, and tron, which has no provider and was never reached. */
  function open({ readings = [], heights = [], probed = [] }: Given = {}) {
    const state = { network: "base", cursorHeight: 90, tipHeight: 100, headHeight: 103 };
    const states = [{ ...state, tipTime: now - 5 * second }];
    const health = (provider: string) => ({ provider, tipHeight: 90 });
    const rows = new Map<unknown, readonly unknown[]>([
      [stateTable, states],
      [
        providerTable,
        [
          { network: "base", health: health("b"), writtenAt: 7 },
          { network: "tron", health: health("t"), writtenAt: 8 },
        ],
      ],
      [
        alarmTable,
        [
          { network: "base", kind: "payment_held", subject: "1" },
          { network: "base", kind: "token_disabled", subject: "9" },
          { network: "tron", kind: "payment_held", subject: "2" },
        ],
      ],
      [readingTable, readings],
    ]);
    const networks = ["base", "tron"].map((id) => ({ id, title: id }));
    const service = makeChainService({
      clock: { now: () => now },
      enabled: new Map(networks.map((network) => [network.id, network])),
      enabledIds: networks.map(({ id }) => id),
      access: [
        {
          network: "base",
          alarms: { open: () => probed },
          pool: {
            providers: [{ heads: () => Promise.resolve() }],
            health: () => heights.map((tipHeight) => ({ provider: "asked", tipHeight })),
          },
        },
      ],
      db: {
        // The only other rows that are read are leases.
        find: (table: unknown) => Promise.resolve(rows.get(table) ?? [{ name: "watch base" }]),
        findOne: () => Promise.resolve(states[0]),
      },
    } as never);
    return {
      audit: () => service.audit("base", {}),
      status: async (isLive: boolean) => {
        const statuses = await service.status({ isLive });
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

  const tron = {
    network: "tron",
    state: null,
    isWatched: false,
    headHeight: null,
    lagMs: null,
    providers: ["t"],
    providersAt: 8,
    alarms: ["payment_held 2"],
  };
  const base = {
    network: "base",
    state: "base",
    isWatched: true,
    headHeight: 103,
    lagMs: 5 * second,
    providers: ["b"],
    providersAt: 7,
    alarms: ["payment_held 1", "token_disabled 9"],
  };

  it("is that of the store, each network's own", async () => {
    expect(await open().status(false)).to.deep.equal([base, tron]);
  });

  it("is that of the providers if these are asked, with the alarms that this finds", async () => {
    const probed = [
      { kind: "payment_held", subject: "1" },
      { kind: "payment_held", subject: "9" },
      { kind: "network_not_read", subject: "1" },
    ];
    const { status } = open({ heights: [110, null], probed });
    expect(await status(true)).to.deep.equal([
      {
        ...base,
        headHeight: 110,
        providers: ["asked", "asked"],
        providersAt: now,
        alarms: [...base.alarms, "payment_held 9", "network_not_read 1"],
      },
      tron,
    ]);
  });

  it("has the blocks that two providers have read, up to the newest final one", async () => {
    const reading = (fromHeight: number, toHeight: number, ...providers: readonly string[]) => ({
      fromHeight,
      parentHash: `h${String(fromHeight - 1)}`,
      toHeight,
      toHash: `h${String(toHeight)}`,
      readings: providers.map((provider) => ({ provider, at: 1 })),
      openedAt: 1,
    });
    const read = await open({
      readings: [reading(11, 20, "one", "two"), reading(21, 95, "one")],
    }).audit();
    expect(read).to.deep.include({ from: 11, to: 100, gaps: [{ from: 96, to: 100 }] });
    expect(read.readings.map(({ from, to }) => [from, to])).to.deep.equal([
      [11, 20],
      [21, 90],
    ]);
    expect(read.witnessedTo).to.equal(20);
    expect((await open({ readings: [reading(11, 95, "one")] }).audit()).witnessedTo).to.equal(null);
    const unread = await open().audit();
    expect(unread).to.deep.include({ from: 91, gaps: [{ from: 91, to: 100 }], witnessedTo: null });
  });
});
