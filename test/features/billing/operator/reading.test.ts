import { expect } from "chai";
import type { PlatformInvoiceRow } from "../../../../src/features/billing/table.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import {
  approvedMerchant,
  expectStatus,
  platformKey,
  register,
  startApp,
  type Person,
  type TestApp,
} from "../../../support/app.ts";
import { eachStore } from "../../../support/store/stores.ts";
import { addInvoice } from "../balances/balance-fixture.ts";

type Body = Readonly<Record<string, unknown>>;

eachStore("plans and platform invoices", (store) => {
  store.leavesUnsound({
    checks: ["billing.invoices", "billing.numbers", "subscriptions.period"],
    because: "platform invoices and their subscriptions are inserted directly",
  });
  let app: TestApp;
  let key: string;
  let shop: Person;
  let paid: PlatformInvoiceRow;
  let open: PlatformInvoiceRow;

  before(async () => {
    app = await startApp({ place: await store.place("migrated"), background: false });
    key = await platformKey(app);
    shop = await register(app);
    const owner = shop.organizationId as Id<"organization">;
    paid = await addInvoice(app.app.db, owner, { status: "paid", paidAt: 1_800_000_000_500 });
    open = await addInvoice(app.app.db, owner, {
      twinId: "inv_01kq3v5m8w2f6n9r4t7x0z1c3e",
      twinPublicId: "INV-1",
      twinCheckoutId: "chk_secret",
    });
  });
  after(() => app.stop());

  const read = (path: string, credential: { token?: string; key?: string }) =>
    app.request("GET", `/v1${path}`, credential);
  const own = (rest = "", { organizationId, token } = shop) =>
    read(`/organizations/${organizationId}/billing/invoices${rest}`, { token });
  const idsOf = (body: Body) => (body["data"] as { id: string }[]).map(({ id }) => id);

  it("shows the plans with any credential and refuses requests without one", async () => {
    const { key: shopKey } = await approvedMerchant(app);
    for (const credential of [{ token: shop.token }, { key: shopKey }]) {
      const { body } = await expectStatus(read("/billing/plans", credential), 200);
      expect(body["nextCursor"]).to.equal(null);
      const [starter, growth] = body["data"] as Body[];
      expect(starter).to.include({ id: "starter", price: "0.00", overagePrice: null });
      expect(growth).to.include({ name: "Growth", trialDays: 14, includedInvoices: 200 });
      expect(growth).to.not.have.property("policy");
    }
    await expectStatus(read("/billing/plans", {}), 401);
  });

  it("shows an organization its invoices with lines and checkout URLs", async () => {
    const { body } = await expectStatus(own(`/${open.id}`), 200);
    expect(body).to.deep.include({
      id: open.id,
      number: open.number,
      status: "open",
      total: "49.00",
      currency: "USD",
      subtotal: "49.00",
      discountTotal: "0.00",
      creditTotal: "0.00",
      paidAt: null,
      merchantInvoicePublicId: "INV-1",
      checkoutUrl: `${app.url}/pay/chk_secret`,
      lines: [
        {
          id: `${open.id}_0`,
          kind: "plan",
          description: "Growth plan",
          quantity: 1,
          unitAmount: "49.00",
          amount: "49.00",
        },
      ],
    });
    const settled = await expectStatus(own(`/${paid.id}`), 200);
    expect(settled.body).to.include({ checkoutUrl: null, merchantInvoicePublicId: null });
    expect(settled.body["paidAt"]).to.equal(new Date(1_800_000_000_500).toISOString());
  });

  it("lists an organization's invoices newest first, by status and in pages", async () => {
    expect(idsOf((await own()).body)).to.deep.equal([open.id, paid.id]);
    expect(idsOf((await own("?status=paid")).body)).to.deep.equal([paid.id]);
    expect(idsOf((await own("?status=draft")).body)).to.deep.equal([]);
    const first = await own("?limit=1");
    expect(idsOf(first.body)).to.deep.equal([open.id]);
    const rest = await own(`?limit=1&cursor=${String(first.body["nextCursor"])}`);
    expect(idsOf(rest.body)).to.deep.equal([paid.id]);
    await expectStatus(own("?status=lost"), 400);
  });

  it("hides the invoices of other organizations", async () => {
    const other = await register(app);
    await expectStatus(own(`/${open.id}`, other), 404);
    expect(idsOf((await own("", other)).body)).to.deep.equal([]);
    const foreign = `/organizations/${shop.organizationId}/billing/invoices`;
    await expectStatus(read(foreign, { token: other.token }), 404);
    await expectStatus(read(`${foreign}/${open.id}`, { token: other.token }), 404);
    await expectStatus(own("/pin_01kq3v5m8w2f6n9r4t7x0z1c3e"), 404);
  });

  it("shows platform admins all invoices with organization names and payments", async () => {
    const all = await expectStatus(read("/admin/billing/invoices", { key }), 200);
    expect(idsOf(all.body)).to.deep.equal([open.id, paid.id]);
    expect((all.body["data"] as Body[])[0]).to.include({ organizationName: "Ada's shop" });
    const narrowed = `?organizationId=${shop.organizationId}&status=open`;
    const some = await expectStatus(read(`/admin/billing/invoices${narrowed}`, { key }), 200);
    expect(idsOf(some.body)).to.deep.equal([open.id]);
    const nobody = "?organizationId=org_01kq3v5m8w2f6n9r4t7x0z1c3e";
    expect(idsOf((await read(`/admin/billing/invoices${nobody}`, { key })).body)).to.be.empty;
    const one = await expectStatus(read(`/admin/billing/invoices/${open.id}`, { key }), 200);
    expect(one.body).to.deep.include({ organizationName: "Ada's shop", payments: [] });
    await expectStatus(read("/admin/billing/invoices", { token: shop.token }), 403);
  });
});
