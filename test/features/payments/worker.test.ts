// The worker of a network: the sandbox of a whole program, and a network that is read from a node over HTTP.
import { expect } from "chai";
import { mineBlocks } from "../../../src/features/payments/sandbox/sandbox.ts";
import { auditBlocks } from "../../../src/features/payments/networks/chain.ts";
import { paymentClaims, type ClaimRow } from "../../../src/features/payments/table.ts";
import { reserved, savedMax } from "../../../src/features/payments/hash-claims/examiner.ts";
import { fateOf, makeWatchWorkers } from "../../../src/features/payments/worker.ts";
import { watchWorkerName } from "../../../src/features/payments/wake.ts";
import { systemActor } from "../../../src/kernel/actor.ts";
import { minute, second } from "../../../src/kernel/clock.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { networkState } from "../../../src/platform/chain/state/network-state.ts";
import { alarmTable, openAlarms } from "../../../src/platform/chain/state/provider-health.ts";
import type { Worker } from "../../../src/platform/jobs/background.ts";
import { createLeases } from "../../../src/platform/jobs/leases.ts";
import { leases } from "../../../src/platform/jobs/table.ts";
import { anyStore, testContext } from "../../support/store/stores.ts";
import { openCounter, type Counter } from "../../support/counter.ts";
import type { Json, Merchant } from "../../support/app.ts";
import { openPool, type PooledNetwork } from "../../support/chain/world.ts";

describe("The last lease of a process on a network", () => {
  it("lasts, has only ended, or was taken by another process or before a backup was restored", () => {
    for (const [before, token, fate] of [
      [undefined, 7, "ended"],
      [7, 7, "lasts"],
      [7, 8, "ended"],
      [7, 9, "taken"],
      [7, 6, "taken"],
    ] as const) {
      expect(fateOf(before, token), `${String(before)}, then ${String(token)}`).to.equal(fate);
    }
  });
});

anyStore("The worker of the sandbox", (store) => {
  let counter: Counter;
  let merchant: Merchant;
  let workers: readonly Worker[];

  before(async () => {
    // Nobody answers for Ethereum, so that it is never reached.
    counter = await openCounter(store, {
      TILL_NETWORKS: "sandbox,ethereum",
      TILL_SANDBOX_MIXED: "1",
      TILL_ETHEREUM_RPC_URLS: "http://127.0.0.1:1",
    });
    merchant = await counter.merchant();
    await counter.wallet(merchant);
    const { app } = counter.app;
    workers = makeWatchWorkers(app);
  });
  after(() => counter.stop());

  function run(network = "sandbox", signal = new AbortController().signal): Promise<boolean> {
    const worker = workers.find(({ name }) => name === watchWorkerName(network));
    if (worker === undefined) throw new Error(`${network} has no worker`);
    return worker.run(signal);
  }
  const mine = () => mineBlocks(counter.app.app, testContext, 1);
  const tip = async () => (await networkState(counter.app.app.db, "sandbox"))?.tipHeight ?? 0;

  it("reads it under a lease of 20 seconds, and loads the stored alarms with each new lease", async () => {
    const { clock } = counter.app;
    const { db, ids } = counter.app.app;
    const another = createLeases({ db, clock, ids, actor: systemActor("another process") });
    const taken = () => another.acquire(watchWorkerName("sandbox"), 20 * second);
    const alarms = async () => (await openAlarms(db, "sandbox")).map(({ kind }) => kind);
    /** Stores an alarm as another process does. It ends when a process that has loaded it reads the network. */
    const raise = () =>
      db.write(testContext, (tx) =>
        tx.upsertMany(alarmTable, [
          {
            network: "sandbox",
            kind: "network_not_read",
            subject: "sandbox",
            message: "the network cannot be read",
            raisedAt: clock.now(),
            endedAt: null,
          },
        ]),
      );
    const begun = clock.now();
    await run();
    const lease = await db.findOne(leases, "WHERE name = $1", [watchWorkerName("sandbox")]);
    const until = lease?.until ?? 0;
    expect(until).to.be.within(begun + 20 * second, clock.now() + 20 * second);
    const first = await tip();
    clock.advance(until - clock.now() - 10 * second);
    expect(await taken()).to.equal(null);
    clock.advance(11 * second);
    expect(await taken()).not.to.equal(null);
    await mine();
    expect(await run()).to.equal(false);
    expect(await tip()).to.equal(first);
    await raise();
    await another.releaseAll();
    await run();
    expect(await tip()).to.equal(first + 1);
    expect(await alarms()).to.deep.equal([]);
    await raise();
    await run();
    expect(await alarms()).to.deep.equal(["network_not_read"]);
    clock.advance(21 * second);
    await run();
    expect(await alarms()).to.deep.equal([]);
  });

  it("ends what is due once it has read the chain, unless the program stops", async () => {
    const invoice = await counter.issue(merchant, { expiresInSeconds: 300 });
    const status = async () =>
      (await counter.get(merchant, `/invoices/${String(invoice["id"])}`))["status"];
    counter.app.clock.advance(301 * second);
    const first = await tip();
    await mine();
    expect(await run("sandbox", AbortSignal.abort())).to.equal(false);
    expect([await tip(), await status()]).to.deep.equal([first + 1, "open"]);
    expect(await run()).to.equal(true);
    expect(await status()).to.equal("expired");
    expect(await run()).to.equal(false);
  });

  it("looks up some submitted transactions of this network after a look, and is not due again for the others", async () => {
    const { db, ids } = counter.app.app;
    const invoice: Json = await counter.issue(merchant);
    const at = counter.app.clock.now();
    const claim = (place: number, network: string): ClaimRow => ({
      id: ids.next("claim", at),
      organizationId: merchant.organizationId as Id<"organization">,
      invoiceId: invoice["id"] as Id<"invoice">,
      network,
      transactionHash: String(place).padStart(64, "0"),
      state: "waiting",
      reason: null,
      attempts: 0,
      isKnown: false,
      nextAt: at,
      createdAt: at,
      closedAt: null,
    });
    const waiting = Array.from({ length: 20 }, (_, place) => claim(place, "sandbox"));
    const elsewhere = claim(20, "ethereum");
    await db.write(testContext, (tx) => tx.insertMany(paymentClaims, [...waiting, elsewhere]));
    const stored = (network: string) =>
      db.find(paymentClaims, "WHERE network = $1 ORDER BY id", [network]);
    expect(await run()).to.equal(false);
    const lookedUp = (await stored("sandbox")).filter(({ attempts }) => attempts > 0);
    expect(lookedUp).to.have.length(savedMax - reserved);
    expect(await stored("ethereum")).to.deep.equal([elsewhere]);
    // The examiner of that network moves it to the one on which the invoice has a hold.
    await counter.examine();
    expect(await stored("ethereum")).to.deep.equal([]);
  });

  it("has nothing to end on a network that was never reached", async () => {
    expect(await run("ethereum")).to.equal(false);
    expect(await networkState(counter.app.app.db, "ethereum")).to.equal(null);
  });
});

/** All the way from the worker to the node, as in `till serve`. */
const overHttp = { nodes: 1, usesSockets: true };

anyStore("The worker of a network with one node", (store) => {
  let till: PooledNetwork;
  afterEach(() => till.stop());

  it("goes on at once until all blocks are read, and those read again that are due", async () => {
    till = await openPool(await store.open(), { ...overHttp, maxLogRange: 200 });
    till.pass(600);
    await till.look();
    expect(await till.state()).to.include({ tipHeight: 660, cursorHeight: 650 });
    till.advance(2 * minute);
    await till.look();
    const { readings } = await auditBlocks(till.app, "ethereum", {});
    expect(readings.map(({ from, to, timesRead }) => [from, to, timesRead])).to.deep.equal([
      [51, 650, 2],
    ]);
  });

  it("believes a replaced final block after 30 seconds, which begin again once another process had the lease", async () => {
    till = await openPool(await store.open(), overHttp);
    await till.mine(30);
    const { cursorHash } = await till.state();
    till.chain.reorg(15);
    await till.look();
    till.advance(15 * second);
    await till.db.write(testContext, (tx) =>
      tx.run("UPDATE leases SET holder = 'prc_another', token = token + 1, until = 0"),
    );
    await till.look();
    till.advance(15 * second);
    await till.look();
    expect(await till.state()).to.include({ cursorHash });
    // The lease only ends meanwhile, which changes nothing.
    till.advance(25 * second);
    await till.look();
    const after = await till.state();
    expect(after.cursorHash).to.equal(till.chain.block(after.cursorHeight).hash);
    expect(after.cursorHash).not.to.equal(cursorHash);
  });
});
