// Plan changes through the API and their effect at the end of the trial or period: plan, invoices, credits. The numbers
// are from the worked examples of docs/decisions/0016-plan-changes.md.
import { expect } from "chai";
import { reorganizeSandbox } from "../../../../src/features/payments/sandbox/sandbox.ts";
import type { App } from "../../../../src/app.ts";
import { billingChecks } from "../../../../src/features/billing/checks.ts";
import { runBilling } from "../../../../src/features/billing/lifecycle/worker.ts";
import { previewPlatformInvoices } from "../../../../src/features/billing/operator/operator.ts";
import { billingState } from "../../../../src/features/billing/table.ts";
import { day, hour } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import type { StoreOptions } from "../../../../src/platform/database/open.ts";
import { expectStatus, startApp, type Answer, type Merchant } from "../../../support/app.ts";
import { dumpStore } from "../../../support/store/dump.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { eventsOf, openEstate, plansFile, type Estate, type Shown } from "../billing-fleet.ts";
import { withStatements } from "../statements.ts";

const trialDays = 14;
const plans = {
  growth: {
    name: "Growth",
    price: "49.00",
    trialDays,
    includedInvoices: 200,
    overagePrice: "0.35",
  },
  scale: { name: "Scale", price: "199.00", trialDays, includedInvoices: 2_000 },
  yearly: { name: "Yearly", price: "499.00", interval: "year", trialDays },
  free: { name: "Free", price: "0.00", trialDays },
  euro: { name: "Euro", price: "49.00", currency: "EUR", trialDays },
};
const file = plansFile(plans);
const { scale: _scale, ...withoutScale } = plans;
const fileWithoutScale = plansFile(withoutScale);
const usdt = (amount: number) => BigInt(amount) * 1_000_000n;

eachStore("a scheduled plan change", (store) => {
  const it = takeTurns(store);
  let place: StoreOptions;
  let estate: Estate;
  let shop: Merchant;

  before(async () => {
    place = await store.place("migrated");
    estate = await openEstate({ place, settings: { TILL_PLANS_FILE: file } });
  });
  beforeEach(async () => {
    shop = await estate.merchant();
    // Some tests only move the clock: mine a block at the current time before anything is issued.
    await estate.mine();
  });
  after(async () => {
    for (const check of billingChecks) {
      expect(await check.run(estate.db), check.name).to.deep.equal([]);
    }
    await estate.stop();
  });

  const shown = () => estate.subscription(shop);
  const select = (plan: string) => expectStatus(estate.select(shop, plan), 200);
  const daysUntil = (time: string | null) =>
    (Date.parse(time ?? "") - estate.clock.now()) / day + 0.01;
  const refusalOf = ({ status, body }: Answer) => [status, body["code"]];

  /** Schedules a plan and expects a response with unchanged plan and status. */
  async function schedule(plan: string): Promise<Shown> {
    const before = await shown();
    const answer = await expectStatus(estate.change(shop, plan), 200);
    expect(answer.body).to.include({
      plan: before.plan,
      status: before.status,
      currentPeriodEnd: before.currentPeriodEnd,
      pendingPlan: plan,
      planChangeEffectiveAt: before.currentPeriodEnd,
    });
    return answer.body as unknown as Shown;
  }

  /** Returns status and total of every platform invoice, oldest first. */
  async function invoices(): Promise<unknown[][]> {
    return (await estate.invoices(shop)).map(({ status, total }) => [status, total]);
  }
  /** Returns the lines of the newest invoice. */
  async function lines(): Promise<unknown[][]> {
    const newest = (await estate.invoices(shop)).at(-1)?.["lines"] as Record<string, unknown>[];
    return newest.map(({ kind, description, amount }) => [kind, description, amount]);
  }
  async function list(noun: "credits" | "adjustments"): Promise<Record<string, unknown>[]> {
    const path = `/v1/admin/organizations/${shop.organizationId}/${noun}`;
    const answer = estate.app.request("GET", path, { key: estate.platformKey });
    return (await expectStatus(answer, 200)).body["data"] as Record<string, unknown>[];
  }
  const payOpen = async (units?: bigint) =>
    estate.pay((await shown()).openInvoice?.id ?? "", units);
  const endTrial = async () => estate.live(daysUntil((await shown()).trialEndsAt));
  const endPeriod = async () => estate.live(daysUntil((await shown()).currentPeriodEnd));
  const numbers = async () => (await estate.invoices(shop)).map((one) => String(one["number"]));

  it("waits for the end of the trial, while the unpaid first invoice is replaced immediately", async () => {
    await select("growth");
    const [first] = await estate.invoices(shop);
    const answer = await schedule("scale");
    expect(answer.planChangeEffectiveAt).to.equal(answer.trialEndsAt);
    expect(answer.openInvoice).to.include({ status: "open", total: "199.00" });
    expect(await invoices()).to.deep.equal([
      ["void", "49.00"],
      ["open", "199.00"],
    ]);
    const second = (await estate.invoices(shop)).at(-1) ?? {};
    for (const field of ["dueAt", "periodStart", "periodEnd"]) {
      expect(second[field], field).to.equal(first?.[field]);
    }
    const page = await fetch(answer.openInvoice?.checkoutUrl ?? "");
    expect(page.status).to.equal(200);
    await payOpen();
    await estate.live(trialDays - 1);
    expect(await shown()).to.include({ plan: "growth", status: "trialing" });
    await endTrial();
    expect(await shown()).to.include({
      plan: "scale",
      status: "active",
      pendingPlan: null,
      planChangeEffectiveAt: null,
      openInvoice: null,
    });
    expect(await list("adjustments")).to.deep.equal([]);
    expect(await eventsOf(estate, shop.organizationId)).to.deep.equal([
      ...["platform_invoice.issued", "subscription.created"],
      ...["platform_invoice.void", "platform_invoice.issued"],
      ...["subscription.plan_change_scheduled", "platform_invoice.paid"],
      ...["subscription.trial_ending", "subscription.plan_changed", "subscription.activated"],
    ]);
  });

  it("takes effect at the end of an unpaid trial, with its own invoice past due", async () => {
    await select("scale");
    await schedule("growth");
    await endTrial();
    const after = await shown();
    expect(after).to.include({ plan: "growth", status: "past_due", pendingPlan: null });
    expect(after.openInvoice).to.include({ status: "past_due", total: "49.00" });
  });

  it("is dropped by a request for the current plan, which also replaces the first invoice again", async () => {
    await select("growth");
    await schedule("scale");
    await schedule("free");
    expect((await shown()).openInvoice).to.equal(null);
    const back = await expectStatus(estate.change(shop, "growth"), 200);
    expect(back.body).to.include({
      plan: "growth",
      status: "trialing",
      pendingPlan: null,
      planChangeEffectiveAt: null,
    });
    expect(back.body["openInvoice"]).to.include({ status: "open", total: "49.00" });
    expect(await invoices()).to.deep.equal([
      ["void", "49.00"],
      ["void", "199.00"],
      ["open", "49.00"],
    ]);
    expect((await estate.invoices(shop)).at(-1)?.["dueAt"]).to.equal(back.body["trialEndsAt"]);
  });

  it("adds the difference to the next invoice if the first one was paid for a cheaper plan", async () => {
    await select("growth");
    await payOpen();
    expect((await schedule("scale")).openInvoice).to.equal(null);
    expect(await invoices()).to.deep.equal([["paid", "49.00"]]);
    const [first = ""] = await numbers();
    const rehearsed = await previewPlatformInvoices(estate.app.app, testContext, {
      organizationId: shop.organizationId as Id<"organization">,
    });
    expect(rehearsed.data[0]?.charges.total).to.equal(34_900n);
    await endTrial();
    expect(await shown()).to.include({ plan: "scale", status: "active", pendingPlan: null });
    expect(await invoices()).to.deep.equal([["paid", "49.00"]]);
    await endPeriod();
    expect(await lines()).to.deep.equal([
      ["plan", "Scale plan", "199.00"],
      ["adjustment", `Scale plan instead of Growth plan in ${first}`, "150.00"],
    ]);
    expect((await shown()).openInvoice?.total).to.equal("349.00");
  });

  it("credits the difference to the following invoices if the first one was paid for a more expensive plan", async () => {
    await select("scale");
    await payOpen();
    await schedule("growth");
    await endTrial();
    expect(await shown()).to.include({ plan: "growth", status: "active" });
    const [credit] = await list("credits");
    expect(credit).to.include({ amount: "150.00", remaining: "150.00", createdBy: "system" });
    for (let period = 1; period <= 4; period += 1) await endPeriod();
    expect(await invoices()).to.deep.equal([
      ["paid", "199.00"],
      ["paid", "0.00"],
      ["paid", "0.00"],
      ["paid", "0.00"],
      ["open", "46.00"],
    ]);
    expect((await list("credits"))[0]).to.include({ remaining: "0.00" });
  });

  it("compares the prices of both plans after the discounts of the paid invoice", async () => {
    const discount = { kind: "percent", value: "15", periods: 1, reason: "Welcome" };
    const path = `/v1/admin/organizations/${shop.organizationId}/discounts`;
    await expectStatus(
      estate.app.request("POST", path, { key: estate.platformKey, body: discount }),
      201,
    );
    await select("growth");
    await payOpen();
    expect(await invoices()).to.deep.equal([["paid", "41.65"]]);
    await schedule("scale");
    await endTrial();
    const [adjustment] = await list("adjustments");
    expect(adjustment).to.include({ amount: "127.50", status: "pending" });
  });

  it("credits a part payment of the replaced invoice, and the new invoice uses the credit", async () => {
    await select("growth");
    await payOpen(usdt(20));
    const answer = await schedule("scale");
    expect(answer.openInvoice).to.include({ status: "open", total: "179.00" });
    const [credit, ...others] = await list("credits");
    expect(others).to.deep.equal([]);
    expect(credit).to.include({ amount: "20.00", remaining: "0.00" });
    expect(credit?.["reason"]).to.match(/^Payment of void invoice TILL-\d+ by transaction 0x/);
    // After changing back, the credit is available again and pays the cheaper plan's invoice.
    const back = await expectStatus(estate.change(shop, "growth"), 200);
    expect(back.body["openInvoice"]).to.include({ total: "29.00" });
    await payOpen();
    await endTrial();
    expect(await shown()).to.include({ plan: "growth", status: "active", openInvoice: null });
  });

  it("does not replace an invoice whose payment is being confirmed, and settles the difference once it is paid", async () => {
    await select("growth");
    const first = (await shown()).openInvoice;
    await estate.send(first?.id ?? "");
    await estate.mine(1);
    expect((await schedule("scale")).openInvoice?.id).to.equal(first?.id);
    await estate.mine(4);
    await estate.run();
    expect(await invoices()).to.deep.equal([["paid", "49.00"]]);
    await endTrial();
    expect((await list("adjustments"))[0]).to.include({ amount: "150.00" });
    expect(await list("credits")).to.deep.equal([]);
  });

  it("replaces the invoice later if the payment that was being confirmed is only a part", async () => {
    await select("scale");
    await estate.send((await shown()).openInvoice?.id ?? "", usdt(60));
    await estate.mine(1);
    expect((await schedule("growth")).openInvoice?.total).to.equal("199.00");
    await estate.mine(4);
    await estate.run();
    expect(await invoices()).to.deep.equal([
      ["void", "199.00"],
      ["paid", "0.00"],
    ]);
    expect((await list("credits"))[0]).to.include({ amount: "60.00", remaining: "11.00" });
    await endTrial();
    expect(await shown()).to.include({ plan: "growth", status: "active" });
    expect(await list("adjustments")).to.deep.equal([]);
  });

  it("replaces the invoice later if a reorganization removed the payment", async () => {
    await select("growth");
    await estate.send((await shown()).openInvoice?.id ?? "");
    await estate.mine(1);
    await schedule("scale");
    await reorganizeSandbox(estate.app.app, testContext, 1, { drop: true });
    await estate.look();
    await estate.mine(1);
    await estate.run();
    expect((await shown()).openInvoice).to.include({ status: "open", total: "199.00" });
    expect(await list("credits")).to.deep.equal([]);
  });

  it("credits payments for the replaced invoice", async () => {
    await select("growth");
    const first = (await shown()).openInvoice?.id ?? "";
    const [collectionInvoice] = await estate.collectionInvoices(first);
    await schedule("scale");
    await estate.send(first, usdt(49), collectionInvoice);
    await estate.mine(4);
    expect((await list("credits"))[0]).to.include({ amount: "49.00", remaining: "49.00" });
    expect((await shown()).openInvoice?.total).to.equal("199.00");
  });

  it("invoices the rest of a year immediately if its first month is paid", async () => {
    await select("growth");
    await payOpen();
    const [month] = await estate.invoices(shop);
    const [first = ""] = await numbers();
    await schedule("yearly");
    await endTrial();
    const now = await shown();
    expect(now).to.include({ plan: "yearly", status: "active" });
    expect(now.openInvoice?.total).to.equal("450.00");
    expect(await lines()).to.deep.equal([
      ["plan", "Yearly plan", "499.00"],
      ["credit", `Credit: Growth plan in ${first}`, "-49.00"],
    ]);
    const rest = (await estate.invoices(shop)).at(-1);
    expect(rest).to.include({ periodStart: month?.["periodEnd"], periodEnd: now.currentPeriodEnd });
    expect(now.currentPeriodStart).to.equal(month?.["periodStart"]);
  });

  it("credits the rest of a paid year if the new plan is monthly", async () => {
    await select("yearly");
    await payOpen();
    await schedule("growth");
    await endTrial();
    expect(await shown()).to.include({ plan: "growth", status: "active" });
    expect((await list("credits"))[0]).to.include({ amount: "450.00" });
    await endPeriod();
    expect((await invoices()).at(-1)).to.deep.equal(["paid", "0.00"]);
  });

  it("replaces a monthly first invoice with a yearly one, and back", async () => {
    await select("growth");
    const [month] = await estate.invoices(shop);
    await schedule("yearly");
    const year = (await estate.invoices(shop)).at(-1);
    expect(year).to.include({ total: "499.00", periodStart: month?.["periodStart"] });
    expect(Date.parse(String(year?.["periodEnd"]))).to.be.above(
      Date.parse(String(month?.["periodEnd"])) + 300 * day,
    );
    await expectStatus(estate.change(shop, "growth"), 200);
    expect((await estate.invoices(shop)).at(-1)).to.include({ periodEnd: month?.["periodEnd"] });
  });

  it("issues the first invoice of a trial without one", async () => {
    await select("free");
    expect(await invoices()).to.deep.equal([]);
    const answer = await schedule("growth");
    expect(answer.openInvoice).to.include({ status: "open", total: "49.00" });
    expect((await estate.invoices(shop))[0]?.["dueAt"]).to.equal(answer.trialEndsAt);
    await payOpen();
    await endTrial();
    expect(await shown()).to.include({ plan: "growth", status: "active" });
    expect(await invoices()).to.deep.equal([["paid", "49.00"]]);
  });

  it("takes effect only at the end of the period when requested during it, upgrades and downgrades alike", async () => {
    await select("growth");
    await payOpen();
    await endTrial();
    await estate.live(10);
    await schedule("scale");
    expect(await invoices()).to.deep.equal([["paid", "49.00"]]);
    await endPeriod();
    expect(await shown()).to.include({ plan: "scale", pendingPlan: null });
    await payOpen();
    await schedule("growth");
    await endPeriod();
    expect(await shown()).to.include({ plan: "growth", planChangeEffectiveAt: null });
    expect(await invoices()).to.deep.equal([
      ["paid", "49.00"],
      ["paid", "199.00"],
      ["open", "49.00"],
    ]);
    expect(await list("credits")).to.deep.equal([]);
    expect(await list("adjustments")).to.deep.equal([]);
  });

  it("is accepted while past due or suspended, and refused once canceled", async () => {
    await select("growth");
    await endTrial();
    expect((await schedule("scale")).status).to.equal("past_due");
    await estate.live(7);
    expect(await shown()).to.include({ status: "suspended", pendingPlan: "scale" });
    expect((await schedule("yearly")).status).to.equal("suspended");
    const kept = await expectStatus(estate.change(shop, "growth"), 200);
    expect(kept.body).to.include({ status: "suspended", pendingPlan: null });
    await schedule("scale");
    await estate.live(27);
    // The period has ended, and the next one begins when the debt is paid.
    expect(await shown()).to.include({ plan: "growth", status: "suspended" });
    await payOpen();
    await estate.run();
    expect(await shown()).to.include({ plan: "scale", status: "active", pendingPlan: null });
    expect((await shown()).openInvoice?.total).to.equal("199.00");

    await estate.live(7);
    await estate.live(7);
    await estate.live(30);
    expect((await shown()).status).to.equal("canceled");
    const refused = await estate.change(shop, "growth");
    expect(refusalOf(refused)).to.deep.equal([409, "subscription_not_changeable"]);
    expect(refused.body["detail"]).to.contain("subscription/select");
  });

  it("keeps the terms at its request when the plan is removed from the catalog", async () => {
    await select("growth");
    await payOpen();
    await endTrial();
    await schedule("scale");
    const other = await startApp({
      place,
      clock: estate.clock,
      background: false,
      settings: {
        TILL_BILLING: "on",
        TILL_SANDBOX_BLOCK_MS: "0",
        TILL_PLANS_FILE: fileWithoutScale,
      },
    });
    try {
      const ask = async (plan: string) =>
        other.request("PATCH", `${shop.path}/billing/subscription`, {
          token: await estate.tokenOf(shop),
          body: { plan },
        });
      const again = await expectStatus(ask("scale"), 200);
      expect(again.body).to.include({ plan: "growth", pendingPlan: "scale" });
      expect(refusalOf(await ask("gold"))).to.deep.equal([422, "unknown_plan"]);
      estate.clock.advance(daysUntil((await shown()).currentPeriodEnd) * day);
      await estate.keepAwake();
      await runBilling(other.app);
      expect(await shown()).to.include({ plan: "scale", status: "active", pendingPlan: null });
      expect((await shown()).openInvoice?.total).to.equal("199.00");
    } finally {
      await other.stop();
    }
  });

  it("changes nothing if it is refused or its invoice cannot be issued", async () => {
    await select("growth");
    await schedule("scale");
    const unchanged = async (plan: string, status: number, code: string) => {
      const token = await estate.tokenOf(shop);
      const before = await dumpStore(estate.db);
      const path = `${shop.path}/billing/subscription`;
      const answer = await estate.app.request("PATCH", path, { token, body: { plan } });
      expect(refusalOf(answer)).to.deep.equal([status, code]);
      expect(await dumpStore(estate.db)).to.equal(before);
    };
    await unchanged("euro", 422, "plan_currency_differs");
    await unchanged("gold", 422, "unknown_plan");
    const setReceiver = (receiveToken: string | null) =>
      estate.db.write(testContext, (tx) =>
        tx.update(billingState, { receiveToken }, "WHERE id = 'billing'"),
      );
    await setReceiver(null);
    try {
      await unchanged("yearly", 409, "no_receive_wallet");
      // The invoice is voided and reissued in one transaction, wholly or not at all.
      await unchanged("growth", 409, "no_receive_wallet");
    } finally {
      await setReceiver("USDT");
    }
  });

  it.onBoth(
    "leaves one unpaid invoice after 24 concurrent requests, which all succeed",
    async () => {
      await select("growth");
      const wanted = ["scale", "yearly", "growth"];
      const answers = await Promise.all(
        Array.from({ length: 24 }, (_, turn) => estate.change(shop, wanted[turn % 3] ?? "")),
      );
      for (const answer of answers) expect(answer.status, answer.text).to.equal(200);
      const { plan, pendingPlan, openInvoice } = await shown();
      const price = plans[(pendingPlan ?? plan) as "growth" | "scale" | "yearly"].price;
      expect(openInvoice?.total).to.equal(price);
      const standing = (await invoices()).filter(([status]) => status !== "void");
      expect(standing).to.deep.equal([["open", price]]);
    },
  );

  it.onBoth("is applied wholly or not at all when it races with the end of the trial", async () => {
    await select("growth");
    await payOpen();
    estate.clock.advance(daysUntil((await shown()).trialEndsAt) * day);
    await estate.keepAwake();
    const [answer] = await Promise.all([estate.change(shop, "scale"), estate.run(), estate.run()]);
    expect(answer.status, answer.text).to.be.oneOf([200, 409]);
    await estate.run();
    const now = await shown();
    expect(now.status).to.equal("active");
    const settled = await list("adjustments");
    expect(settled).to.have.length(now.plan === "scale" ? 1 : 0);
    expect(now.planChangeEffectiveAt).to.equal(
      now.pendingPlan === null ? null : now.currentPeriodEnd,
    );
  });

  it.onBoth(
    "is applied and settled wholly, whichever statement of the end of the trial fails",
    async () => {
      await select("growth");
      await payOpen();
      await schedule("yearly");
      estate.clock.advance(daysUntil((await shown()).trialEndsAt) * day);
      const { app } = estate.app;
      let countdown = 0;
      const dying = withStatements(estate.db, () => {
        countdown -= 1;
        if (countdown === 0) throw new Error("died");
      });
      // Subscriptions of other tests are due too and billed concurrently: the failed step could be theirs.
      const mine = (await shown()).id;
      const onlyMine = async (...query: Parameters<typeof dying.all>) =>
        (await dying.all<{ id: string }>(...query)).filter(({ id }) => id === mine);
      const other: App = { ...app, db: { ...dying, all: onlyMine as typeof dying.all } };
      let deaths = 0;
      for (let statement = 1; (await shown()).plan === "growth"; statement += 3) {
        countdown = statement;
        await estate.keepAwake();
        const { parked } = await runBilling(other);
        if (parked > 0) {
          deaths += 1;
          expect(await shown()).to.include({ plan: "growth", pendingPlan: "yearly" });
          expect(await invoices()).to.deep.equal([["paid", "49.00"]]);
          expect(await list("credits")).to.deep.equal([]);
        }
        estate.clock.advance(7 * hour);
      }
      expect(deaths).to.be.above(5);
      await estate.run();
      expect(await shown()).to.include({ plan: "yearly", status: "active", pendingPlan: null });
      expect(await invoices()).to.deep.equal([
        ["paid", "49.00"],
        ["open", "450.00"],
      ]);
    },
  );
});
