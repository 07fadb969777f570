// The same usage is shown, reported in events, limited and invoiced.
import { expect } from "chai";
import {
  mineBlocks,
  reorganizeSandbox,
} from "../../../../src/features/payments/sandbox/sandbox.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { watchUsage } from "../../../../src/features/billing/subscriptions/usage-watch.ts";
import { invoices } from "../../../../src/features/invoices/table.ts";
import { createRelay, events } from "../../../../src/platform/events/outbox.ts";
import { rollUpAll } from "../../../../src/features/usage/roll-up.ts";
import { expectStatus, order, type Merchant } from "../../../support/app.ts";
import { stillClock } from "../../../support/clock.ts";
import { xpubs } from "../../../support/merchants.ts";
import { payInvoice } from "../../../support/sandbox.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { openEstate, plansFile, type Estate } from "../billing-fleet.ts";

type Body = Readonly<Record<string, unknown>>;

const file = plansFile({
  shop: { price: "10.00", includedInvoices: 5, overagePrice: "0.35" },
  busy: { price: "20.00", includedInvoices: 2, overagePrice: "1.25" },
  closed: { price: "5.00", includedInvoices: 2 },
  wide: { price: "5.00", includedInvoices: 40 },
});
/** A time within an hour and within a second. */
const start = Date.UTC(2026, 0, 31, 10, 17, 3, 456);

eachStore("the usage of a plan", (store) => {
  const it = takeTurns(store);
  let estate: Estate;
  let shop: Merchant;

  beforeEach(async () => {
    estate = await openEstate({
      place: await store.place("migrated"),
      settings: { TILL_PLANS_FILE: file },
      clock: stillClock(start),
    });
    shop = await estate.merchant();
    await shop.addWallet({ xpub: xpubs.second });
  });
  afterEach(() => estate.stop());

  const issue = (more: object = {}) => shop.post("/invoices", { ...order, amount: "5", ...more });
  async function issued(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let made = 0; made < count; made += 1) {
      ids.push(String((await shop.issue({ amount: "5" }))["id"]));
    }
    return ids;
  }
  const usage = () => shop.get("/usage");
  const endOfPeriod = async () =>
    Date.parse((await estate.subscription(shop)).currentPeriodEnd) - estate.clock.now();

  async function payUp(): Promise<void> {
    const { openInvoice } = await estate.subscription(shop);
    if (openInvoice !== null) await estate.pay(openInvoice.id);
  }
  async function begin(plan: string): Promise<void> {
    await expectStatus(estate.select(shop, plan), 200);
    await payUp();
  }

  /** Has the period's usage counted, and the next period invoiced and paid. */
  async function bill(): Promise<Body> {
    estate.clock.advance(Math.max(0, await endOfPeriod()) + 60_000);
    await estate.keepAwake();
    await estate.mine();
    await estate.run();
    await payUp();
    return (await estate.invoices(shop)).at(-1) ?? {};
  }
  /** Makes a link of 5.00 that several payers may use. */
  async function newLink(): Promise<string> {
    const terms = {
      amount: "5",
      settlementCurrency: "USD",
      tokenSymbol: "USDT",
      network: "sandbox",
    };
    return `/link/${String((await expectStatus(shop.post("/payment-links", terms), 201)).body["id"])}`;
  }
  /** Sends the form of a link as a stranger. Returns the id of the checkout; null if it is refused. */
  async function startAt(link: string): Promise<string | null> {
    const answer = await fetch(estate.app.url + link, {
      method: "POST",
      body: new URLSearchParams({ amount: "" }),
      redirect: "manual",
    });
    return /\/pay\/(chk_\w+)/.exec(answer.headers.get("location") ?? "")?.[1] ?? null;
  }
  async function invoiceOf(checkoutId: string | null | undefined): Promise<Id<"invoice">> {
    const row = await estate.db.findOne(invoices, "WHERE checkout_id = $1", [checkoutId ?? null]);
    expect(row, "an invoice of the link").not.to.equal(null);
    return row?.id ?? "inv_none";
  }
  async function payStarted(checkoutId: string | null | undefined): Promise<Id<"invoice">> {
    const id = await invoiceOf(checkoutId);
    await payInvoice(estate.app, id, 5_000_000n);
    await estate.mine(4);
    return id;
  }
  const statusOf = async (id: Id<"invoice">) =>
    (await estate.app.request("GET", `${shop.path}/invoices/${id}`, { key: shop.key })).body[
      "status"
    ];
  const usageLine = (invoice: Body) =>
    (invoice["lines"] as Body[]).find(({ kind }) => kind === "usage");

  it("equals the usage on the invoice, at the old plan's price, to the last millisecond", async () => {
    await begin("shop");
    const [first] = await issued(6);
    const draft = await expectStatus(issue({ draft: true }), 201);
    await expectStatus(issue({ draft: true }), 201);
    expect(await usage()).to.include({ invoicesCreated: 6, overageAmount: "0.35" });
    // A draft counts once it is issued; a canceled invoice was issued too.
    const opened = estate.app.request(
      "PATCH",
      `${shop.path}/invoices/${String(draft.body["id"])}`,
      { key: shop.key, body: { status: "open" } },
    );
    await expectStatus(opened, 200);
    await expectStatus(shop.post(`/invoices/${String(first)}/cancel`), 200);
    expect(await usage()).to.include({
      plan: "shop",
      invoicesIncluded: 5,
      invoicesCreated: 7,
      overageAmount: "0.70",
      currency: "USD",
    });
    await expectStatus(estate.change(shop, "busy"), 200);
    await rollUpAll(estate.db, testContext);

    estate.clock.advance((await endOfPeriod()) - 1);
    await estate.keepAwake();
    await estate.mine();
    await issued(1);
    await rollUpAll(estate.db, testContext);
    estate.clock.advance(1);
    await issued(3);
    const shown = await usage();
    expect(shown).to.include({ invoicesCreated: 8, overageAmount: "1.05" });
    const second = await bill();
    expect(usageLine(second)).to.include({
      quantity: 8 - 5,
      unitAmount: "0.35",
      amount: shown["overageAmount"],
    });
    expect(second["total"]).to.equal("21.05");

    // Invoices of the next period's first millisecond belong to it, at its own price.
    await rollUpAll(estate.db, testContext);
    const next = await usage();
    expect(next).to.include({
      plan: "busy",
      periodStart: second["periodStart"],
      periodEnd: second["periodEnd"],
      invoicesCreated: 3,
      invoicesIncluded: 2,
      overageAmount: "1.25",
    });
    expect(usageLine(await bill())).to.include({ quantity: 1, amount: next["overageAmount"] });
    expect(await usage()).to.include({ invoicesCreated: 0, overageAmount: "0.00" });
    expect(usageLine(await bill())).to.equal(undefined);
  });

  it("is reported at 80 and at 100 percent, once per period", async () => {
    await begin("shop");
    const { app } = estate.app;
    const relay = createRelay({
      db: estate.db,
      leases: app.leases,
      subscribers: [(tx, relayed) => watchUsage(tx, app, relayed)],
      context: testContext,
    });
    const told = async () => {
      const { signal } = new AbortController();
      while (await relay.run(signal));
      const rows = await estate.db.find(
        events,
        "WHERE organization_id = $1 AND type = 'usage.threshold_reached' ORDER BY id",
        [shop.organizationId],
      );
      return rows.map(({ payload }) => [payload["percent"], payload["invoicesCreated"]]);
    };
    await issued(3);
    expect(await told()).to.deep.equal([]);
    await issued(1);
    expect(await told()).to.deep.equal([[80, 4]]);
    await issued(1);
    await issued(1);
    expect(await told()).to.deep.equal([
      [80, 4],
      [100, 6],
    ]);
    await issued(2);
    expect(await told()).to.have.length(2);
    await bill();
    expect(await told()).to.have.length(2);
    // If both thresholds are reached at once, only the higher one is reported.
    await issued(5);
    expect((await told()).slice(2)).to.deep.equal([[100, 5]]);
  });

  it("is reported even if it was not checked before the next period began", async () => {
    await begin("shop");
    const { currentPeriodStart } = await estate.subscription(shop);
    await issued(6);
    await bill();
    const { app } = estate.app;
    const relay = createRelay({
      db: estate.db,
      leases: app.leases,
      subscribers: [(tx, relayed) => watchUsage(tx, app, relayed)],
      context: testContext,
    });
    while (await relay.run(new AbortController().signal));
    const rows = await estate.db.find(
      events,
      "WHERE organization_id = $1 AND type = 'usage.threshold_reached' ORDER BY id",
      [shop.organizationId],
    );
    expect(rows.map(({ payload }) => payload)).to.deep.equal([
      { ...rows[0]?.payload, percent: 100, invoicesCreated: 6, periodStart: currentPeriodStart },
    ]);
  });

  it("is refused beyond a plan's limit until the next period, while drafts are allowed", async () => {
    await begin("closed");
    await issued(2);
    const refused = await issue();
    expect([refused.status, refused.body["code"]]).to.deep.equal([403, "plan_limit_reached"]);
    const draft = await expectStatus(issue({ draft: true }), 201);
    const path = `${shop.path}/invoices/${String(draft.body["id"])}`;
    const open = () =>
      estate.app.request("PATCH", path, { key: shop.key, body: { status: "open" } });
    expect((await open()).body["code"]).to.equal("plan_limit_reached");
    expect(await usage()).to.include({ invoicesCreated: 2, overageAmount: "0.00" });
    // The next period has its own limit, even before it is billed.
    estate.clock.advance(await endOfPeriod());
    await estate.mine();
    await expectStatus(open(), 200);
    await issued(1);
    expect((await issue()).body["code"]).to.equal("plan_limit_reached");
    expect((await bill())["total"]).to.equal("5.00");
    expect((await issue()).body["code"]).to.equal("plan_limit_reached");
    expect(await usage()).to.include({ invoicesCreated: 2 });
  });

  it("is not used up by strangers at a payment link, whose invoices count once there is money for them", async () => {
    await begin("closed");
    const link = await newLink();
    const started = await Promise.all(Array.from({ length: 24 }, () => startAt(link)));
    expect(await usage()).to.include({ invoicesCreated: 24, invoicesCounted: 0 });
    await issued(1);
    // At the limit, links are refused as every other invoice is.
    await issued(1);
    expect((await issue()).body["code"]).to.equal("plan_limit_reached");
    expect(await startAt(link)).to.equal(null);
    // An issued invoice is credited nevertheless.
    const paid = await payStarted(started[0]);
    expect(await statusOf(paid)).to.equal("paid");
    expect(await usage()).to.include({ invoicesCreated: 26, invoicesCounted: 3 });
    expect((await issue()).body["code"]).to.equal("plan_limit_reached");
  });

  it("counts an invoice of a link once: when money for it is first seen, not when more comes", async () => {
    await begin("busy");
    const link = await newLink();
    const half = await invoiceOf(await startAt(link));
    const whole = await invoiceOf(await startAt(link));
    await payInvoice(estate.app, half, 1_000_000n);
    await estate.mine(4);
    await payInvoice(estate.app, half, 4_000_000n);
    await payInvoice(estate.app, whole, 5_000_000n);
    await estate.mine(4);
    expect(await usage()).to.include({ invoicesCounted: 2, overageAmount: "0.00" });
    await issued(1);
    expect(await usage()).to.include({ invoicesCounted: 3, overageAmount: "1.25" });
    estate.clock.advance((await endOfPeriod()) - 60_000);
    await estate.mine();
    const late = await invoiceOf(await startAt(link));
    expect(usageLine(await bill())).to.include({ quantity: 1, amount: "1.25" });
    // Late money counts in the period in which it is seen.
    await payInvoice(estate.app, late, 5_000_000n);
    await estate.mine(4);
    expect(await usage()).to.include({ invoicesCreated: 0, invoicesCounted: 1 });
  });

  it("takes a count back when a reorganization removes the money, and counts it when it is back", async () => {
    await begin("closed");
    const link = await newLink();
    const first = await invoiceOf(await startAt(link));
    await payInvoice(estate.app, first, 5_000_000n);
    await estate.mine(1);
    expect(await usage()).to.include({ invoicesCounted: 1 });
    await reorganizeSandbox(estate.app.app, testContext, first, { drop: true });
    await estate.mine(2);
    expect(await usage()).to.include({ invoicesCounted: 0 });
    await issued(2);
    expect((await issue()).body["code"]).to.equal("plan_limit_reached");
    await payInvoice(estate.app, first, 5_000_000n);
    await estate.mine(4);
    expect(await usage()).to.include({ invoicesCounted: 3 });
  });

  it("takes no count back after its period was billed, and counts that invoice no second time", async () => {
    await begin("busy");
    const link = await newLink();
    estate.clock.advance((await endOfPeriod()) - 1_000);
    await estate.keepAwake();
    await estate.mine();
    const second = await invoiceOf(await startAt(link));
    await payInvoice(estate.app, second, 5_000_000n);
    await estate.mine(1);
    expect(await usage()).to.include({ invoicesCounted: 1 });
    estate.clock.advance(61_000);
    await estate.keepAwake();
    await estate.mine();
    await estate.run();
    expect(await usage()).to.include({ invoicesCounted: 0 });
    await reorganizeSandbox(estate.app.app, testContext, second, { drop: true });
    await estate.mine(2);
    await payInvoice(estate.app, second, 5_000_000n);
    await estate.mine(4);
    // It counted in the period that was billed, and no second time.
    expect(await usage()).to.include({ invoicesCounted: 0 });
  });

  it("is exact when payers of links and the merchant's own invoices meet at its limit", async () => {
    await begin("wide");
    const link = await newLink();
    const started = await Promise.all(Array.from({ length: 32 }, () => startAt(link)));
    const ids = await Promise.all(started.map(invoiceOf));
    for (const id of ids) await payInvoice(estate.app, id, 5_000_000n);
    await mineBlocks(estate.app.app, testContext, 4);
    const answers = await Promise.all([
      estate.look(),
      ...Array.from({ length: 64 }, async () => (await issue()).status),
    ]);
    await estate.mine(1);
    const own = answers.filter((status) => status === 201).length;
    expect(await usage()).to.include({ invoicesCounted: 32 + own });
    expect(own).to.be.within(8, 40);
    expect((await issue()).body["code"]).to.equal("plan_limit_reached");
  });
});
