import { expect } from "chai";
import { xpubs } from "../../support/merchants.ts";
import { eachStore } from "../../support/stores.ts";
import { expectStatus } from "../../support/app.ts";
import { eventsOf, lastOfJanuary, openEstate, type Estate, type Merchant } from "./estate.ts";

eachStore("the life of a subscription", (store) => {
  let estate: Estate;
  let shop: Merchant;

  beforeEach(async () => {
    estate = await openEstate({ place: await store.place("migrated") });
    shop = await estate.merchant();
    await expectStatus(
      estate.app.request("POST", `${shop.path}/wallets`, {
        key: shop.key,
        body: { label: "Till", network: "sandbox", xpub: xpubs.second },
      }),
      201,
    );
  });
  afterEach(() => estate.stop());

  const issue = () =>
    estate.app.request("POST", `${shop.path}/invoices`, {
      key: shop.key,
      body: {
        ...{ amount: "5", settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" },
        expiresInSeconds: 2_592_000,
      },
    });

  it("leads from a trial into debt, a suspension, and back by paying", async () => {
    const refused = await issue();
    expect([refused.status, refused.body["code"]]).to.deep.equal([403, "subscription_required"]);

    const selected = await expectStatus(estate.select(shop, "growth"), 200);
    expect(selected.body).to.include({ plan: "growth", planName: "Growth", status: "trialing" });
    const first = (await estate.subscription(shop)).openInvoice;
    expect(first).to.include({ status: "open", total: "49.00", currency: "USD" });
    const opened = await expectStatus(issue(), 201);

    await estate.live(11.5);
    expect((await estate.subscription(shop)).status).to.equal("trialing");
    await estate.live(2.5);
    const unpaid = await estate.subscription(shop);
    expect(unpaid.status).to.equal("past_due");
    expect(unpaid.openInvoice).to.include({ id: first?.id, status: "past_due" });
    await expectStatus(issue(), 201);

    await estate.live(7);
    expect((await estate.subscription(shop)).status).to.equal("suspended");
    const stopped = await issue();
    expect([stopped.status, stopped.body["code"]]).to.deep.equal([403, "subscription_suspended"]);

    // Who pays an invoice that is open is not stranded.
    const openId = opened.body["id"] as `inv_${string}`;
    await expectStatus(
      estate.app.request("GET", `/v1/checkout/${String(opened.body["checkoutId"])}`),
      200,
    );
    await estate.desk.pay(
      { actor: { type: "system", id: null, label: "payer" }, requestId: null, ip: null },
      openId,
      (await estate.desk.bill(openId)).remaining,
    );
    await estate.mine(4);
    const settled = await estate.app.request("GET", `${shop.path}/invoices/${openId}`, {
      key: shop.key,
    });
    expect(settled.body["status"]).to.equal("paid");

    await estate.pay(first?.id ?? "");
    const again = await estate.subscription(shop);
    expect(again).to.include({ status: "active", openInvoice: null });
    await expectStatus(issue(), 201);
    expect(await eventsOf(estate, shop.organizationId)).to.deep.equal([
      "platform_invoice.issued",
      "subscription.created",
      "platform_invoice.reminder",
      "subscription.trial_ending",
      "platform_invoice.past_due",
      "subscription.past_due",
      "platform_invoice.reminder",
      "platform_invoice.reminder",
      "subscription.suspended",
      "platform_invoice.paid",
      "subscription.reactivated",
    ]);
  });

  it("is billed each month from its anchor, the last of the month included", async function () {
    this.timeout(120_000);
    await expectStatus(estate.select(shop, "growth"), 200);
    const trialEnd = lastOfJanuary + 14 * 86_400_000;
    await estate.pay((await estate.subscription(shop)).openInvoice?.id ?? "");
    await estate.live(14.01);
    expect(await estate.subscription(shop)).to.include({ status: "active", openInvoice: null });
    for (let month = 0; month < 12; month += 1) {
      const { currentPeriodEnd } = await estate.subscription(shop);
      const days = (Date.parse(currentPeriodEnd) - estate.clock.now()) / 86_400_000;
      await estate.live(days + 0.01);
      const { openInvoice, status } = await estate.subscription(shop);
      expect(status).to.equal("active");
      await estate.pay(openInvoice?.id ?? "");
    }
    const all = await estate.invoices(shop);
    expect(all.map(({ number }) => number)).to.deep.equal(
      Array.from({ length: 13 }, (_, index) => `TILL-${String(index + 1).padStart(6, "0")}`),
    );
    for (const [index, invoice] of all.entries()) {
      expect(invoice["status"]).to.equal("paid");
      const next = all[index + 1];
      if (next !== undefined) expect(invoice["periodEnd"]).to.equal(next["periodStart"]);
    }
    expect(Date.parse(String(all[0]?.["periodStart"]))).to.be.within(trialEnd, trialEnd + 10_000);
  });
});
