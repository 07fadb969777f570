// Cancellations by an operator, now or at the end of the period, and their effect on debts, plan changes and payments
// in flight.
import { expect } from "chai";
import { cancelSubscription } from "../../../../src/features/billing/lifecycle/cancel.ts";
import type { Cancellation } from "../../../../src/features/billing/operator/admin-records.ts";
import { billingChecks } from "../../../../src/features/billing/checks.ts";
import { day } from "../../../../src/kernel/clock.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { eachStore, takeTurns } from "../../../support/store/stores.ts";
import { eventsOf, openEstate, type Estate } from "../billing-fleet.ts";
import type { Merchant } from "../../../support/app.ts";

const operator = {
  actor: { type: "operator", id: null, label: "tests@localhost" },
  requestId: null,
  ip: null,
} as const;
const trialDays = 14;

eachStore("a subscription that an operator cancels", (store) => {
  const it = takeTurns(store);
  let estate: Estate;
  let merchant: Merchant;

  beforeEach(async () => {
    estate = await openEstate({ place: await store.place("migrated") });
    merchant = await estate.merchant();
    expect((await estate.select(merchant, "growth")).status).to.equal(200);
  });
  afterEach(() => estate.stop());

  const cancel = (when: Cancellation["when"]) =>
    cancelSubscription(estate.app.app, operator, merchant.organizationId as Id<"organization">, {
      when,
      reason: "The shop closes",
    });
  async function refusal(when: Cancellation["when"]): Promise<string> {
    try {
      await cancel(when);
    } catch (error) {
      return (error as { code: string }).code;
    }
    return "nothing";
  }
  const status = async () => (await estate.subscription(merchant)).status;
  const first = async () => (await estate.invoices(merchant))[0] ?? {};

  /** Pays for the first period and begins it. */
  async function activate(): Promise<void> {
    await estate.pay(String((await first())["id"]));
    await estate.live(trialDays + 1);
    expect(await status()).to.equal("active");
  }

  it("ends immediately, and the invoice of a period that will not begin is voided", async () => {
    await cancel("now");
    expect(await status()).to.equal("canceled");
    expect(await first()).to.include({ status: "void" });
    const events = await eventsOf(estate, merchant.organizationId);
    expect(events.slice(-2)).to.deep.equal(["platform_invoice.void", "subscription.canceled"]);
    expect(await refusal("now")).to.equal("subscription_not_changeable");
    expect(await refusal("never")).to.equal("subscription_not_changeable");
    await estate.live(trialDays + 40);
    expect(await estate.invoices(merchant)).to.have.length(1);
    expect((await estate.select(merchant, "growth")).status, "again, without a debt").to.equal(200);
  });

  it("credits payments for an invoice that was voided", async () => {
    const { id } = await first();
    const [collectionInvoice] = await estate.collectionInvoices(String(id));
    await estate.send(String(id));
    await cancel("now");
    await estate.mine(4);
    const [credit] = await estate.db.all<{ amount: string }>(
      "SELECT amount FROM credits WHERE organization_id = $1",
      [merchant.organizationId],
    );
    expect([collectionInvoice === undefined, BigInt(credit?.amount ?? "0")]).to.deep.equal([
      false,
      4_900n,
    ]);
  });

  it("credits the confirmed part of an invoice immediately when it is voided", async () => {
    await estate.pay(String((await first())["id"]), 20_000_000n);
    await cancel("now");
    const [credit] = await estate.db.all<{ amount: string }>(
      "SELECT amount FROM credits WHERE organization_id = $1",
      [merchant.organizationId],
    );
    expect(BigInt(credit?.amount ?? "0")).to.equal(2_000n);
    for (const check of billingChecks) {
      expect(await check.run(estate.db), check.name).to.deep.equal([]);
    }
  });

  it("ends with its trial, without reminders for the invoice that will be voided", async () => {
    await cancel("period_end");
    expect(await status()).to.equal("trialing");
    await estate.live(trialDays - 1);
    expect(await first()).to.include({ status: "open" });
    await estate.live(2);
    expect([await status(), (await first())["status"]]).to.deep.equal(["canceled", "void"]);
    const events = await eventsOf(estate, merchant.organizationId);
    expect(events).to.not.include("platform_invoice.reminder");
  });

  it("ends with the current period, drops a scheduled plan change and refuses another", async () => {
    await activate();
    expect((await estate.change(merchant, "scale")).status).to.equal(200);
    await cancel("period_end");
    expect(await estate.subscription(merchant)).to.include({ status: "active", pendingPlan: null });
    const refused = await estate.change(merchant, "scale");
    expect([refused.status, refused.body["code"]]).to.deep.equal([
      409,
      "subscription_not_changeable",
    ]);
    const end = Date.parse((await estate.subscription(merchant)).currentPeriodEnd);
    await estate.live(Math.ceil((end - estate.clock.now()) / day) + 1);
    expect(await status()).to.equal("canceled");
    expect(await estate.invoices(merchant), "one for the period that was").to.have.length(1);
  });

  it("continues if the cancellation is withdrawn", async () => {
    await activate();
    await cancel("period_end");
    await cancel("never");
    await estate.live(31);
    expect(await estate.invoices(merchant)).to.have.length(2);
    const audited = await estate.db.all<{ changes: string }>(
      "SELECT changes FROM audit_logs WHERE action = 'subscription.cancellation_changed' ORDER BY id",
    );
    expect(audited).to.have.length(2);
    expect(JSON.parse(audited[0]?.changes ?? "{}")).to.include({ reason: "The shop closes" });
  });

  it("keeps the debt for a period that has begun", async () => {
    await activate();
    await estate.live(31);
    await cancel("now");
    const [paid, owed] = await estate.invoices(merchant);
    expect([paid?.["status"], owed?.["status"]]).to.deep.equal(["paid", "open"]);
    const again = await estate.select(merchant, "growth");
    expect([again.status, again.body["code"]]).to.deep.equal([409, "platform_invoice_unpaid"]);
    await estate.pay(String(owed?.["id"]));
    expect((await estate.select(merchant, "growth")).status).to.equal(200);
  });

  /** Leaves the second invoice unpaid until the subscription is suspended. */
  async function suspend(): Promise<void> {
    await estate.live(7);
    await estate.live(8);
    expect(await status()).to.equal("suspended");
  }

  it("ends instead of resuming when the debt is paid after its scheduled end", async () => {
    await activate();
    await estate.live(31);
    await cancel("period_end");
    await suspend();
    await estate.live(20);
    expect(await status()).to.equal("suspended");
    await estate.pay(String((await estate.invoices(merchant))[1]?.["id"]));
    await estate.run();
    expect(await status()).to.equal("canceled");
    const invoices = await estate.invoices(merchant);
    expect(invoices.map((one) => one["status"])).to.deep.equal(["paid", "paid"]);
  });

  it("can be canceled while suspended only immediately", async () => {
    await activate();
    await estate.live(31);
    await suspend();
    expect(await refusal("period_end")).to.equal("subscription_not_changeable");
    await cancel("now");
    expect(await status()).to.equal("canceled");
  });
});
