import { expect } from "chai";
import { reorganizeSandbox } from "../../../../src/features/payments/sandbox/sandbox.ts";
import { billingChecks } from "../../../../src/features/billing/checks.ts";
import { expectStatus, type Merchant } from "../../../support/app.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { eventsOf, openEstate, type Estate } from "../billing-fleet.ts";

eachStore("payments of platform invoices", (store) => {
  const it = takeTurns(store);
  let estate: Estate;
  let shop: Merchant;
  let first: string;

  beforeEach(async () => {
    estate = await openEstate({ place: await store.place("migrated") });
    shop = await estate.merchant();
    await expectStatus(estate.select(shop, "growth"), 200);
    first = (await estate.subscription(shop)).openInvoice?.id ?? "";
  });
  afterEach(async () => {
    // All billing checks pass after every test.
    for (const check of billingChecks) {
      expect(await check.run(estate.db), check.name).to.deep.equal([]);
    }
    await estate.stop();
  });

  async function credits(): Promise<Record<string, unknown>[]> {
    const path = `/v1/admin/organizations/${shop.organizationId}/credits`;
    const answer = await expectStatus(
      estate.app.request("GET", path, { key: estate.platformKey }),
      200,
    );
    return answer.body["data"] as Record<string, unknown>[];
  }

  it("credit an overpayment once, created by system", async () => {
    await estate.pay(first, 49_710_000n);
    await estate.mine(3);
    const [credit, ...others] = await credits();
    expect(others).to.deep.equal([]);
    expect(credit).to.include({ amount: "0.71", remaining: "0.71", createdBy: "system" });
    expect(credit?.["reason"]).to.match(/^Overpayment of TILL-000001 by transaction 0x/);
    await estate.live(14.01);
    const { currentPeriodEnd } = await estate.subscription(shop);
    await estate.live((Date.parse(currentPeriodEnd) - estate.clock.now()) / 86_400_000 + 0.01);
    const { openInvoice } = await estate.subscription(shop);
    expect(openInvoice?.total).to.equal("48.29");
  });

  it("leave an invoice paid while more than its exact total is being confirmed", async () => {
    await estate.pay(first);
    await estate.send(first, 1_000_000n);
    await estate.mine(1);
    expect((await estate.subscription(shop)).openInvoice).to.equal(null);
    expect((await estate.invoices(shop)).map(({ status }) => status)).to.deep.equal(["paid"]);
    expect(await eventsOf(estate, shop.organizationId)).not.to.include("platform_invoice.reverted");
    expect(await credits()).to.deep.equal([]);
  });

  it("become a credit if the invoice was voided, and its replacement stays open", async () => {
    const [collectionInvoice] = await estate.collectionInvoices(first);
    const changed = await expectStatus(estate.change(shop, "scale"), 200);
    expect(changed.body).to.include({
      plan: "growth",
      status: "trialing",
      pendingPlan: "scale",
    });
    const all = await estate.invoices(shop);
    expect(all.map(({ status, total }) => [status, total])).to.deep.equal([
      ["void", "49.00"],
      ["open", "199.00"],
    ]);
    expect(all[1]?.["dueAt"]).to.equal(all[0]?.["dueAt"]);
    await estate.send(first, 49_000_000n, collectionInvoice);
    await estate.mine(4);
    const [credit] = await credits();
    expect(credit).to.include({ amount: "49.00", createdBy: "system" });
    expect(credit?.["reason"]).to.contain("Payment of void invoice TILL-000001");
    expect((await estate.subscription(shop)).openInvoice?.total).to.equal("199.00");
  });

  it("are taken back when a reorganization removes their blocks, with a day to pay again", async () => {
    await estate.pay(first, 50_000_000n);
    expect((await estate.subscription(shop)).openInvoice).to.equal(null);
    expect(await credits()).to.have.length(1);
    await estate.live(13.9);
    await reorganizeSandbox(estate.app.app, testContext, 5, { drop: true });
    await estate.look();
    const { openInvoice } = await estate.subscription(shop);
    expect(openInvoice).to.include({ id: first, status: "open" });
    expect((await credits()).filter(({ status }) => status === "available")).to.deep.equal([]);
    await estate.live(0.2);
    expect((await estate.subscription(shop)).status).to.equal("trialing");
    await estate.pay(first);
    await estate.live(0.1);
    expect(await estate.subscription(shop)).to.include({ status: "active", openInvoice: null });
    expect(await eventsOf(estate, shop.organizationId)).to.include("platform_invoice.reverted");
  });

  it("postpone dunning for a day while they are being confirmed", async () => {
    await estate.live(13.9);
    await estate.send(first);
    await estate.mine(1);
    await estate.live(0.2);
    expect((await estate.subscription(shop)).status).to.equal("trialing");
    await estate.mine(2);
    await estate.run();
    expect(await estate.subscription(shop)).to.include({ status: "active", openInvoice: null });
  });

  it("complete a part payment at a second collection invoice after the first has expired", async () => {
    await estate.pay(first, 9_000_000n);
    await estate.live(14);
    await estate.live(7);
    await estate.live(30);
    expect((await estate.subscription(shop)).status).to.equal("canceled");
    const again = await estate.select(shop, "growth");
    expect([again.status, again.body["code"]]).to.deep.equal([409, "platform_invoice_unpaid"]);
    const { openInvoice: debt } = await estate.subscription(shop);
    expect(again.body["detail"]).to.include(`Pay TILL-000001 at ${debt?.checkoutUrl ?? ""} first`);
    await estate.live(1);
    expect(await estate.collectionInvoices(first)).to.have.length(2);
    expect((await estate.subscription(shop)).openInvoice?.id).to.equal(first);
    await estate.pay(first, 40_000_000n);
    expect((await estate.subscription(shop)).openInvoice).to.equal(null);
    const selected = await expectStatus(estate.select(shop, "growth"), 200);
    // An organization has only one trial.
    expect(selected.body).to.include({ status: "active", trialEndsAt: null });
  });
});
