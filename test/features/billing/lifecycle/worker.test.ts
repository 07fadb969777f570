import { expect } from "chai";
import { retryJob } from "../../../../src/features/admin/queues.ts";
import type { App } from "../../../../src/app.ts";
import { billingChecks } from "../../../../src/features/billing/checks.ts";
import {
  billingHandlers,
  runBilling,
  type RunResult,
} from "../../../../src/features/billing/lifecycle/worker.ts";
import { wallets } from "../../../../src/features/wallets/table.ts";
import { subscriptions, type SubscriptionRow } from "../../../../src/features/billing/table.ts";
import { day, hour } from "../../../../src/kernel/clock.ts";
import { expectStatus, type Merchant } from "../../../support/app.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { withStatements } from "../statements.ts";
import { eventsOf, openEstate, type Estate } from "../billing-fleet.ts";

eachStore("the billing run", (store) => {
  const it = takeTurns(store);
  let estate: Estate;
  let shop: Merchant;

  beforeEach(async () => {
    estate = await openEstate({ place: await store.place("migrated") });
    shop = await estate.merchant();
  });
  afterEach(async () => {
    for (const check of billingChecks) {
      expect(await check.run(estate.db), check.name).to.deep.equal([]);
    }
    await estate.stop();
  });

  /** Starts a subscription and its first paid period. */
  async function begin(): Promise<void> {
    await expectStatus(estate.select(shop, "growth"), 200);
    await estate.pay((await estate.subscription(shop)).openInvoice?.id ?? "");
    await estate.live(14.01);
    expect((await estate.subscription(shop)).status).to.equal("active");
  }

  /** Returns the days until the period has ended and its usage can be counted. */
  async function untilBoundary(): Promise<number> {
    const { currentPeriodEnd } = await estate.subscription(shop);
    return (Date.parse(currentPeriodEnd) - estate.clock.now()) / day + 0.01;
  }

  it("bills each boundary once after two months of downtime, with later due dates", async () => {
    await begin();
    await estate.sleep(62);
    const all = await estate.invoices(shop);
    expect(all).to.have.length(3);
    for (const { issuedAt, dueAt } of all.slice(1)) {
      expect(Date.parse(String(dueAt)) - Date.parse(String(issuedAt))).to.equal(7 * day);
      expect(Date.parse(String(issuedAt))).to.be.closeTo(estate.clock.now(), hour);
    }
    expect((await estate.subscription(shop)).status).to.equal("active");
    expect(await estate.run()).to.deep.equal({ due: 0, steps: 0, parked: 0 });
    estate.clock.advance(-hour);
    expect(await estate.run()).to.deep.equal({ due: 0, steps: 0, parked: 0 });
    expect(await estate.invoices(shop)).to.have.length(3);
  });

  it("extends due dates by the length of a downtime", async () => {
    await expectStatus(estate.select(shop, "growth"), 200);
    await estate.live(1);
    await estate.sleep(20);
    expect((await estate.subscription(shop)).status).to.equal("trialing");
    await estate.live(12);
    expect((await estate.subscription(shop)).status).to.equal("trialing");
    await estate.live(1.1);
    expect((await estate.subscription(shop)).status).to.equal("past_due");
  });

  it("does not suspend for a debt that was paid during downtime before that payment is read", async () => {
    await expectStatus(estate.select(shop, "growth"), 200);
    await estate.live(14.01);
    const owed = (await estate.subscription(shop)).openInvoice;
    expect(owed?.status).to.equal("past_due");
    // Some minutes before the grace period ends.
    await estate.live(6.985);
    expect((await estate.subscription(shop)).status).to.equal("past_due");
    await estate.send(owed?.id ?? "");
    await estate.sleep(30 / 1_440);
    expect((await estate.subscription(shop)).status).to.equal("past_due");
    await estate.mine(4);
    await estate.run();
    expect((await estate.subscription(shop)).status).to.equal("active");
  });

  /** Schedules a change as older versions of Till did, without terms. */
  const scheduleWithoutTerms = (pendingPlan: string) =>
    estate.db.write(testContext, (tx) =>
      tx.update(subscriptions, { pendingPlan, pendingTerms: null }, "WHERE organization_id = $1", [
        shop.organizationId,
      ]),
    );

  it("takes the terms of a plan change from the catalog if an older version scheduled it", async () => {
    await begin();
    await expectStatus(estate.change(shop, "starter"), 200);
    await scheduleWithoutTerms("scale");
    await estate.live(await untilBoundary());
    expect(await estate.subscription(shop)).to.include({ plan: "scale", pendingPlan: null });
  });

  it("drops a plan change that an older version scheduled if its plan no longer exists", async () => {
    await begin();
    const changed = await expectStatus(estate.change(shop, "scale"), 200);
    expect(changed.body).to.include({ plan: "growth", pendingPlan: "scale" });
    await scheduleWithoutTerms("gone");
    await estate.live(await untilBoundary());
    expect(await estate.subscription(shop)).to.include({ plan: "growth", pendingPlan: null });
    expect(await estate.invoices(shop)).to.have.length(2);
    const events = await eventsOf(estate, shop.organizationId);
    expect(events).to.include("subscription.plan_change_dropped");
  });

  it("begins a scheduled plan with the next period, unless the change is withdrawn", async () => {
    await begin();
    await expectStatus(estate.change(shop, "scale"), 200);
    const back = await expectStatus(estate.change(shop, "growth"), 200);
    expect(back.body).to.include({ plan: "growth", pendingPlan: null });
    await expectStatus(estate.change(shop, "scale"), 200);
    await estate.live(await untilBoundary());
    const now = await estate.subscription(shop);
    expect(now).to.include({ plan: "scale", pendingPlan: null, status: "active" });
    expect(now.openInvoice?.total).to.equal("199.00");
  });

  it("begins a plan that became due during a suspension when the debt is paid", async () => {
    await begin();
    await estate.live(await untilBoundary());
    await expectStatus(estate.change(shop, "scale"), 200);
    await estate.live(7);
    await estate.live(8);
    expect(await estate.subscription(shop)).to.include({
      status: "suspended",
      plan: "growth",
      pendingPlan: "scale",
    });
    await estate.live(20);
    await estate.pay((await estate.subscription(shop)).openInvoice?.id ?? "");
    await estate.run();
    const now = await estate.subscription(shop);
    expect(now).to.include({ status: "active", plan: "scale", pendingPlan: null });
    expect(now.openInvoice?.total).to.equal("199.00");
    const events = await eventsOf(estate, shop.organizationId);
    expect(events.slice(-3)).to.deep.equal([
      ...["platform_invoice.issued", "subscription.plan_changed", "subscription.reactivated"],
    ]);
  });

  it("withdraws a change in favor of a current plan that can no longer be selected", async () => {
    await begin();
    const of = [shop.organizationId];
    const [row] = await estate.db.find(subscriptions, "WHERE organization_id = $1", of);
    const terms = { ...row?.terms, id: "former" } as SubscriptionRow["terms"];
    await estate.db.write(testContext, (tx) =>
      tx.update(subscriptions, { terms }, "WHERE organization_id = $1", of),
    );
    await expectStatus(estate.change(shop, "scale"), 200);
    const back = await expectStatus(estate.change(shop, "former"), 200);
    expect(back.body).to.include({ plan: "former", pendingPlan: null });
    await expectStatus(estate.change(shop, "scale"), 200);
    const other = await estate.change(shop, "gone");
    expect([other.status, other.body["code"]]).to.deep.equal([422, "unknown_plan"]);
  });

  it.onBoth(
    "parks a subscription while the platform cannot be paid, lists it for operators, and retries it",
    async () => {
      await begin();
      const other = await estate.merchant();
      await expectStatus(estate.select(other, "starter"), 200);
      const setStatus = (status: "active" | "archived") =>
        estate.db.write(testContext, (tx) =>
          tx.update(wallets, { status }, "WHERE organization_id = $1", [
            estate.admin.organizationId,
          ]),
        );
      await setStatus("archived");
      const days = await untilBoundary();
      const failed = await estate.live(days + 14);
      expect(failed.parked).to.equal(1);
      expect(Date.parse((await estate.subscription(other)).currentPeriodEnd)).to.be.above(
        estate.clock.now(),
      );
      const jobs = async () => {
        const path = "/v1/admin/queues/billing/failed-jobs";
        const key = estate.platformKey;
        const answer = await expectStatus(estate.app.request("GET", path, { key }), 200);
        return answer.body["data"] as Record<string, unknown>[];
      };
      const [job, ...rest] = await jobs();
      expect(rest).to.deep.equal([]);
      expect(job).to.include({
        queue: "billing",
        organizationId: shop.organizationId,
        attempts: 1,
      });
      expect(job?.["failedReason"]).to.contain("no_receive_wallet");
      estate.clock.advance(61_000);
      expect((await estate.run()).parked).to.equal(1);
      expect((await jobs())[0]).to.include({ id: job?.["id"], attempts: 2 });

      await setStatus("active");
      await retryJob(estate.app.app, testContext, String(job?.["id"]));
      const [handler] = billingHandlers(estate.app.app);
      const signal = new AbortController().signal;
      const payload = { subscriptionId: (await estate.subscription(shop)).id };
      await handler?.run({ id: String(job?.["id"]), attempts: 1, payload, signal });
      expect(await jobs()).to.deep.equal([]);
      expect(await estate.invoices(shop)).to.have.length(2);
    },
  );

  it.onBoth("leaves a subscription that another run has parked since it was read", async () => {
    await begin();
    await estate.db.write(testContext, (tx) =>
      tx.update(wallets, { status: "archived" }, "WHERE organization_id = $1", [
        estate.admin.organizationId,
      ]),
    );
    estate.clock.advance((await untilBoundary()) * day);
    await estate.keepAwake();
    const { app } = estate.app;
    const others: RunResult[] = [];
    const other: App = {
      ...app,
      db: {
        ...estate.db,
        async all(sql, values) {
          const rows = await estate.db.all<never>(sql, values);
          if (rows.length > 0 && others.length === 0) others.push(await estate.run());
          return rows;
        },
      },
    };
    expect(await runBilling(other)).to.include({ due: 1, parked: 0 });
    expect(others).to.deep.equal([{ due: 1, steps: 0, parked: 1 }]);
  });

  it.onBoth("leaves nothing half-done, whichever statement of a boundary fails", async () => {
    await begin();
    const credit = estate.app.request(
      "POST",
      `/v1/admin/organizations/${shop.organizationId}/credits`,
      {
        key: estate.platformKey,
        body: { amount: "9.00", currency: "USD", reason: "Sorry" },
      },
    );
    await expectStatus(credit, 201);
    estate.clock.advance((await untilBoundary()) * day);
    const { app } = estate.app;
    let countdown = 0;
    const died = new Map<string, number>();
    const dies = (name: string) => {
      countdown -= 1;
      if (countdown !== 0) return;
      died.set(name, (died.get(name) ?? 0) + 1);
      throw new Error(`died at ${name}`);
    };
    const dying: App = { ...app, db: withStatements(estate.db, dies) };
    let deaths = 0;
    for (let place = 1; (await estate.invoices(shop)).length === 1; place += 1) {
      countdown = place;
      await estate.keepAwake();
      const { parked } = await runBilling(dying);
      deaths += parked;
      if (parked > 0) {
        expect(await estate.invoices(shop)).to.have.length(1);
        expect((await estate.subscription(shop)).openInvoice).to.equal(null);
      }
      estate.clock.advance(7 * hour);
      if (place > 60) throw new Error("the boundary was never reached");
    }
    // Parking is a transaction of its own and may fail too.
    expect(deaths).to.be.above(25);
    expect([...died.keys()]).to.include.members(["all", "append", "commit", "insert", "update"]);
    const all = await estate.invoices(shop);
    expect(all.map(({ number, total }) => [number, total])).to.deep.equal([
      ["TILL-000001", "49.00"],
      ["TILL-000002", "40.00"],
    ]);
  });

  it.onBoth(
    "keeps one subscription under concurrent selections, and one plan when a change meets the boundary",
    async () => {
      const selected = await Promise.all([
        estate.select(shop, "growth"),
        estate.select(shop, "scale"),
        estate.select(shop, "growth"),
      ]);
      expect(selected.filter(({ status }) => status === 409).length).to.be.within(1, 2);
      const { plan, openInvoice } = await estate.subscription(shop);
      for (const { status, body } of selected) {
        if (status === 200) expect(body["plan"]).to.equal(plan);
      }
      expect(await estate.invoices(shop)).to.have.length(1);
      await estate.pay(openInvoice?.id ?? "");
      await estate.live(14.01);
      const other = plan === "growth" ? "scale" : "growth";
      estate.clock.advance((await untilBoundary()) * day);
      await estate.keepAwake();
      await Promise.all([estate.change(shop, other), estate.run(), estate.run()]);
      // A run skips a subscription that another transaction holds; the next run bills it.
      await estate.run();
      const after = await estate.subscription(shop);
      const [, second, ...more] = await estate.invoices(shop);
      expect(more).to.deep.equal([]);
      const [line] = (second?.["lines"] ?? []) as { description: string }[];
      expect(line?.description.toLowerCase()).to.equal(`${after.plan} plan`);
      expect(after.pendingPlan).to.equal(after.plan === other ? null : other);
    },
  );
});
