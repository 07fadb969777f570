// The cost of reading final blocks again, counted on a chain that runs for hours: on average at most two eth_getLogs a
// minute, at any block time, after a long stop, and with a provider that allows only short ranges.
import { expect } from "chai";
import { appOf } from "../../../../support/context.ts";
import { makeBlockTimes } from "../../../../../src/features/payments/watcher/block-times.ts";
import { makeScanner } from "../../../../../src/features/payments/watcher/readings/rescanner.ts";
import { makeProviderCrossCheck } from "../../../../../src/features/payments/watcher/provider-cross-check.ts";
import { hour, minute, second } from "../../../../../src/kernel/clock.ts";
import { createIds } from "../../../../../src/kernel/id.ts";
import { createJournal } from "../../../../../src/platform/journal.ts";
import { createAlarms } from "../../../../../src/platform/chain/state/alarms.ts";
import type { Network } from "../../../../../src/platform/chain/networks.ts";
import type { ProviderHealth } from "../../../../../src/platform/chain/state/provider-health.ts";
import { extendReadings, readingsOf } from "../../../../../src/platform/chain/state/readings.ts";
import {
  createState,
  networkState,
  replaceState,
} from "../../../../../src/platform/chain/state/network-state.ts";
import { silentLogger } from "../../../../../src/platform/logger/index.ts";
import { systemRandom } from "../../../../../src/platform/secrets/tokens.ts";
import { testNetworks } from "../../../../support/merchants.ts";
import { anyStore, testContext } from "../../../../support/store/stores.ts";
import { addressOf, makeFakeChain } from "../../../../support/chain/fake-chain.ts";
import type { Faults } from "../../../../support/chain/fake-provider.ts";
import {
  askingInvoices,
  standInInvoices,
  startAt,
} from "../../../../support/chain/asked-invoices.ts";

const finalityLag = 20;
const guard = () => Promise.resolve();

anyStore("Reading final blocks again", (store) => {
  store.leavesUnsound(standInInvoices);

  /** A network whose watcher is always at the tip, so that its providers serve readings only. */
  async function open(options: {
    readonly blockMs: number;
    readonly providers: number;
    readonly maxLogRange?: number;
    readonly faults?: Partial<Faults>;
  }) {
    const { blockMs, maxLogRange = 1_000 } = options;
    const db = await store.open();
    const configured = testNetworks("ethereum").get("ethereum");
    if (configured === undefined) throw new Error("no network");
    const network: Network = { ...configured, blockTimeMs: blockMs, maxLogRange };
    const chain = makeFakeChain({ startAt, blockMs, finalityLag, chainId: 1 });
    let now = startAt;
    const clock = { now: () => now };
    const ids = createIds(systemRandom);
    const invoices = await askingInvoices(db, network);
    invoices.ask({ address: addressOf("shop") });
    await invoices.store();
    const alarms = createAlarms({ clock, logger: silentLogger });
    const providerAt = (place: number) =>
      chain.provider(`http://provider${String(place)}`, { ...options.faults });
    const client = providerAt(0);
    const others = Array.from({ length: options.providers - 1 }, (_, place) => place + 1);
    const providers = [client, ...others.map(providerAt)];
    const health = providers.map(
      ({ provider }, place) =>
        ({ provider, place, isInUse: place === 0, condition: "ok" }) as ProviderHealth,
    );
    const pool = { client, providers, health: () => health, distrust: () => undefined };
    const times = makeBlockTimes({ clock, providers, alarms });
    const app = appOf({ db, clock, ids });
    const reading = {
      db,
      clock,
      network,
      app,
      pool,
      alarms,
      client,
      providers,
      times,
      journal: createJournal({ ids, wake: () => undefined }),
      logger: silentLogger,
    };
    const scanner = makeScanner(reading);
    const newWitness = () => makeProviderCrossCheck({ ...reading, scanner });
    let crossCheck = newWitness();

    /** Writes the state that the watcher stores after a scan without transfers up to the newest block. */
    async function watch(): Promise<void> {
      const tip = chain.tip();
      const final = Math.max(0, tip.height - finalityLag);
      const state = await networkState(db, network.id);
      const [finalBlock] = await client.blocks([final]);
      const seen = {
        chainId: 1,
        cursorHeight: final,
        cursorHash: finalBlock?.hash ?? "",
        cursorTime: finalBlock?.time ?? 0,
        tipHeight: tip.height,
        tipHash: tip.hash,
        tipTime: tip.time,
        tipSeenAt: now,
        headHeight: tip.height,
        scannedAt: now,
        usualLagMs: 0,
        disabledTokens: [],
      };
      await db.write(testContext, async (tx) => {
        if (state === null) {
          await createState(tx, { network: network.id, ...seen, version: 1 });
          return;
        }
        await replaceState(tx, state, { ...state, ...seen });
        const parent = { height: state.cursorHeight, hash: state.cursorHash };
        await extendReadings(
          tx,
          network.id,
          { parent, to: tip },
          { provider: client.provider, at: now },
        );
      });
    }
    await watch();

    return {
      clock,
      restart() {
        crossCheck = newWitness();
      },
      /** Lets time pass without readings. */
      stop(milliseconds: number) {
        now += milliseconds;
        chain.mine([], Math.round(milliseconds / blockMs));
      },
      /** Runs for a time, and returns the number of eth_getLogs requests of each minute. */
      async run(milliseconds: number, stepMs = 30 * second): Promise<number> {
        let requests = 0;
        for (let passed = 0; passed < milliseconds; passed += stepMs) {
          now += stepMs;
          chain.mine([], Math.round(stepMs / blockMs));
          await watch();
          chain.calls.length = 0;
          while (await crossCheck.compare(guard));
          requests += chain.calls.filter((method) => method === "transfers").length;
        }
        return requests / (milliseconds / minute);
      },
      /** Returns the numbers of final blocks by their number of readings. */
      async timesRead(): Promise<ReadonlyMap<number, number>> {
        const state = await networkState(db, network.id);
        const cursorHeight = state?.cursorHeight ?? 0;
        const times = new Map<number, number>();
        for (const { fromHeight, toHeight, readings } of await readingsOf(db, network.id)) {
          const blocks = Math.min(toHeight, cursorHeight) - fromHeight + 1;
          const before = times.get(readings.length) ?? 0;
          if (blocks > 0) times.set(readings.length, before + blocks);
        }
        return times;
      },
      rows: () => readingsOf(db, network.id),
    };
  }

  for (const [blockMs, providers] of [
    [250, 1],
    [3_000, 2],
    [10_000, 1],
  ] as const) {
    const what = `blocks every ${String(blockMs)} ms and ${String(providers)} provider(s)`;
    it(`costs at most two eth_getLogs a minute with ${what}`, async () => {
      const network = await open({ blockMs, providers });
      expect(await network.run(1.75 * hour)).to.be.within(0.1, 2);
      const times = await network.timesRead();
      const perMinute = minute / blockMs;
      expect(times.get(1) ?? 0).to.be.at.most(6 * perMinute);
      expect(times.get(2) ?? 0).to.be.at.most(80 * perMinute);
      expect(times.get(3) ?? 0).to.be.at.least(20 * perMinute);
      expect((await network.rows()).length).to.be.below(100);
    });
  }

  it("stays within two eth_getLogs a minute after a long stop, and reads every block again in time", async () => {
    const network = await open({ blockMs: 1_000, providers: 1 });
    await network.run(minute);
    network.stop(20 * hour);
    expect(await network.run(30 * minute)).to.be.within(1.5, 2.2);
    expect(await network.run(2.5 * hour, minute)).to.be.at.most(2);
    const times = await network.timesRead();
    expect(times.get(1) ?? 0).to.be.at.most(400);
    expect(times.get(3) ?? 0).to.be.at.least(20 * 3_600);
  });

  it("stays within two eth_getLogs a minute if the provider allows only short ranges", async () => {
    const network = await open({ blockMs: 1_000, providers: 1, faults: { rangeMax: 15 } });
    expect(await network.run(40 * minute)).to.be.at.most(2.2);
    // The newest blocks go first; the rest is recorded as read once.
    const times = await network.timesRead();
    expect(times.get(1) ?? 0).to.be.greaterThan(500);
    expect(times.get(2) ?? 0).to.be.greaterThan(500);
  });

  it("continues after a restart where the previous process stopped", async () => {
    const network = await open({ blockMs: 3_000, providers: 2 });
    await network.run(30 * minute);
    const before = await network.timesRead();
    network.restart();
    expect(await network.run(2 * minute)).to.be.at.most(2);
    const after = await network.timesRead();
    expect(after.get(3) ?? 0).to.equal(0);
    expect(after.get(2) ?? 0).to.be.within(before.get(2) ?? 0, (before.get(2) ?? 0) + 60);
  });
});
