// Chains and providers that replace blocks that they had called final.
import { expect } from "chai";
import {
  acknowledgeAlarms,
  auditBlocks,
} from "../../../../src/features/payments/networks/chain.ts";
import { coverageOf } from "../../../../src/platform/chain/state/reading-ranges.ts";
import {
  addReading,
  extendReadings,
  readingsOf,
} from "../../../../src/platform/chain/state/readings.ts";
import { createAlarms } from "../../../../src/platform/chain/state/alarms.ts";
import {
  blockTable,
  knownBlocks,
  type KnownBlock,
  type NetworkStateRow,
} from "../../../../src/platform/chain/state/network-state.ts";
import { ProviderError } from "../../../../src/platform/chain/providers/error.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { silentLogger } from "../../../../src/platform/logger/index.ts";
import { hour, minute, second } from "../../../../src/kernel/clock.ts";
import { anyStore, eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import {
  ReplyDropped,
  makeRangeSize,
} from "../../../../src/features/payments/watcher/chain-reader.ts";
import { makeFinalityCheck } from "../../../../src/features/payments/watcher/finality.ts";
import { blockMs, standInInvoices, token } from "../../../support/chain/asked-invoices.ts";
import { openPool, type PooledNetwork } from "../../../support/chain/world.ts";
import { addressOf } from "../../../support/chain/fake-chain.ts";

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
    till.chain.mine([{ to: shop, amount: token(25) }]);
    till.advance(blockMs);
    for (let left = depth - 1; left > 0; left -= 5) await till.mine(Math.min(5, left));
    till.advance(3 * minute);
    await till.mine(1);
    expect(await statuses()).to.deep.equal(["confirmed"]);
    expect((await till.transfers())[0]?.isFinal).to.equal(true);
    return () => till.invoices.totals.get(id);
  }
  const isContiguous = async () => {
    const audit = await auditBlocks(till.app, "ethereum", {});
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
    await acknowledgeAlarms(till.app, testContext, "ethereum", null);
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
    expect(await till.watcher.scan(guard)).to.equal(true);
    const { cursorHeight } = await till.state();
    expect(cursorHeight).to.be.below(range.to);
    // The hashes of the replaced blocks are forgotten.
    const kept = await knownBlocks(till.db, "ethereum");
    expect(kept.at(-1)?.height).to.equal(cursorHeight);
    const record = till.scanner.record(testContext, reading, { guard });
    expect(await record.then(() => "recorded", refused)).to.match(/replaced final blocks/);
    await till.look();
    await isContiguous();
  });

  it("is not followed by a process that has lost its lease", async () => {
    await open(1);
    await paid(25);
    till.chain.reorg(28);
    await till.mine(1);
    till.advance(31 * second);
    const before = await till.state();
    const lost = till.watcher.scan(() => Promise.reject(new Error("the lease was lost")));
    expect(await lost.catch(String)).to.equal("Error: the lease was lost");
    expect(await till.state()).to.deep.equal(before);
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

anyStore("The check of final blocks", (store) => {
  let db: Database;
  let networks = 0;
  before(async () => {
    db = await store.open();
  });

  const state = { cursorHeight: 100, cursorHash: "h100" } as NetworkStateRow;
  const keptAt = (...heights: readonly number[]): KnownBlock[] =>
    heights.map((height) => ({ height, hash: `h${String(height)}` }));

  /**
   * Opens the check of a network of which these blocks were kept, with some providers, the first of which is read. All
   * have the scanned blocks until a test changes that.
   */
  async function open(count: number, kept: readonly KnownBlock[] = keptAt(40, 60, 80)) {
    let now = hour;
    const id = `base-${String((networks += 1))}`;
    const blocks = kept.map((block) => ({ network: id, ...block }));
    await db.write(testContext, (tx) => tx.insertMany(blockTable, blocks));
    /** Each provider's other hashes by height; null for a block that it lacks. */
    const others = Array.from({ length: count }, (): Record<number, string | null> => ({}));
    const failing = new Set<number>();
    const providers = others.map((own, place) => ({
      provider: `http://${String(place)}`,
      blocks(heights: readonly number[]) {
        if (failing.has(place)) {
          const fault = { kind: "unreachable", provider: `http://${String(place)}` } as const;
          return Promise.reject(new ProviderError("it is away", fault));
        }
        const hashAt = (height: number) => {
          const hash = own[height];
          return hash === undefined ? `h${String(height)}` : hash;
        };
        return Promise.resolve(
          heights.map((height) => {
            const hash = hashAt(height);
            return hash === null ? null : { height, hash, time: 0 };
          }),
        );
      },
    }));
    const [client] = providers;
    const clock = { now: () => now };
    const alarms = createAlarms({ clock, logger: silentLogger });
    const check = makeFinalityCheck({
      clock,
      providers,
      client,
      alarms,
      network: { id, title: "Base" },
      db,
    } as never);
    return {
      alarms,
      others,
      failing,
      advance: (milliseconds: number) => (now += milliseconds),
      resume: () => {
        check.resume();
      },
      /** Returns the height to go back to; null without a change, and otherwise why there is no answer. */
      check: async (tip = 110) => {
        const [known = null] = tip < 100 ? [] : ((await client?.blocks([100])) ?? []);
        const latest = { height: tip, hash: "tip", time: 0 };
        return check.changedSince(state, { latest, finalized: latest, known }).then(
          (base) => base?.height ?? null,
          (error: unknown) =>
            error instanceof ReplyDropped ? (error.fault ?? "dropped") : (error as Error).name,
        );
      },
    };
  }

  it("believes the only provider thirty seconds after it first reported a change, and each further one as late", async () => {
    const { others, advance, check } = await open(1);
    const [own = {}] = others;
    expect(await check()).to.equal(null);
    own[100] = "another";
    expect(await check()).to.equal("dropped");
    advance(30 * second - 1);
    expect(await check()).to.equal("dropped");
    advance(1);
    expect(await check()).to.equal(80);
    expect(await check()).to.equal("dropped");
    delete own[100];
    expect(await check()).to.equal(null);
    advance(minute);
    own[100] = "another";
    expect(await check()).to.equal("dropped");
  });

  it("waits for the whole time again when its process reads the network after another one", async () => {
    const { others, advance, resume, check } = await open(1);
    const [own = {}] = others;
    own[100] = "another";
    expect(await check()).to.equal("dropped");
    // Another process found the old block meanwhile.
    advance(minute);
    resume();
    expect(await check()).to.equal("dropped");
    advance(30 * second - 1);
    expect(await check()).to.equal("dropped");
    advance(1);
    expect(await check()).to.equal(80);
  });

  it("ends the alarm about a change that was not confirmed, in any process, and not that about a replaced block", async () => {
    const { alarms, others, check } = await open(1);
    const [own = {}] = others;
    own[100] = "another";
    await check();
    const raised = alarms.open();
    expect(raised.map(({ subject }) => subject)).to.deep.equal(["block 100"]);
    // Another process has read the network meanwhile, and followed the change.
    const replaced = raised.map((alarm) => ({ ...alarm, message: "the chain replaced blocks" }));
    alarms.adopt(replaced);
    delete own[100];
    await check();
    expect(alarms.open()).to.deep.equal(replaced);
    const next = await open(1);
    next.alarms.adopt(raised);
    next.alarms.raise("payment_held", "pay_1", "a provider denies it");
    await next.check();
    expect(next.alarms.open().map(({ kind }) => kind)).to.deep.equal(["payment_held"]);
  });

  it("believes one of two providers after two minutes, or at once if the other one confirms the change", async () => {
    const { others, failing, advance, check } = await open(2);
    const [own = {}, second = {}] = others;
    own[100] = "another";
    second[100] = null;
    expect(await check()).to.equal("dropped");
    second[100] = "a third";
    failing.add(1);
    advance(2 * minute - 1);
    expect(await check()).to.equal("dropped");
    failing.clear();
    expect(await check()).to.equal("dropped");
    advance(1);
    expect(await check()).to.equal(80);
    second[100] = "another";
    expect(await check()).to.equal(80);
    second[100] = "h100";
    advance(hour);
    expect(await check()).to.equal("denies_final");
  });

  it("compares the newest kept block that a provider behind the scan has, and asks again if it lacks a block", async () => {
    const { others, check } = await open(1);
    const [own = {}] = others;
    own[80] = "another";
    expect(await check(79)).to.equal(null);
    expect(await check(80)).to.equal("dropped");
    own[60] = "another";
    expect(await check(79)).to.equal("dropped");
    expect(await check(39)).to.equal(null);
    own[100] = null;
    expect(await check(100)).to.equal("dropped");
    own[80] = null;
    expect(await check(99)).to.equal(null);
  });

  it("goes back to the newest kept block below the final one that the provider still has", async () => {
    const base = async (own: Record<number, string>, kept?: readonly KnownBlock[]) => {
      const opened = await open(1, kept);
      Object.assign(opened.others[0] ?? {}, { 100: "another", ...own });
      await opened.check();
      opened.advance(minute);
      return opened.check();
    };
    expect(await base({})).to.equal(80);
    expect(await base({ 80: "another" })).to.equal(60);
    expect(await base({ 80: "another", 60: "another", 40: "another" })).to.equal("NetworkStopped");
    // A block above, or kept at the height of the final one before it was final, may have been replaced.
    const above = [...keptAt(80), { height: 100, hash: "another" }, ...keptAt(105)];
    expect(await base({}, above)).to.equal(80);
  });
});
