// Money at an address of an extended key that an earlier invoice had, which a stranger started at a link.
import { expect } from "chai";
import { leaveToMerchants } from "../../../../src/features/invoices/holds/addresses.ts";
import { addressOwnerships } from "../../../../src/features/wallets/table.ts";
import { day, hour } from "../../../../src/kernel/clock.ts";
import { expectStatus, type Json, type Merchant } from "../../../support/app.ts";
import { xpubOf } from "../../../support/merchants.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";
import { usdt } from "../../../support/amounts.ts";
import { openCounter, suggestedFor, type Counter } from "../../../support/counter.ts";

/** The addresses in a row that ordinary wallets scan. */
const gap = 20;

eachStore("Money at an address that another invoice had before", (store) => {
  let counter: Counter;
  let merchant: Merchant;
  let link: string;
  let wallets = 100;
  before(async () => {
    counter = await openCounter(store);
  });
  after(() => counter.stop());
  beforeEach(async () => {
    merchant = await counter.merchant();
    const wallet = { label: "Keys", network: "sandbox", xpub: xpubOf((wallets += 1)) };
    await expectStatus(counter.post(merchant, "/wallets", wallet), 201);
    const terms = { settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };
    const made = await counter.post(merchant, "/payment-links", { ...terms, amount: "25.00" });
    link = `/link/${String(made.body["id"])}`;
  });

  const read = ({ id }: Json) => counter.get(merchant, `/invoices/${String(id)}`);
  const issue = (input: Json = {}) => counter.issue(merchant, input);
  const enter = async () => {
    const body = new URLSearchParams({ amount: "" });
    const answer = await fetch(counter.app.url + link, {
      method: "POST",
      body,
      redirect: "manual",
    });
    expect(answer.headers.get("location")).to.match(/^\/pay\//);
  };
  /**
   * Starts invoices for 25.00 at the link, and lets them expire. Then the merchant issues as many, so that all addresses
   * which ordinary wallets scan are taken. Returns those of the link, oldest first.
   */
  const strangers = async () => {
    for (let place = 0; place < gap / 2; place += 1) {
      await enter();
      counter.app.clock.advance(2);
    }
    counter.app.clock.advance(2 * hour);
    await counter.mine(2);
    await counter.sweep();
    const found = await counter.list(merchant, "/invoices?limit=100");
    expect(found.every(({ status }) => status === "expired")).to.equal(true);
    for (let place = 0; place < gap / 2; place += 1) await issue({ amount: "77.00" });
    return found.toReversed();
  };
  const pay = async ({ walletAddress }: Json, amount: string, token = "USDT") => {
    const to = String(walletAddress).slice(2).toLowerCase();
    await counter.pay(to, usdt(amount), { token });
    await counter.mine(3);
  };
  const inbox = () => counter.list(merchant, "/transfers?status=unmatched");

  /** Strangers' invoices, and the merchant's next one, which has the address of the oldest. */
  const recycled = async (input: Json = { amount: "30.00" }) => {
    const dead = await strangers();
    const next = await issue(input);
    expect(next["walletAddress"]).to.equal(dead[0]?.["walletAddress"]);
    return { former: dead[0] ?? {}, next };
  };

  it("is the present invoice's if it is exactly what that one asks for", async () => {
    const { former, next } = await recycled();
    await pay(next, "30.00");
    expect(await read(next)).to.include({ status: "paid", paidAmount: "30.00" });
    expect(await read(former)).to.include({ status: "expired", paidAmount: "0.00" });
    expect(await inbox()).to.deep.equal([]);
  });

  for (const [whose, amount] of [
    ["exactly the earlier one's amount", "25.00"],
    ["neither's amount, such as one that an exchange delivers", "24.00"],
  ] as const) {
    it(`waits for the merchant if it is ${whose}, with both invoices suggested`, async () => {
      const { former, next } = await recycled();
      await pay(next, amount);
      for (const one of [former, next]) expect(await read(one)).to.include({ paidAmount: "0.00" });
      const [found = {}] = await inbox();
      expect(found).to.include({ waitingReason: "reused_address" });
      expect(suggestedFor(found).map(({ invoiceId }) => invoiceId)).to.have.members([
        former["id"],
        next["id"],
      ]);
      const allocations = [{ invoiceId: next["id"], amount }];
      const path = `/transfers/${String(found["id"])}/allocate`;
      await expectStatus(counter.post(merchant, path, { allocations }), 200);
      expect((await read(next))["paidAmount"]).to.equal(amount);
    });
  }

  it("waits for the merchant in another token of the same amount, and pays nobody", async () => {
    const { next } = await recycled();
    await pay(next, "30.00", "USDC");
    expect(await read(next)).to.include({ status: "open" });
    expect(await inbox()).to.have.length(1);
  });

  it("is the present invoice's, whatever its amount, once the late window of the earlier one is over", async () => {
    const { next } = await recycled({ amount: "30.00", expiresInSeconds: 30 * 24 * 3_600 });
    counter.app.clock.advance(8 * day);
    await pay(next, "10.00");
    expect(await read(next)).to.include({ status: "partially_paid", paidAmount: "10.00" });
  });

  it("is still looked for until the earlier one's late window ends, if the merchant has shortened it since", async () => {
    const dead = await strangers();
    await counter.app.app.db.write(testContext, (tx) =>
      tx.run("UPDATE organizations SET late_window_days = 1 WHERE id = $1", [
        merchant.organizationId,
      ]),
    );
    const next = await issue({ amount: "30.00" });
    expect(dead.map(({ walletAddress }) => walletAddress)).not.to.include(next["walletAddress"]);
    counter.app.clock.advance(4 * day);
    await counter.mine(2);
    await counter.sweep();
    await pay(dead[0] ?? {}, "25.00");
    expect(await inbox()).to.have.length(0);
    expect((await read(dead[0] ?? {}))["paidAmount"]).to.equal("25.00");
  });

  it("is the present invoice's if the address was free for longer than the earlier one's late window", async () => {
    await issue();
    counter.app.clock.advance(9 * day);
    await counter.mine();
    await counter.sweep();
    const next = await issue({ amount: "30.00" });
    const [first] = (await counter.list(merchant, "/invoices?limit=100")).toReversed();
    expect(next["walletAddress"]).to.equal(first?.["walletAddress"]);
    await pay(next, "10.00");
    expect(await read(next)).to.include({ status: "partially_paid", paidAmount: "10.00" });
  });

  it("waits for the merchant after a restore, at every unpaid address of a link, even if it is exact", async () => {
    await enter();
    const { db } = counter.app.app;
    await db.write(testContext, leaveToMerchants);
    const [started = {}] = await counter.list(merchant, "/invoices");
    await pay(started, "25.00");
    expect(await read(started)).to.include({ status: "open" });
    expect((await inbox())[0]).to.include({ waitingReason: "reused_address" });
  });

  it("keeps an address from being given again, even if it is dust", async () => {
    const dead = await strangers();
    await pay(dead[0] ?? {}, "0.000001");
    const next = await issue({ amount: "30.00" });
    expect(next["walletAddress"]).to.equal(dead[1]?.["walletAddress"]);
    const { db } = counter.app.app;
    const spent = await db.find(
      addressOwnerships,
      "WHERE organization_id = $1 AND derived_state = 'spent'",
      [merchant.organizationId],
    );
    expect(spent.map(({ keyIndex }) => keyIndex)).to.deep.equal([1]);
  });

  it("pays its invoice in each token that the payer has chosen, in parts too", async () => {
    const paymentOptions = ["USDT", "USDC"].map((tokenSymbol) => ({
      network: "sandbox",
      tokenSymbol,
    }));
    const optional = { network: undefined, tokenSymbol: undefined, paymentOptions };
    const choose = async (invoice: Json, tokenSymbol: string) => {
      const path = `/v1/checkout/${String(invoice["checkoutId"])}/option`;
      const body = { network: "sandbox", tokenSymbol };
      await expectStatus(counter.app.request("POST", path, { body }), 200);
    };
    const made = await issue(optional);
    await choose(made, "USDC");
    const shown = await read(made);
    expect(shown).to.include({ tokenSymbol: "USDC", walletAddress: made["walletAddress"] });
    await pay(made, "10.00", "USDT");
    expect(await read(made)).to.include({ status: "partially_paid", paidAmount: "10.00" });
    await pay(made, "15.00", "USDC");
    expect(await read(made)).to.include({ status: "paid", paidAmount: "25.00" });
    const other = await issue(optional);
    await pay(other, "25.00", "USDC");
    expect(await read(other)).to.include({ status: "open", paidAmount: "0.00" });
  });
});
