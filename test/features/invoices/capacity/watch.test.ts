// The warning to an organization, and the recycling of holds, while the amounts of one price at an address are used up.
import { expect } from "chai";
import { isSameCrowd, watchCapacity } from "../../../../src/features/invoices/capacity/watch.ts";
import { systemActor } from "../../../../src/kernel/actor.ts";
import { day, minute } from "../../../../src/kernel/clock.ts";
import { createRelay, type Subscriber } from "../../../../src/platform/events/outbox.ts";
import { createLeases } from "../../../../src/platform/jobs/leases.ts";
import { expectStatus, type Json } from "../../../support/app.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { openDesk } from "../../../support/counter.ts";

/** Long enough that a day later only canceled invoices have ended. */
const lasting = { expiresInSeconds: 172_800 };
/** 1 % of 0.01 is 0.0001: the price and a hundred surcharges with six decimals. */
const places = 101;

eachStore("The amounts of one price at an address", (store) => {
  const it = takeTurns(store);
  const shop = openDesk(store);

  /** The relay of another server on the same store. */
  function relay() {
    const { app } = shop.counter.app;
    const { db, clock, ids } = app;
    const capacityWatch: Subscriber = (tx, relayed) => watchCapacity(tx, app, relayed);
    const leases = createLeases({ db, clock, ids, actor: systemActor("tests") });
    const worker = createRelay({ db, leases, subscribers: [capacityWatch], context: testContext });
    return async () => {
      // The second run delivers the events that the first one caused.
      for (const _ of [1, 2]) await worker.run(new AbortController().signal);
      await leases.releaseAll();
    };
  }
  const relayEvents = () => relay()();
  async function issue(count: number, input: Json = {}): Promise<Json[]> {
    const made: Json[] = [];
    for (let place = 0; place < count; place += 1) {
      made.push(await shop.issue({ amount: "0.01", ...input }));
      shop.counter.app.clock.advance(1);
    }
    return made;
  }
  const events = () =>
    shop.counter.list(shop.merchant, "/events?types=wallet_capacity.half_used&limit=100");
  async function live(): Promise<Json[]> {
    return shop.counter.app.app.db.all(
      `SELECT invoice_id AS "invoiceId" FROM holds WHERE organization_id = $1 AND released_at IS NULL`,
      [shop.merchant.organizationId],
    );
  }
  /** Releases the holds that have ended. */
  const sweep = () => shop.counter.sweep(shop.counter.app.clock.now());
  const cancel = (one: Json) =>
    expectStatus(shop.post(`/invoices/${String(one["id"])}/cancel`), 200);

  it.onBoth(
    "cause one warning when half of them are held, and another only after fewer were held",
    async () => {
      const policy = `/v1/organizations/${shop.merchant.organizationId}/payment-policy`;
      const set = { key: shop.merchant.key, body: { lateWindowDays: 1 } };
      await expectStatus(shop.counter.app.request("PATCH", policy, set), 200);
      const made = await issue(50, lasting);
      await relayEvents();
      expect(await events()).to.deep.equal([]);
      await issue(1, lasting);
      // Two servers at the same time.
      await Promise.all([relayEvents(), relayEvents()]);
      await relayEvents();
      const [told, ...more] = await events();
      expect(more).to.deep.equal([]);
      const [wallet] = await shop.counter.list(shop.merchant, "/wallets");
      expect(told?.["data"]).to.deep.include({
        walletId: wallet?.["id"],
        network: "sandbox",
        kind: "address",
        addresses: null,
        tokens: [{ tokenSymbol: "USDT", price: "0.01", used: 51, free: 50, usedPercent: 50 }],
      });
      await issue(5, lasting);
      await relayEvents();
      expect(await events()).to.have.length(1);

      for (const one of made.slice(20, 35)) await cancel(one);
      shop.counter.app.clock.advance(day + minute);
      await sweep();
      await issue(2, lasting);
      await relayEvents();
      expect(await live()).to.have.length(43);
      expect(await events()).to.have.length(1);
      await issue(10, lasting);
      await relayEvents();
      expect(await events()).to.have.length(2);
      expect(await events()).to.satisfy((all: Json[]) =>
        all.every(({ organizationId }) => organizationId === shop.merchant.organizationId),
      );
    },
  );

  it("cause one warning if each invoice has its own price because rates move", async () => {
    for (let place = 0; place < 75; place += 1) {
      const amount = `0.0100${String(place % 20).padStart(2, "0")}`;
      await issue(1, { amount, settlementCurrency: "USDT" });
      if (place % 5 === 0) await relayEvents();
    }
    await relayEvents();
    expect(await events()).to.have.length(1);
  });

  it("are recycled once nine tenths are held, those of the oldest dead invoices first", async () => {
    const made = await issue(90);
    // The first one has the bare price, which is not available again while others are live.
    for (const one of made.slice(3, 6)) await cancel(one);
    await relayEvents();
    expect(await live()).to.have.length(90);
    await issue(1);
    await relayEvents();
    const kept = (await live()).map(({ invoiceId }) => invoiceId);
    expect(kept).to.have.length(90);
    expect(kept).not.to.include(made[3]?.["id"]);
    expect(kept).to.include(made[4]?.["id"]);
    await issue(2);
    await relayEvents();
    expect(await live()).to.have.length(90);
    // No dead invoices are left.
    await issue(places - 90);
    await relayEvents();
    expect(await live()).to.have.length(places);
  });
});

describe("A price that was warned about", () => {
  const warned = { network: "tron", address: "T1", token: "USDT", price: 10_000n };
  /** A price whose largest surcharge is 100. */
  const priceAt = (base: bigint, place: Partial<typeof warned> = {}) => ({
    ...warned,
    range: { base, cap: 100n },
    ...place,
  });

  it("stands for those that share at least half of its amounts, above it and below it", () => {
    for (const base of [9_950n, 10_000n, 10_050n])
      expect(isSameCrowd(warned, priceAt(base)), String(base)).to.equal(true);
    for (const base of [1n, 9_949n, 10_051n, 30_000n])
      expect(isSameCrowd(warned, priceAt(base)), String(base)).to.equal(false);
  });

  it("does not stand for the same price on another network, at another address or in another token", () => {
    for (const place of [{ network: "bsc" }, { address: "T2" }, { token: "USDC" }])
      expect(isSameCrowd(warned, priceAt(10_000n, place)), JSON.stringify(place)).to.equal(false);
  });
});
