// Usage over HTTP, on both databases: what counts for the period, and what never lowers it.
import { expect } from "chai";
import {
  colleague,
  expectStatus,
  keyOf,
  register,
  startApp,
  type Person,
  type TestApp,
} from "../../support/app.ts";
import { eachStore } from "../../support/store/stores.ts";
import { handWritten, openBooks, type Books } from "./books.ts";

/** In March of 2026, which the tests take for the present month. */
const on = (date: number, hours = 0) => Date.UTC(2026, 2, date, hours);

eachStore("usage", (store) => {
  store.leavesUnsound(handWritten);

  let app: TestApp;
  let books: Books;
  let ada: Person;

  before(async () => {
    app = await startApp({ place: await store.place("migrated"), background: false });
    books = openBooks(app.app.db);
    app.clock.advance(on(20) - app.clock.now());
  });
  beforeEach(async () => {
    ada = await register(app);
  });
  after(() => app.stop());

  const path = (who: Person) => `${who.path}/usage`;
  const usage = async (who: Person = ada) =>
    (await expectStatus(app.request("GET", path(who), { token: who.token }), 200)).body;
  const issue = (given: Partial<Parameters<Books["issue"]>[0]> = {}) =>
    books.issue({ organizationId: ada.organizationId, at: on(10), amount: 2_500n, ...given });

  it("is empty at first, for the calendar month in UTC, without a plan", async () => {
    expect(await usage()).to.deep.equal({
      organizationId: ada.organizationId,
      plan: null,
      periodStart: "2026-03-01T00:00:00.000Z",
      periodEnd: "2026-04-01T00:00:00.000Z",
      invoicesCreated: 0,
      invoicesCounted: 0,
      invoicesIncluded: null,
      paymentsConfirmed: 0,
      processedVolume: "0.00",
      currency: "USD",
      overageAmount: "0.00",
    });
  });

  it("counts invoices issued in the month, in every currency, and no drafts", async () => {
    await issue({ at: on(1) });
    await issue({ at: on(31, 24) - 1 });
    await issue({ currency: "USDT", decimals: 6 });
    await issue({ status: "draft" });
    await issue({ at: on(1) - 1 });
    await issue({ at: on(32) });
    expect(await usage()).to.include({ invoicesCreated: 3, paymentsConfirmed: 0 });
  });

  it("never decreases when an invoice is canceled, expires or is paid", async () => {
    for (const status of ["canceled", "expired", "paid"] as const) {
      await books.setStatus(await issue(), status);
    }
    expect(await usage()).to.include({ invoicesCreated: 3 });
    await books.settle();
    expect(await usage()).to.include({ invoicesCreated: 3 });
  });

  it("counts confirmed payments by block time, and removes reverted ones", async () => {
    const invoice = await issue({ at: on(1) - 1 });
    await books.pay(invoice, { at: on(1), worth: 1_000n });
    await books.pay(invoice, { at: on(1) - 1, worth: 1_000n });
    await books.pay(invoice, { at: on(5), worth: 1_000n, status: "confirming" });
    const tokens = await issue({ at: on(1) - 1, currency: "USDT", decimals: 6 });
    await books.pay(tokens, { at: on(7), worth: 5_000_000n });
    const gone = await books.pay(invoice, { at: on(6), worth: 1_500n });
    const before = { invoicesCreated: 0, paymentsConfirmed: 3, processedVolume: "25.00" };
    expect(await usage()).to.include(before);
    await books.settle();
    await books.change(invoice, gone, { status: "reverted" });
    expect(await usage()).to.include({ paymentsConfirmed: 2, processedVolume: "10.00" });
  });

  it("can be read by every role and key of the organization, and by no one else", async () => {
    await issue();
    for (const role of ["viewer", "member", "admin", "owner"] as const) {
      expect(await usage(await colleague(app, ada, role))).to.include({ invoicesCreated: 1 });
    }
    await expectStatus(app.request("GET", path(ada), { key: await keyOf(app, ada, "read") }), 200);
    const bob = await register(app, "Bob");
    await expectStatus(app.request("GET", path(ada), { token: bob.token }), 404);
    await expectStatus(app.request("GET", path(ada)), 401);
    await expectStatus(app.request("GET", `${path(ada)}?from=x`, { token: ada.token }), 400);
    expect(await usage(bob)).to.include({ invoicesCreated: 0 });
  });
});
