// What becomes of a price whose amounts at an address are all held, most of them by dead invoices.
import { expect } from "chai";
import { holds } from "../../../src/features/invoices/table.ts";
import { day, hour } from "../../../src/kernel/clock.ts";
import { expectStatus } from "../../support/app.ts";
import { xpubs } from "../../support/merchants.ts";
import { eachStore, testContext } from "../../support/stores.ts";
import { openCounter, type Counter, type Json, type Merchant } from "./counter.ts";

/** 1 % of a hundredth is a ten-thousandth: the price and a hundred surcharges of six decimals. */
const places = 101;
const usdt = (text: unknown): bigint => BigInt(Math.round(Number(text) * 1_000_000));

eachStore("A price whose amounts are all held", (store) => {
  store.leavesUnsound({
    checks: ["holds.invoice"],
    because: "a band is filled by holds of one invoice",
  });

  let counter: Counter;
  let merchant: Merchant;
  let address = "";
  before(async function () {
    this.timeout(120_000);
    counter = await openCounter(store);
  });
  after(() => counter.stop());
  beforeEach(async () => {
    merchant = await counter.merchant();
    address = await counter.wallet(merchant);
  });

  const issue = () => counter.issue(merchant, { amount: "0.01" });
  const create = () => {
    const priced = { amount: "0.01", settlementCurrency: "USD", tokenSymbol: "USDT" };
    return counter.post(merchant, "/invoices", { ...priced, network: "sandbox" });
  };
  const read = (one: Json) => counter.get(merchant, `/invoices/${String(one["id"])}`);
  const cancel = (one: Json) =>
    expectStatus(counter.post(merchant, `/invoices/${String(one["id"])}/cancel`), 200);

  /** Fills the band: some invoices that are canceled, the oldest first, and holds of one that stays open. */
  async function fill(dead: number): Promise<Json[]> {
    const canceled: Json[] = [];
    for (let count = 0; count < dead; count += 1) {
      canceled.push(await issue());
      counter.app.clock.advance(1);
    }
    const open = await issue();
    const { db } = counter.app.app;
    const own = await db.find(holds, "WHERE organization_id = $1", [merchant.organizationId]);
    const [held] = own.filter(({ invoiceId }) => invoiceId === open["id"]);
    if (held === undefined) throw new Error("nothing is held");
    const taken = new Set(own.map(({ amount }) => amount));
    const free = Array.from({ length: places }, (_, step) => 10_000n + BigInt(step)).filter(
      (amount) => !taken.has(amount),
    );
    await db.write(testContext, (tx) =>
      tx.insertMany(
        holds,
        free.map((amount) => ({
          ...held,
          ...{ id: counter.app.app.ids.next("hold", counter.app.clock.now()), amount },
        })),
      ),
    );
    expect((await create()).body["code"]).to.equal("wallet_capacity_exhausted");
    for (const one of canceled) await cancel(one);
    return canceled;
  }

  it("gives the amounts of the oldest canceled invoices again, and never a live one's", async () => {
    const dead = await fill(3);
    // The bare price of the first is nobody's while others are live.
    const amounts = [await issue(), await issue()].map((one) => one["payableAmount"]);
    expect(amounts).to.have.members(dead.slice(1).map((one) => one["payableAmount"]));
    expect((await create()).body["code"]).to.equal("wallet_capacity_exhausted");
  });

  it("lets money of a recycled amount wait for the merchant, naming both invoices", async () => {
    const [, dead = {}] = await fill(2);
    const next = await issue();
    const amount = next["payableAmount"];
    expect(amount).to.equal(dead["payableAmount"]);
    await counter.pay(address, usdt(amount));
    await counter.mine(3);
    expect(await read(next)).to.include({ status: "open", paidAmount: "0.00" });
    expect(await read(dead)).to.include({ status: "canceled", paidAmount: "0.00" });
    const [found] = await counter.list(merchant, "/transfers?status=unmatched");
    const suggested = (found?.["suggestions"] as Json[]).map(({ invoiceId, amount: left }) => [
      ...[invoiceId, left],
    ]);
    expect(suggested.slice(0, 2)).to.have.deep.members([
      [next["id"], amount],
      [dead["id"], amount],
    ]);
    const allocations = [{ invoiceId: next["id"], amount }];
    const path = `/transfers/${String(found?.["id"])}/allocate`;
    await expectStatus(counter.post(merchant, path, { allocations }), 200);
    expect(await read(next)).to.include({ status: "confirming" });
  });

  it("matches a recycled amount again when the earlier invoice's late window is over", async () => {
    const policy = `/v1/organizations/${merchant.organizationId}/payment-policy`;
    const set = { key: merchant.key, body: { lateWindowDays: 1 } };
    await expectStatus(counter.app.request("PATCH", policy, set), 200);
    await fill(2);
    const next = await counter.issue(merchant, { amount: "0.01", expiresInSeconds: 172_800 });
    counter.app.clock.advance(day + hour);
    await counter.pay(address, usdt(next["payableAmount"]));
    await counter.mine(1);
    expect(await read(next)).to.include({ status: "confirming" });
  });

  it("is no matter where the organization has an extended key, which is tried first", async () => {
    const body = { label: "Keys", network: "sandbox", xpub: xpubs.first };
    const made = await expectStatus(counter.post(merchant, "/wallets", body), 201);
    await counter.wallet(merchant);
    expect(await issue()).to.include({ walletId: made.body["id"], payableAmount: "0.01" });
  });
});
