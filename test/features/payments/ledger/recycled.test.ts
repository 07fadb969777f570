// A price whose amounts at an address are all held, most of them by dead invoices.
import { expect } from "chai";
import { matchHolds } from "../../../../src/features/invoices/holds/matching.ts";
import { holds } from "../../../../src/features/invoices/table.ts";
import { day, hour } from "../../../../src/kernel/clock.ts";
import { expectStatus, type Json } from "../../../support/app.ts";
import { testNetworks, xpubs } from "../../../support/merchants.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";
import { openDesk, suggestedFor } from "../../../support/counter.ts";
import { longChain, unseen } from "../../../support/amounts.ts";

/** 1 % of 0.01 is 0.0001: the bare price and a hundred surcharges of six decimals. */
const places = 101;

eachStore("A price whose amounts are all held", (store) => {
  store.leavesUnsound({
    checks: ["holds.invoice"],
    because: "a band is filled by holds of one invoice",
  });

  const shop = openDesk(store);
  const { read, post, pay, inboxed } = shop;
  const issue = (input: Json = {}) => shop.issue({ amount: "0.01", ...input });
  const create = () => {
    const priced = { amount: "0.01", settlementCurrency: "USD", tokenSymbol: "USDT" };
    return post("/invoices", { ...priced, network: "sandbox" });
  };
  const cancel = (one: Json) => expectStatus(post(`/invoices/${String(one["id"])}/cancel`), 200);

  /** Fills the band with canceled invoices, oldest first, and with holds of one that stays open. */
  async function fill(dead: number): Promise<Json[]> {
    const canceled: Json[] = [];
    for (let count = 0; count < dead; count += 1) {
      canceled.push(await issue());
      shop.counter.app.clock.advance(1);
    }
    const open = await issue();
    const { db } = shop.counter.app.app;
    const own = await db.find(holds, "WHERE organization_id = $1", [shop.merchant.organizationId]);
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
          id: shop.counter.app.app.ids.next("hold", shop.counter.app.clock.now()),
          amount,
        })),
      ),
    );
    expect((await create()).body["code"]).to.equal("wallet_capacity_exhausted");
    for (const one of canceled) await cancel(one);
    return canceled;
  }

  it("recycles the amounts of the oldest canceled invoices, and never those of live ones", async () => {
    const dead = await fill(3);
    // The first invoice's bare price stays unused while others are live.
    const amounts = [await issue(), await issue()].map((one) => one["payableAmount"]);
    expect(amounts).to.have.members(dead.slice(1).map((one) => one["payableAmount"]));
    expect((await create()).body["code"]).to.equal("wallet_capacity_exhausted");
  });

  it("leaves a payment of a recycled amount to the merchant, with both invoices suggested", async () => {
    const [, dead = {}] = await fill(2);
    const next = await issue();
    const amount = next["payableAmount"];
    expect(amount).to.equal(dead["payableAmount"]);
    await pay(amount);
    expect(await read(next)).to.include({ status: "open", paidAmount: "0.00" });
    expect(await read(dead)).to.include({ status: "canceled", paidAmount: "0.00" });
    const found = await inboxed();
    expect(found).to.include({ waitingReason: "ambiguous_amount" });
    const suggested = suggestedFor(found).map((one) => [one["invoiceId"], one["amount"]]);
    expect(suggested.slice(0, 2)).to.have.deep.members([
      [next["id"], amount],
      [dead["id"], amount],
    ]);
    const allocations = [{ invoiceId: next["id"], amount }];
    const path = `/transfers/${String(found?.["id"])}/allocate`;
    await expectStatus(post(path, { allocations }), 200);
    expect(await read(next)).to.include({ status: "confirming" });
  });

  it("recycles a hold that is not in force, for an option that is chosen", async () => {
    const offered = ["USDC", "USDT"].map((tokenSymbol) => ({ network: "sandbox", tokenSymbol }));
    const offer = async () => {
      const priced = { amount: "0.01", settlementCurrency: "USD", paymentOptions: offered };
      return (await expectStatus(post("/invoices", priced), 201)).body;
    };
    const choose = ({ checkoutId }: Json, tokenSymbol: string) =>
      shop.counter.app.request("POST", `/v1/checkout/${String(checkoutId)}/option`, {
        body: { network: "sandbox", tokenSymbol },
      });
    const usdtOf = async (invoice: Json) =>
      ((await read(invoice))["paymentOptions"] as Json[])[1]?.["payableAmount"];
    await issue();
    const dead = await offer();
    await expectStatus(choose(dead, "USDT"), 200);
    await expectStatus(choose(dead, "USDC"), 200);
    await fill(0);
    const next = await offer();
    expect((await choose(next, "USDT")).body["code"]).to.equal("wallet_capacity_exhausted");
    await cancel(dead);
    await expectStatus(choose(next, "USDT"), 200);
    const amount = await usdtOf(next);
    expect(amount).to.equal(await usdtOf(dead));
    await expectStatus(choose(next, "USDC"), 200);

    // A payer of either may have sent it, so nobody is credited.
    await pay(amount);
    expect(await read(next)).to.include({ status: "open", tokenSymbol: "USDC" });
    expect(await read(dead)).to.include({ status: "canceled", paidAmount: "0.00" });
    const found = await inboxed();
    const suggested = suggestedFor(found).map((one) => [one["invoiceId"], one["amount"]]);
    expect(suggested).to.deep.include.members([
      [next["id"], amount],
      [dead["id"], amount],
    ]);
    const allocations = [{ invoiceId: next["id"], amount }];
    await expectStatus(post(`/transfers/${String(found?.["id"])}/allocate`, { allocations }), 200);
    expect(await read(next)).to.include({
      status: "confirming",
      tokenSymbol: "USDT",
      paidAmount: "0.01",
    });
  });

  it("leaves it to the merchant too while the time of its block is not confirmed", async () => {
    await fill(2);
    const next = await issue();
    const { db } = shop.counter.app.app;
    const [held] = await db.find(holds, "WHERE invoice_id = $1", [next["id"] as string]);
    if (held === undefined) throw new Error("nothing is held");
    const { token, address, amount } = held;
    const transfer = { key: "trf_uncertain", token, address, amount, blockTime: null, ...unseen };
    const sandbox = testNetworks("sandbox").get("sandbox");
    if (sandbox === undefined) throw new Error("sandbox is not enabled");
    const found = await db.write(testContext, (tx) =>
      matchHolds(tx, sandbox, [transfer], longChain),
    );
    expect(found.get("trf_uncertain")).to.include({
      invoiceId: next["id"],
      objection: "ambiguous_amount",
    });
  });

  it("matches a recycled amount again after the earlier invoice's late window", async () => {
    const policy = `/v1/organizations/${shop.merchant.organizationId}/payment-policy`;
    const set = { key: shop.merchant.key, body: { lateWindowDays: 1 } };
    await expectStatus(shop.counter.app.request("PATCH", policy, set), 200);
    await fill(2);
    const next = await issue({ expiresInSeconds: 172_800 });
    shop.counter.app.clock.advance(day + hour);
    await pay(next["payableAmount"], 1);
    expect(await read(next)).to.include({ status: "confirming" });
  });

  it("does not matter if the invoice names a wallet with an extended public key", async () => {
    const body = { label: "Keys", network: "sandbox", xpub: xpubs.first };
    const made = await expectStatus(post("/wallets", body), 201);
    await fill(1);
    const walletId = made.body["id"];
    expect(await issue({ walletId })).to.include({ walletId, payableAmount: "0.01" });
  });
});
