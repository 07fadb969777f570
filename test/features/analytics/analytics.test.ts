// Analytics over HTTP, on both databases: figures that were worked out by hand, and everything that is refused.
import { expect } from "chai";
import { addOrganization } from "../../../src/features/organizations/organizations.ts";
import { roles } from "../../../src/http/declare/permissions.ts";
import { organizations } from "../../../src/features/organizations/store.ts";
import {
  approve,
  colleague,
  expectStatus,
  keyOf,
  legalFields,
  platformKey,
  register,
  startApp,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { handWritten, openBooks, type Books } from "./books.ts";
import { placeOf, type FieldFault } from "../../http/problem.ts";

/** Of 2026. */
const on = (month: number, date: number, hours = 0, minutes = 0) =>
  Date.UTC(2026, month - 1, date, hours, minutes);
const march = { from: "2026-03-01T00:00:00.000Z", to: "2026-04-01T00:00:00.000Z" };

eachStore("analytics", (store) => {
  store.leavesUnsound(handWritten);

  let app: TestApp;
  let books: Books;
  let platform: string;
  let ada: Person;
  let bob: Person;
  let customers: string[];
  let wallets: string[];

  const home = (who: Person) => `${who.path}/analytics`;
  const query = (given: Record<string, string>) => new URLSearchParams(given).toString();
  const get = (what: string, given: Record<string, string> = {}, who: Person = ada) =>
    app.request("GET", `${home(who)}/${what}?${query(given)}`, { token: who.token });
  const admin = (what: string, given: Record<string, string> = {}, key = platform) =>
    app.request("GET", `/v1/admin/analytics/${what}?${query(given)}`, { key });
  const body = async (answering: ReturnType<typeof get>) =>
    (await expectStatus(answering, 200)).body;

  /** March at Ada's: 4 invoices in USD, 3 paid of which one twice, one canceled; one more in tokens. And one of Bob's. */
  async function write(): Promise<void> {
    const [grace, mary] = customers;
    const [first, second] = wallets;
    const { organizationId } = ada;
    const paid = { organizationId, status: "paid", walletId: first ?? null } as const;
    const graces = { ...paid, customerId: grace ?? null };
    const one = await books.issue({ ...graces, at: on(3, 1), amount: 1_000n });
    await books.pay(one, { at: on(3, 1), worth: 1_000n });
    const two = await books.issue({ ...graces, at: on(3, 2, 23, 59), amount: 2_550n });
    await books.pay(two, { at: on(3, 2, 23, 59), worth: 550n });
    await books.pay(two, { at: on(3, 3), worth: 2_000n });
    await books.settle();
    const three = await books.issue({
      ...paid,
      walletId: second ?? null,
      customerId: mary ?? null,
      at: on(3, 30, 12),
      amount: 5_001n,
    });
    await books.pay(three, { at: on(3, 31, 23, 59), worth: 5_001n });
    // Payments that are not confirmed, or reverted.
    await books.pay(three, { at: on(3, 31), worth: 9_999n, status: "confirming" });
    await books.pay(three, { at: on(3, 31), worth: 9_999n, status: "review" });
    const gone = await books.pay(three, { at: on(3, 31), worth: 9_999n });
    await books.change(three, gone, { status: "reverted" });
    const canceled = await books.issue({ organizationId, at: on(3, 15), amount: 300n });
    await books.setStatus(canceled, "canceled");
    // Outside of March, or of USD.
    await books.issue({ organizationId, at: on(4, 1), amount: 7_000n });
    const before = await books.issue({ ...graces, at: on(2, 28, 23, 59), amount: 4_000n });
    await books.pay(before, { at: on(4, 1), worth: 4_000n });
    const inTokens = await books.issue({
      ...graces,
      at: on(3, 5),
      amount: 1_500_001n,
      currency: "USDT",
      decimals: 6,
    });
    await books.pay(inTokens, { at: on(3, 5), worth: 1_500_001n });
    await books.issue({ organizationId, at: on(3, 20), amount: 800n, status: "draft" });
    const bobs = await books.issue({
      organizationId: bob.organizationId,
      at: on(3, 10),
      amount: 100_000n,
      status: "paid",
      customerId: customers[2] ?? null,
      walletId: wallets[2] ?? null,
    });
    await books.pay(bobs, { at: on(3, 10), worth: 100_000n });
  }

  async function subject(who: Person, path: string, given: object): Promise<string> {
    const url = `${who.path}/${path}`;
    const made = await expectStatus(
      app.request("POST", url, { token: who.token, body: given }),
      201,
    );
    return made.body["id"] as string;
  }
  const wallet = (who: Person, label: string, digit: string) =>
    subject(who, "wallets", { label, network: "sandbox", address: `0x${digit.repeat(40)}` });

  before(async () => {
    app = await startApp({ place: await store.place("migrated"), background: false });
    app.clock.advance(on(5, 1) - app.clock.now());
    books = openBooks(app.app.db);
    platform = await platformKey(app);
    ada = await register(app);
    bob = await register(app, "Bob");
    customers = [
      await subject(ada, "customers", { name: "Grace", email: "grace@example.com" }),
      await subject(ada, "customers", { name: "Mary" }),
      await subject(bob, "customers", { name: "Bob's own" }),
    ];
    wallets = [
      await wallet(ada, "Till", "1"),
      await wallet(ada, "Safe", "2"),
      await wallet(bob, "Bob's", "3"),
    ];
    await write();
  });
  after(() => app.stop());

  for (const moment of ["while the last changes are not summed", "when all are summed"]) {
    describe(moment, () => {
      before(async () => {
        if (moment.startsWith("when")) await books.settle();
      });

      it("sums up a period", async () => {
        expect(await body(get("summary", march))).to.deep.equal({
          ...march,
          currency: "USD",
          processedVolume: "85.51",
          paymentCount: 4,
          invoiceCount: 4,
          paidInvoiceCount: 3,
          // 88.51 / 4 = 22.1275
          averageInvoiceAmount: "22.13",
          conversionRate: "0.75",
          // The open invoice was issued in April.
          outstandingAmount: "70.00",
          customerCount: 2,
        });
      });

      it("includes the start of the period and excludes its end", async () => {
        const within = (from: string, to: string) =>
          body(get("summary", { from: `2026-03-${from}Z`, to: `2026-03-${to}Z` }));
        expect(await within("01T00:00:00.000", "01T00:00:00.001")).to.include({
          processedVolume: "10.00",
          invoiceCount: 1,
        });
        expect(await within("01T00:00:00.001", "02T23:59:00.000")).to.include({
          processedVolume: "0.00",
          invoiceCount: 0,
          averageInvoiceAmount: "0.00",
          conversionRate: "0.00",
        });
        expect(await within("02T23:59:00.000", "03T00:00:00.001")).to.include({
          processedVolume: "25.50",
          paymentCount: 2,
          invoiceCount: 1,
          conversionRate: "1.00",
        });
      });

      it("covers one currency at a time", async () => {
        expect(await body(get("summary", { ...march, currency: "USDT" }))).to.include({
          currency: "USDT",
          processedVolume: "1.500001",
          paymentCount: 1,
          invoiceCount: 1,
          averageInvoiceAmount: "1.500001",
          outstandingAmount: "0.00",
        });
        expect(await body(get("summary", { ...march, currency: "JPY" }))).to.include({
          processedVolume: "0",
          paymentCount: 0,
        });
      });

      it("charts every day, week and month", async () => {
        const days = await body(get("charts", march));
        expect(days).to.include({ ...march, currency: "USD", interval: "day" });
        const series = days["volumeSeries"] as Record<string, unknown>[];
        expect(series).to.have.length(31);
        expect(series.filter(({ paymentCount }) => paymentCount !== 0)).to.deep.equal([
          { periodStart: "2026-03-01T00:00:00.000Z", volume: "10.00", paymentCount: 1 },
          { periodStart: "2026-03-02T00:00:00.000Z", volume: "5.50", paymentCount: 1 },
          { periodStart: "2026-03-03T00:00:00.000Z", volume: "20.00", paymentCount: 1 },
          { periodStart: "2026-03-31T00:00:00.000Z", volume: "50.01", paymentCount: 1 },
        ]);
        const weeks = await body(get("charts", { ...march, interval: "week" }));
        expect(weeks["volumeSeries"]).to.deep.equal([
          // The week before has one day of March: a Sunday.
          { periodStart: "2026-02-23T00:00:00.000Z", volume: "10.00", paymentCount: 1 },
          { periodStart: "2026-03-02T00:00:00.000Z", volume: "25.50", paymentCount: 2 },
          { periodStart: "2026-03-09T00:00:00.000Z", volume: "0.00", paymentCount: 0 },
          { periodStart: "2026-03-16T00:00:00.000Z", volume: "0.00", paymentCount: 0 },
          { periodStart: "2026-03-23T00:00:00.000Z", volume: "0.00", paymentCount: 0 },
          { periodStart: "2026-03-30T00:00:00.000Z", volume: "50.01", paymentCount: 1 },
        ]);
        const given = { from: "2026-01-31T12:00:00Z", to: "2026-04-01T00:00:01+00:00" };
        const months = await body(get("charts", { ...given, interval: "month" }));
        expect(months["volumeSeries"]).to.deep.equal([
          { periodStart: "2026-01-01T00:00:00.000Z", volume: "0.00", paymentCount: 0 },
          { periodStart: "2026-02-01T00:00:00.000Z", volume: "0.00", paymentCount: 0 },
          { periodStart: "2026-03-01T00:00:00.000Z", volume: "85.51", paymentCount: 4 },
          { periodStart: "2026-04-01T00:00:00.000Z", volume: "40.00", paymentCount: 1 },
        ]);
      });

      it("breaks invoices down by every status", async () => {
        const charts = await body(get("charts", march));
        expect(charts["invoiceStatusBreakdown"]).to.deep.equal([
          { status: "draft", count: 1, amount: "8.00" },
          { status: "open", count: 0, amount: "0.00" },
          { status: "partially_paid", count: 0, amount: "0.00" },
          { status: "confirming", count: 0, amount: "0.00" },
          { status: "paid", count: 3, amount: "85.51" },
          { status: "expired", count: 0, amount: "0.00" },
          { status: "canceled", count: 1, amount: "3.00" },
        ]);
      });

      it("ranks customers and wallets", async () => {
        const [grace, mary] = customers;
        const top = await body(get("top-customers", march));
        expect(top).to.deep.equal({
          data: [
            { customerId: mary, name: "Mary", email: null, volume: "50.01", paymentCount: 1 },
            {
              customerId: grace,
              name: "Grace",
              email: "grace@example.com",
              volume: "35.50",
              paymentCount: 3,
            },
          ],
          nextCursor: null,
        });
        const first = (await body(get("top-customers", { ...march, limit: "1" })))["data"];
        expect(first).to.deep.equal((top["data"] as unknown[]).slice(0, 1));
        expect((await body(get("top-wallets", march)))["data"]).to.deep.equal([
          {
            walletId: wallets[1],
            label: "Safe",
            network: "sandbox",
            address: `0x${"2".repeat(40)}`,
            volume: "50.01",
            paymentCount: 1,
          },
          {
            walletId: wallets[0],
            label: "Till",
            network: "sandbox",
            address: `0x${"1".repeat(40)}`,
            volume: "35.50",
            paymentCount: 3,
          },
        ]);
      });

      it("sums up the platform", async () => {
        expect(await body(admin("summary", march))).to.deep.equal({
          ...march,
          currency: "USD",
          processedVolume: "1085.51",
          paymentCount: 5,
          invoiceCount: 5,
          paidInvoiceCount: 4,
          // 1088.51 / 5 = 217.702
          averageInvoiceAmount: "217.70",
          conversionRate: "0.80",
          organizationCount: (await app.app.db.find(organizations, "")).length,
          pendingReviewCount: 0,
          activeSubscriptionCount: 0,
          monthlyRecurringRevenue: "0.00",
        });
        expect((await body(admin("top-organizations", march)))["data"]).to.deep.equal([
          {
            organizationId: bob.organizationId,
            name: "Bob's shop",
            volume: "1000.00",
            paymentCount: 1,
          },
          {
            organizationId: ada.organizationId,
            name: "Ada's shop",
            volume: "85.51",
            paymentCount: 4,
          },
        ]);
      });
    });
  }

  it("covers the last 30 days by default", async () => {
    const askedAt = app.app.clock.now();
    const answer = await body(get("summary"));
    const [from, to] = [answer["from"], answer["to"]].map((at) => Date.parse(at as string));
    expect((to ?? 0) - (from ?? 0)).to.equal(30 * 86_400_000);
    expect(to).to.be.within(askedAt - 1_000, app.app.clock.now() + 1);
    const until = await body(get("summary", { to: "2026-03-31T00:00:00.000Z" }));
    expect(until).to.include({ from: "2026-03-01T00:00:00.000Z", processedVolume: "35.50" });
    const charts = await body(get("charts"));
    expect(charts["interval"]).to.equal("day");
    expect(charts["volumeSeries"]).to.have.length(31);
  });

  it("counts the platform's organizations per day", async () => {
    const eve = await register(app, "Eve");
    const { path } = eve;
    const { clock, db } = app.app;
    const pending = async () => (await body(admin("summary")))["pendingReviewCount"];
    await expectStatus(app.request("PATCH", path, { token: eve.token, body: legalFields }), 200);
    await expectStatus(app.request("POST", `${path}/kyb/submit`, { token: eve.token }), 200);
    expect(await pending()).to.equal(1);
    await approve(app, platform, eve.organizationId);
    expect(await pending()).to.equal(0);
    await db.write(testContext, (tx) =>
      addOrganization(tx, app.app, clock.now(), { name: "One more", ownerId: null }),
    );
    const charts = await body(admin("charts", { interval: "month" }));
    const may = { periodStart: "2026-05-01T00:00:00.000Z" };
    expect(charts["organizationSeries"]).to.deep.equal([
      { periodStart: "2026-04-01T00:00:00.000Z", created: 0, approved: 0 },
      { ...may, created: 5, approved: 1 },
    ]);
    expect(charts["revenueSeries"]).to.deep.equal([
      { periodStart: "2026-04-01T00:00:00.000Z", volume: "0.00", paymentCount: 0 },
      { ...may, volume: "0.00", paymentCount: 0 },
    ]);
    expect(charts["volumeSeries"]).to.have.length(2);
  });

  it("names what is wrong with a query", async () => {
    const pointers = async (what: string, given: Record<string, string>) => {
      const answer = await expectStatus(get(what, given), 400);
      return (answer.body["errors"] as FieldFault[]).map(placeOf);
    };
    for (const what of ["summary", "charts", "top-customers", "top-wallets"]) {
      expect(await pointers(what, { from: "yesterday" })).to.deep.equal(["?from"]);
      expect(await pointers(what, { to: "2026-02-30T00:00:00Z" })).to.deep.equal(["?to"]);
      expect(await pointers(what, { ...march, to: march.from })).to.deep.equal(["?from"]);
      expect(await pointers(what, { from: "2027-01-01T00:00:00Z" })).to.deep.equal(["?from"]);
      for (const currency of ["usd", "US", "XAU", "DOGE", "", "U".repeat(300)]) {
        expect(await pointers(what, { currency }), currency).to.deep.equal(["?currency"]);
      }
      const both = { from: march.to, to: march.from, currency: "?" };
      expect(await pointers(what, both)).to.deep.equal(["?from", "?currency"]);
      expect(await pointers(what, { cursor: "x" })).to.deep.equal(["?cursor"]);
    }
    expect(await pointers("charts", { interval: "hour" })).to.deep.equal(["?interval"]);
    for (const limit of ["0", "101", "1.5", "-1", "ten"]) {
      expect(await pointers("top-customers", { limit }), limit).to.deep.equal(["?limit"]);
    }
  });

  it("returns at most 400 points, and says so", async () => {
    const until = (to: string, interval: string) =>
      get("charts", { from: "2026-01-01T00:00:00Z", to, interval });
    await expectStatus(until("2027-02-05T00:00:00Z", "day"), 200);
    const answer = await expectStatus(until("2027-02-05T00:00:00.001Z", "day"), 422);
    expect(answer.body["code"]).to.equal("too_many_buckets");
    await expectStatus(until("2027-02-05T00:00:00.001Z", "week"), 200);
    await expectStatus(until("9999-12-31T00:00:00Z", "month"), 422);
    await expectStatus(
      get("summary", { from: "0001-01-01T00:00:00Z", to: "9999-12-31T00:00:00Z" }),
      200,
    );
  });

  it("can be read by every role and key of the organization, and by no one else", async () => {
    const paths = ["summary", "charts", "top-customers", "top-wallets"];
    for (const what of paths) {
      for (const role of roles) await body(get(what, {}, await colleague(app, ada, role)));
      const path = `${home(ada)}/${what}`;
      await expectStatus(app.request("GET", path, { key: await keyOf(app, ada, "read") }), 200);
      await expectStatus(app.request("GET", path, { token: bob.token }), 404);
      await expectStatus(app.request("GET", path, { key: await keyOf(app, bob, "write") }), 404);
      await expectStatus(app.request("GET", path, { key: platform }), 404);
      await expectStatus(app.request("GET", path), 401);
    }
  });

  it("shows an organization nothing of another", async () => {
    expect(await body(get("summary", march, bob))).to.include({
      processedVolume: "1000.00",
      invoiceCount: 1,
      customerCount: 1,
      outstandingAmount: "0.00",
    });
    const top = await body(get("top-customers", march, bob));
    expect((top["data"] as { name: string }[]).map(({ name }) => name)).to.deep.equal([
      "Bob's own",
    ]);
    const none = await register(app, "New");
    expect(await body(get("summary", march, none))).to.include({ invoiceCount: 0 });
    expect((await body(get("top-wallets", march, none)))["data"]).to.deep.equal([]);
  });

  it("shows platform statistics only to the platform", async () => {
    for (const what of ["summary", "charts", "top-organizations"]) {
      const path = `/v1/admin/analytics/${what}`;
      expect((await app.request("GET", path, { token: ada.token })).status).to.equal(403);
      const key = await keyOf(app, ada, "read", "write");
      expect((await app.request("GET", path, { key })).status).to.equal(403);
      await expectStatus(app.request("GET", path), 401);
      await expectStatus(admin(what, { currency: "none" }), 400);
    }
    await expectStatus(admin("charts", { ...march, to: "2030-01-01T00:00:00Z" }), 422);
  });
});
