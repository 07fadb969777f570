import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { stateOf } from "../../../support/ledger.ts";
import { appOf } from "../../../support/context.ts";
import type { PaymentStatus } from "../../../../src/features/payments/payment-status.ts";
import {
  disturbProviders,
  expireOnSandbox,
  getSandboxBill,
  healProviders,
  mineBlocks,
  newestOf,
  openSandbox,
  paymentsOf,
  payOnSandbox,
  payTogetherOnSandbox,
  playScenario,
  reorganizeSandbox,
  type SandboxScenario,
  sendOnSandbox,
  waitUntilRead,
} from "../../../../src/features/payments/sandbox/sandbox.ts";
import { watchWorkerName } from "../../../../src/features/payments/wake.ts";
import { minute, systemClock } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { createState, stateTable } from "../../../../src/platform/chain/state/network-state.ts";
import { writeProviders } from "../../../../src/platform/chain/state/provider-health.ts";
import type { Database } from "../../../../src/platform/database/database.ts";
import { expectStatus, type Merchant } from "../../../support/app.ts";
import { enabledNetworks, xpubOf } from "../../../support/merchants.ts";
import { anyStore, eachStore, testContext } from "../../../support/store/stores.ts";
import { until } from "../../../support/until.ts";
import { openCounter, type Counter } from "../../../support/counter.ts";

const network = "sandbox";
const tip = { height: 100, hash: "aa".repeat(32) };

eachStore("a command of the sandbox", (store) => {
  let db: Database;
  beforeEach(async () => {
    db = await store.open();
  });

  const lease = async () => {
    const { leases } = appOf({ db });
    expect(await leases.acquire(watchWorkerName(network), minute)).to.include({ token: 1 });
  };
  const readTo = (height: number, hash: string) =>
    db.write(testContext, (tx) =>
      tx.update(stateTable, { tipHeight: height, tipHash: hash }, "WHERE network = $1", [network]),
    );
  const reach = async () => {
    const at = systemClock.now();
    const state = stateOf(network, tip.height, at, { cursorHeight: 90, tipHash: tip.hash });
    await db.write(testContext, (tx) => createState(tx, state));
  };
  /** Begins a wait for a block. Returns it once it is over or goes on after two looks, each of which asks the clock once. */
  const wait = async (head: { readonly height: number; readonly hash: string }) => {
    let looks = 0;
    let isOver = false;
    const clock = { now: () => ((looks += 1), systemClock.now()) };
    const app = appOf({ db, clock, networks: enabledNetworks(network) });
    const done = waitUntilRead(app, head as Parameters<typeof waitUntilRead>[1]).then(
      () => (isOver = true),
    );
    await until(
      "an end, or a third look",
      () => isOver || looks > 2,
      (isKnown) => isKnown,
    );
    return { isOver, looks, done };
  };

  it("waits until the server has read its block, or one above it", async () => {
    await lease();
    await reach();
    expect(await wait(tip)).to.include({ isOver: true, looks: 1 });
    const below = { height: 99, hash: "cc".repeat(32) };
    expect(await wait(below)).to.include({ isOver: true, looks: 1 });
    // A reorganization: the block that was read has the same height, and is another one.
    const other = { height: tip.height, hash: "dd".repeat(32) };
    const replaced = await wait(other);
    expect(replaced.isOver).to.equal(false);
    await readTo(other.height, other.hash);
    expect(await replaced.done).to.equal(true);
    const next = await wait({ height: 101, hash: "ee".repeat(32) });
    expect(next.isOver).to.equal(false);
    await readTo(102, "ff".repeat(32));
    expect(await next.done).to.equal(true);
  });

  it("heals the providers, and waits until the server has checked all of them", async () => {
    await lease();
    const check = (...times: readonly number[]) =>
      db.write(testContext, (tx) => {
        const checked = times.map((healedAt, place) => ({
          provider: String(place),
          place,
          healedAt,
        }));
        return writeProviders(tx, network, checked as never, 1);
      });
    const app = appOf({ db, clock: { now: () => 1_000 }, networks: enabledNetworks(network) });
    await openSandbox(app, testContext, 0);
    await check(1_000, 1_001);
    expect((await healProviders(app, testContext)).isChecked).to.equal(true);
    await check(1_000, 999);
    const waiting = healProviders(app, testContext);
    expect(await Promise.race([waiting, setTimeout(400, null)])).to.equal(null);
    await check(1_000, 1_000);
    expect((await waiting).isChecked).to.equal(true);
  });

  it("waits for no server that does not run, and for no network that was never reached", async () => {
    const far = { height: 1_000, hash: "cc".repeat(32) };
    await reach();
    expect(await wait(far)).to.include({ isOver: true, looks: 1 });
    await lease();
    await db.write(testContext, (tx) => tx.run("DELETE FROM network_states"));
    expect(await wait(far)).to.include({ isOver: true, looks: 1 });
  });
});

anyStore("The sandbox", (store) => {
  let counter: Counter;
  let merchant: Merchant;
  before(async () => {
    counter = await openCounter(store);
    merchant = await counter.merchant();
    const wallet = { label: "Key", network, xpub: xpubOf(70) };
    await expectStatus(counter.post(merchant, "/wallets", wallet), 201);
  });
  after(() => counter.stop());

  const app = () => counter.app.app;
  /** Issues an invoice of 25.00 USDT with an address of its own. */
  const issue = async () => (await counter.issue(merchant))["id"] as Id<"invoice">;
  const hasWoken = () => counter.woken().includes(watchWorkerName(network));

  it("wakes the watcher after each command that changes the chain", async () => {
    const invoiceId = await issue();
    const [from, to] = [`0x${"a".repeat(40)}`, `0x${"b".repeat(40)}`];
    const transfer = { from, to, token: "USDT", amount: "1.00" };
    const commands: Readonly<Record<string, () => Promise<unknown>>> = {
      send: () => sendOnSandbox(app(), testContext, transfer),
      batch: () => payTogetherOnSandbox(app(), testContext, invoiceId, [1n]),
      part: () => playScenario(app(), testContext, invoiceId, "part"),
      stall: () => disturbProviders(app(), testContext, "stall", 1),
      heal: () => healProviders(app(), testContext),
      mine: () => mineBlocks(app(), testContext, 1),
      reorg: () => reorganizeSandbox(app(), testContext, 1, { drop: true }),
      expire: () => expireOnSandbox(app(), testContext, invoiceId),
    };
    for (const [name, run] of Object.entries(commands)) {
      counter.woken();
      await run();
      expect(hasWoken(), name).to.equal(true);
    }
    const wrong = sendOnSandbox(app(), testContext, { ...transfer, to: "?" });
    expect(await wrong.catch((error: unknown) => error)).to.have.property(
      "code",
      "invalid_request",
    );
  });

  it("wakes the watcher when the block with a payment is due", async () => {
    const invoiceId = await issue();
    for (const [blockMs, isWoken] of [
      [60_000, false],
      [0, true],
    ] as const) {
      await openSandbox(app(), testContext, blockMs);
      counter.woken();
      await payOnSandbox(app(), testContext, invoiceId, 5n);
      if (isWoken) await until(`blocks of ${String(blockMs)} ms`, hasWoken, Boolean);
      else {
        await setTimeout(50);
        expect(hasWoken()).to.equal(false);
      }
    }
  });

  it("has a bill for the rest of an invoice, and for the whole price once that is paid", async () => {
    const invoiceId = await issue();
    const bill = async () => (await getSandboxBill(app(), invoiceId)).remaining;
    expect(await bill()).to.equal(25_000_000n);
    await playScenario(app(), testContext, invoiceId, "part");
    await counter.mine();
    expect(await bill()).to.equal(12_500_000n);
    await payOnSandbox(app(), testContext, invoiceId, 12_500_000n);
    await counter.mine();
    expect(await bill()).to.equal(25_000_000n);
  });

  it("replaces the block with a transfer to an invoice's address that nobody has read yet", async () => {
    const invoiceId = await issue();
    const { transactionHash } = await payOnSandbox(app(), testContext, invoiceId, 25_000_000n);
    await mineBlocks(app(), testContext, 2);
    const replaced = await reorganizeSandbox(app(), testContext, invoiceId, { drop: true });
    expect(replaced.transactions).to.include(transactionHash);
  });
});

describe("The ways to pay on the sandbox", () => {
  it("have their amounts in the token's smallest unit", () => {
    const bill = { invoiceId: "inv_1", token: "USDT", tokenDecimals: 2, remaining: 13n } as const;
    const played = (scenario: SandboxScenario, dust = 100n) => paymentsOf(scenario, bill, dust);
    expect(played("part")).to.deep.equal([{ amount: 7n }]);
    expect(played("over")).to.deep.equal([{ amount: 113n }]);
    expect(played("double")).to.deep.equal([{ amount: 13n }, { amount: 13n }]);
    expect(played("late")).to.deep.equal([{ amount: 13n }]);
    expect(played("fail")).to.deep.equal([{ amount: 13n, failed: true }]);
    expect(played("fake")).to.deep.equal([{ amount: 13n, fakeToken: true }]);
    expect(played("zero")).to.deep.equal([{ amount: 0n }]);
    expect(played("lie")).to.deep.equal([{ amount: 13n, lie: true }]);
    for (const [dust, amount] of [
      [100n, 99n],
      [2n, 1n],
      [1n, 1n],
      [0n, 1n],
    ] as const) {
      expect(played("dust", dust)).to.deep.equal([{ amount }]);
    }
  });
});

describe("The newest payment of an invoice on the sandbox", () => {
  it("is the newest one on this chain that was not rejected", () => {
    const payment = (transactionHash: string, blockHeight: number, status: PaymentStatus) => ({
      network,
      transactionHash,
      blockHeight,
      status,
    });
    const rejected = payment("c", 9, "rejected");
    const elsewhere = { ...payment("b", 10, "confirmed"), network: "base" };
    const reverted = payment("d", 8, "reverted");
    const counted = [
      payment("a", 5, "confirmed"),
      payment("e", 7, "confirming"),
      payment("f", 6, "review"),
    ];
    const newest = (...recorded: Parameters<typeof newestOf>[0]) =>
      newestOf(recorded, { id: network });
    expect(newest(elsewhere, rejected, reverted, ...counted)).to.deep.equal({
      transactions: ["d", "a", "e", "f"],
      newestHeight: 7,
    });
    expect(newest(reverted)).to.deep.equal({ transactions: ["d"], newestHeight: null });
    expect(newest(rejected, elsewhere)).to.equal(null);
  });
});
