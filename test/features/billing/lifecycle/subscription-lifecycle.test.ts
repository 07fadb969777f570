import { expect } from "chai";
import { boundary } from "../../../../src/features/billing/periods.ts";
import { toIso } from "../../../../src/kernel/clock.ts";
import { auditLogs } from "../../../../src/platform/audit/chain.ts";
import {
  approve,
  expectStatus,
  legalFields,
  register,
  merchantOf,
  keyOf,
  order,
  type Merchant,
} from "../../../support/app.ts";
import { xpubs } from "../../../support/merchants.ts";
import { payInvoice } from "../../../support/sandbox.ts";
import { eachStore, takeTurns } from "../../../support/store/stores.ts";
import { eventsOf, openEstate, plansFile, type Estate } from "../billing-fleet.ts";
import { cpuMs } from "../../../support/cpu-time.ts";

const day = 86_400_000;
const isWhole = process.env["TILL_PROVE"] === "1";
/** Days per step of the clock, and invoices issued after each step. */
const tickDays = isWhole ? 1 : 8;
const perTick = isWhole ? 1 : 2;
const included = 5;
/** The trial ends on the last day of January. */
const start = Date.UTC(2026, 0, 17, 10);
const june = Date.UTC(2026, 5, 1);
const file = plansFile({
  growth: { name: "Growth", price: "49.00", trialDays: 14 },
  small: { price: "10.00", trialDays: 14, includedInvoices: included, overagePrice: "0.35" },
});

eachStore("the life of a subscription", (store) => {
  const it = takeTurns(store);
  let estate: Estate;
  let shop: Merchant;

  beforeEach(async () => {
    estate = await openEstate({
      place: await store.place("migrated"),
      settings: { TILL_PLANS_FILE: file },
      start,
    });
    shop = await join();
    await shop.addWallet({ xpub: xpubs.second });
  });
  afterEach(() => estate.stop());

  /** Registers a merchant, has it approved and creates a key, each through its API operation. */
  async function join(): Promise<Merchant> {
    const person = await register(estate.app);
    const { path } = person;
    const { token } = person;
    await expectStatus(estate.app.request("PATCH", path, { token, body: legalFields }), 200);
    await expectStatus(estate.app.request("POST", `${path}/kyb/submit`, { token }), 200);
    await approve(estate.app, estate.platformKey, person.organizationId);
    return merchantOf(estate.app, person, await keyOf(estate.app, person, "read", "write"));
  }

  const issue = () =>
    shop.post("/invoices", { ...order, amount: "5", expiresInSeconds: 2_592_000 });

  it("leads from a trial through debt and suspension back to active by payment", async () => {
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

    // Payers can still pay an invoice that is already open.
    const openId = opened.body["id"] as `inv_${string}`;
    await expectStatus(
      estate.app.request("GET", `/v1/checkout/${String(opened.body["checkoutId"])}`),
      200,
    );
    await payInvoice(estate.app, openId);
    await estate.mine(4);
    expect((await shop.get(`/invoices/${openId}`))["status"]).to.equal("paid");

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

  it("is billed for a year from its anchor and for its usage, through a suspension, with less than a minute of processor time", async () => {
    const before = cpuMs();
    await expectStatus(estate.select(shop, "small"), 200);
    const trialEnd = Date.parse((await estate.subscription(shop)).trialEndsAt ?? "");
    const issuedAt: number[] = [];
    const statuses = new Set<string>();
    while (estate.clock.now() < trialEnd + 366 * day) {
      await estate.live(tickDays);
      const { status, openInvoice } = await estate.subscription(shop);
      statuses.add(status);
      // From June on, no invoice is paid until the subscription is suspended.
      const isPaying = estate.clock.now() < june || statuses.has("suspended");
      if (isPaying && openInvoice !== null) await estate.pay(openInvoice.id);
      for (let made = 0; made < perTick; made += 1) {
        const answer = await issue();
        expect(answer.status, answer.text).to.be.oneOf([201, 403]);
        if (answer.status === 201) issuedAt.push(Date.parse(String(answer.body["issuedAt"])));
      }
    }
    expect(cpuMs() - before).to.be.below(60_000);
    expect([...statuses]).to.have.members(["trialing", "active", "past_due", "suspended"]);
    const all = await estate.invoices(shop);
    expect(all.length).to.be.within(12, 13);
    for (const [index, invoice] of all.entries()) {
      expect(invoice["number"]).to.equal(`TILL-${String(index + 1).padStart(6, "0")}`);
      const before = all[index - 1];
      if (before === undefined) continue;
      expect(invoice["periodStart"]).to.equal(before["periodEnd"]);
      // Each invoice bills exactly the overage of the previous period.
      const [from, to] = [before["periodStart"], before["periodEnd"]].map((text) =>
        Date.parse(String(text)),
      );
      const used = issuedAt.filter((at) => at >= (from ?? 0) && at < (to ?? 0)).length;
      const lines = invoice["lines"] as { kind: string; quantity: number }[];
      const beyond = lines.find(({ kind }) => kind === "usage")?.quantity ?? 0;
      expect(beyond, String(invoice["number"])).to.equal(Math.max(0, used - included));
      expect(invoice["total"]).to.equal((10 + beyond * 0.35).toFixed(2));
    }
    // Each period begins on the anchor's day, the 31st, or on the month's last day.
    expect(all.map(({ periodStart }) => periodStart)).to.deep.equal(
      all.map((_, index) => toIso(boundary(trialEnd, "month", index))),
    );
    // The audit log names each renewal's invoice.
    const renewals = await estate.db.find(
      auditLogs,
      "WHERE action = 'subscription.renewed' ORDER BY id",
    );
    const paid = all.slice(1).filter(({ periodStart }) => Date.parse(String(periodStart)) < june);
    expect(paid).not.to.have.length(0);
    expect(renewals.slice(0, paid.length).map(({ changes }) => changes["invoice"])).to.deep.equal(
      paid.map(({ number }) => number),
    );
  });
});
