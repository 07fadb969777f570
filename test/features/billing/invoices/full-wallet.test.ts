// The platform is paid at a shared address on which all amounts near the price are reserved.
import { expect } from "chai";
import { billingChecks } from "../../../../src/features/billing/checks.ts";
import { holds } from "../../../../src/features/invoices/table.ts";
import { day } from "../../../../src/kernel/clock.ts";
import { createIds } from "../../../../src/kernel/id.ts";
import { systemRandom } from "../../../../src/platform/secrets/tokens.ts";
import { expectStatus, type Merchant } from "../../../support/app.ts";
import { xpubs } from "../../../support/merchants.ts";
import { eachStore, testContext } from "../../../support/store/stores.ts";
import { openEstate, plansFile, setReceiveWallet, type Estate } from "../billing-fleet.ts";
import { unmarked } from "../../../support/amounts.ts";

const address = `0x${"5".repeat(40)}`;
/** A price so low that few amounts are near it: at most one percent more, in millionths. */
const file = plansFile({ tiny: { price: "1.00" }, free: { price: "0.00" } });
const price = 1_000_000n;
const placesNear = 10_001;
const ids = createIds(systemRandom);

eachStore("a platform with a receive wallet without free amounts", (store) => {
  let estate: Estate;
  let shop: Merchant;

  beforeEach(async () => {
    estate = await openEstate({
      place: await store.place("migrated"),
      settings: { TILL_PLANS_FILE: file },
      receive: { address },
    });
    shop = await estate.merchant();
    await expectStatus(estate.select(shop, "tiny"), 200);
    await estate.pay((await estate.subscription(shop)).openInvoice?.id ?? "");
  });
  afterEach(async () => {
    await free();
    for (const check of billingChecks) {
      expect(await check.run(estate.db), check.name).to.deep.equal([]);
    }
    await estate.stop();
  });

  /** Reserves every free amount, as that many invoices would. */
  async function fill(): Promise<void> {
    const taken = await estate.db.find(holds, "WHERE released_at IS NULL");
    const at = estate.clock.now();
    const rows = Array.from({ length: placesNear }, (_, place) => price + BigInt(place))
      .filter((amount) => !taken.some((hold) => hold.amount === amount))
      .map((amount) => ({
        id: ids.next("hold", at),
        network: "sandbox",
        address: address.slice(2),
        token: "USDT",
        amount,
        leastAmount: amount,
        price: null,
        invoiceId: "inv_filler" as const,
        enteredAtLink: null,
        needsDecision: false,
        kind: "amount" as const,
        organizationId: estate.admin.organizationId as `org_${string}`,
        startsAt: at,
        endsAt: at + 90 * day,
        releasedAt: null,
        recycledAt: null,
        recyclableKey: null,
        isNewAddress: false,
        ...unmarked,
      }));
    await estate.db.write(testContext, (tx) => tx.insertMany(holds, rows));
  }

  const free = () =>
    estate.db.write(testContext, (tx) =>
      tx.run("DELETE FROM holds WHERE invoice_id = 'inv_filler'"),
    );

  async function jobs(): Promise<Record<string, unknown>[]> {
    const path = "/v1/admin/queues/billing/failed-jobs";
    const key = estate.platformKey;
    const { body } = await expectStatus(estate.app.request("GET", path, { key }), 200);
    return body["data"] as Record<string, unknown>[];
  }

  /** Reaches the period boundary and expects that it cannot be invoiced. */
  async function expectParked(): Promise<void> {
    const { currentPeriodEnd } = await estate.subscription(shop);
    await fill();
    const parked = await estate.live(
      (Date.parse(currentPeriodEnd) - estate.clock.now()) / day + 0.01,
    );
    expect(parked.parked).to.equal(1);
    const now = await estate.subscription(shop);
    // Nothing is half-done: the old period remains, and no number is used up.
    expect(now).to.include({ currentPeriodEnd, status: "active", openInvoice: null });
    expect(await estate.invoices(shop)).to.have.length(1);
    const [job] = await jobs();
    expect(job?.["failedReason"]).to.contain("wallet_capacity_exhausted");
    expect(job?.["organizationId"]).to.equal(shop.organizationId);
  }

  async function expectMended(): Promise<void> {
    estate.clock.advance(61_000);
    await estate.keepAwake();
    expect((await estate.run()).parked).to.equal(0);
    expect(await jobs()).to.deep.equal([]);
    const numbers = (await estate.invoices(shop)).map(({ number }) => number);
    expect(numbers).to.deep.equal(["TILL-000001", "TILL-000002"]);
    await estate.run();
    expect(await estate.invoices(shop)).to.have.length(2);
    await estate.pay((await estate.subscription(shop)).openInvoice?.id ?? "");
    expect(await estate.subscription(shop)).to.include({ status: "active", openInvoice: null });
  }

  it("parks the boundary and invoices it once when an amount is free again", async () => {
    await expectParked();
    const other = await estate.merchant();
    const refused = await estate.select(other, "tiny");
    expect([refused.status, refused.body["code"]]).to.deep.equal([409, "no_receive_wallet"]);
    await expectStatus(estate.select(other, "free"), 200);
    await free();
    await expectMended();
  });

  it("invoices the boundary once when the receive wallet becomes an extended key", async () => {
    await expectParked();
    const token = await estate.tokenOf(estate.admin);
    await setReceiveWallet(estate.app, { ...estate.admin, token }, { xpub: xpubs.first });
    await expectMended();
  });
});
