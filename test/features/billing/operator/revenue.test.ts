// The platform's own revenue: recurring from subscriptions, and received for platform invoices.
import { expect } from "chai";
import { reorganizeSandbox } from "../../../../src/features/payments/sandbox/sandbox.ts";
import { expectStatus, type Merchant } from "../../../support/app.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";
import { openEstate, plansFile, type Estate } from "../billing-fleet.ts";

type Body = Readonly<Record<string, unknown>>;

const file = plansFile({
  month: { price: "49.00" },
  year: { price: "100.00", interval: "year" },
  trial: { price: "500.00", trialDays: 14 },
});

eachStore("the platform's revenue", (store) => {
  let estate: Estate;

  before(async () => {
    estate = await openEstate({
      place: await store.place("migrated"),
      settings: { TILL_PLANS_FILE: file },
    });
  });
  after(() => estate.stop());

  const admin = async (path: string): Promise<Body> => {
    const key = estate.platformKey;
    return (await expectStatus(estate.app.request("GET", `/v1/admin/${path}`, { key }), 200)).body;
  };
  async function join(plan: string): Promise<Merchant> {
    const merchant = await estate.merchant();
    await expectStatus(estate.select(merchant, plan), 200);
    return merchant;
  }
  const owedBy = async (merchant: Merchant) =>
    (await estate.subscription(merchant)).openInvoice?.id ?? "";

  it("is the monthly price of active plans, and the confirmed payments of platform invoices", async () => {
    const [monthly, yearly] = [await join("month"), await join("year")];
    await join("month");
    await join("trial");
    // Three paying subscriptions, two of them with the same terms, and a trial without revenue; a yearly price counts as
    // a twelfth per month.
    const summary = async () => {
      const { activeSubscriptionCount, monthlyRecurringRevenue } = await admin("analytics/summary");
      return [activeSubscriptionCount, monthlyRecurringRevenue];
    };
    expect(await summary()).to.deep.equal([3, "106.33"]);
    await estate.send(await owedBy(monthly));
    const today = async () => {
      const { revenueSeries: revenue } = (await admin("analytics/charts")) as {
        revenueSeries: Body[];
      };
      return revenue.map(({ volume }) => Number(volume)).reduce((sum, one) => sum + one, 0);
    };
    await estate.mine(1);
    expect(await today()).to.equal(0);
    await estate.mine(3);
    expect(await today()).to.equal(49);
    await estate.pay(await owedBy(yearly));
    expect(await today()).to.equal(149);
    await reorganizeSandbox(estate.app.app, testContext, 4, { drop: true });
    await estate.look();
    expect(await today()).to.equal(49);

    const listed = (await admin("organizations")) as { data: Body[] };
    const shown = listed.data.find(({ id }) => id === monthly.organizationId);
    const detail = await admin(`organizations/${monthly.organizationId}`);
    expect(JSON.stringify([shown, detail])).to.contain('"plan":"month"');

    // A suspended subscription brings no revenue, nor does an unpaid one after its trial.
    await estate.live(15);
    await estate.live(8);
    expect(await summary()).to.deep.equal([1, "49.00"]);
  });
});
