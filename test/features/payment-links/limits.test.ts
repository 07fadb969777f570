// The invoices and addresses that strangers may take of a merchant at payment links.
import { expect } from "chai";
import { LinkLimitReached } from "../../../src/features/invoices/errors.ts";
import { invoices } from "../../../src/features/invoices/table.ts";
import {
  linkLimits,
  withinLinkLimits,
} from "../../../src/features/invoices/issuing/link-limits.ts";
import { events } from "../../../src/platform/events/outbox.ts";
import { hour } from "../../../src/kernel/clock.ts";
import { expectStatus, type Json, type Merchant } from "../../support/app.ts";
import { xpubOf } from "../../support/merchants.ts";
import { countRows, tableNamesOf } from "../../support/store/dump.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { openCounter, type Counter } from "../../support/counter.ts";

const priced = { settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };
const options = ["USDT", "USDC"].map((tokenSymbol) => ({ network: "sandbox", tokenSymbol }));

eachStore("A payment link that strangers open", (store) => {
  store.leavesUnsound({
    checks: ["invoices.held", "invoices.search-terms", "figures.facts"],
    because: "copies of an invoice stand for those of strangers",
  });
  let counter: Counter;
  let merchant: Merchant;
  let wallets = 200;
  let visitors = 0;
  before(async () => {
    counter = await openCounter(store, { TILL_TRUST_PROXY: "127.0.0.1" });
  });
  after(() => counter.stop());
  beforeEach(async () => {
    merchant = await counter.merchant();
    const wallet = { label: "Keys", network: "sandbox", xpub: xpubOf((wallets += 1)) };
    await expectStatus(counter.post(merchant, "/wallets", wallet), 201);
  });

  const newLink = async (terms: Json = {}) => {
    const body = { ...priced, amount: "25.00", ...terms };
    return (await expectStatus(counter.post(merchant, "/payment-links", body), 201)).body;
  };
  const pathOf = ({ id }: Json) => `${counter.app.url}/link/${String(id)}`;
  /** Returns a client address in a range that no other one is in. */
  const newVisitor = () => `10.${String((visitors += 1) >> 8)}.${String(visitors & 255)}.1`;
  const enter = async (link: Json, from = newVisitor(), form: Record<string, string> = {}) => {
    const answer = await fetch(pathOf(link), {
      method: "POST",
      headers: { "X-Forwarded-For": from },
      body: new URLSearchParams(form),
      redirect: "manual",
    });
    return answer.headers.get("location") ?? "";
  };
  /** Opens a link as often as given, some at a time, and returns how many payments were started. */
  const flood = async (link: Json, count: number, from?: () => string) => {
    let started = 0;
    for (let left = count; left > 0; left -= 64) {
      const answers = await Promise.all(
        Array.from({ length: Math.min(64, left) }, () => enter(link, from?.())),
      );
      started += answers.filter((location) => location.startsWith("/pay/")).length;
    }
    return started;
  };
  /** Stores open invoices as if strangers had started them at a link. */
  const fill = async (link: Json, count: number, range: (place: number) => string) => {
    await enter(link);
    const { db, ids } = counter.app.app;
    const [like] = await db.find(invoices, "WHERE started_at_link = $1", [String(link["id"])]);
    if (like === undefined) throw new Error("nothing was started");
    const rows = Array.from({ length: count - 1 }, (_, place) => ({
      ...like,
      id: ids.next("invoice", counter.app.clock.now()),
      publicId: ids.unguessable("ipub"),
      checkoutId: ids.unguessable("chk"),
      startedFrom: range(place),
    }));
    await db.write(testContext, (tx) => tx.insertMany(invoices, rows));
    return rows;
  };

  const told = async (link: Json) =>
    counter.app.app.db.find(events, "WHERE object_id = $1 AND type = 'payment_link.limited'", [
      String(link["id"]),
    ]);
  /** Returns the limits that the events of a link name, oldest first. */
  const toldLimits = async (link: Json) =>
    (await told(link))
      .toSorted((one, other) => one.objectVersion - other.objectVersion)
      .map(({ payload }) => payload["limit"]);
  const refused = (link: Json) => `/link/${String(link["id"])}?failed=unavailable`;

  it("stores nothing and takes no address until its form is sent", async () => {
    const link = await newLink({
      tokenSymbol: undefined,
      network: undefined,
      paymentOptions: options,
    });
    const { db } = counter.app.app;
    const counts = async () =>
      Object.fromEntries(
        await Promise.all(
          (await tableNamesOf(db)).map(async (name) => [name, await countRows(db, name)] as const),
        ),
      );
    const before = await counts();
    for (const path of ["", "/poster", "?failed=option", "?lang=ar", "/poster?lang=de"]) {
      expect((await fetch(pathOf(link) + path)).status).to.equal(200);
    }
    expect(await counts()).to.deep.equal(before);
  });

  it("takes an address for the option that its payer chooses, and none for the others", async () => {
    const link = await newLink({
      tokenSymbol: undefined,
      network: undefined,
      paymentOptions: options,
    });
    const form = await (await fetch(pathOf(link))).text();
    expect(form).to.contain('<label for="option">').and.to.contain('value="sandbox/USDC"');
    expect(await enter(link, newVisitor(), { option: "sandbox/USDC" })).to.match(/^\/pay\//);
    const [started = {}] = await counter.list(merchant, "/invoices");
    expect(started).to.include({ tokenSymbol: "USDC", status: "open" });
    const { db } = counter.app.app;
    const held = await countRows(db, "holds", "WHERE invoice_id = $1", [String(started["id"])]);
    expect(held).to.equal(1);
    // Other options can still be chosen at the checkout.
    const path = `/v1/checkout/${String(started["checkoutId"])}/option`;
    await expectStatus(
      counter.app.request("POST", path, { body: { network: "sandbox", tokenSymbol: "USDT" } }),
      200,
    );
    // Without a choice, the merchant's first option is in force.
    await enter(link);
    expect((await counter.list(merchant, "/invoices"))[0]).to.include({ tokenSymbol: "USDT" });
  });

  it("shows its form again, with the reason, for an option that it does not offer", async () => {
    const link = await newLink({
      tokenSymbol: undefined,
      network: undefined,
      paymentOptions: options,
    });
    for (const option of ["sandbox/NONE", "tron/USDT", "x".repeat(200)]) {
      expect(await enter(link, newVisitor(), { option })).to.equal(
        `/link/${String(link["id"])}?failed=option`,
      );
    }
    const page = await (await fetch(`${pathOf(link)}?failed=option`)).text();
    expect(page).to.contain("That way to pay isn&#39;t available here");
    expect(page).to.contain('aria-invalid="true" aria-describedby="failure"');
    expect(await counter.list(merchant, "/invoices")).to.deep.equal([]);
    // A link with one option has nothing to choose.
    const single = await newLink();
    expect(await (await fetch(pathOf(single))).text()).not.to.contain("<select");
    expect(await enter(single, newVisitor(), { option: "sandbox/USDC" })).to.contain(
      "failed=option",
    );
  });

  it("offers the options of the organization's payment policy, if it names none", async () => {
    const policy = `/v1/organizations/${merchant.organizationId}/payment-policy`;
    const body = { paymentOptions: options };
    await expectStatus(counter.app.request("PATCH", policy, { token: merchant.token, body }), 200);
    const link = await newLink({ tokenSymbol: undefined, network: undefined });
    expect(await enter(link, newVisitor(), { option: "sandbox/USDC" })).to.match(/^\/pay\//);
    expect((await counter.list(merchant, "/invoices"))[0]).to.include({ tokenSymbol: "USDC" });
  });

  it("has exactly 200 unpaid invoices, also when 64 payers come at once from anywhere", async () => {
    const link = await newLink();
    expect(await flood(link, 264)).to.equal(linkLimits.link);
    expect(await enter(link)).to.equal(refused(link));
    const page = await (await fetch(`${pathOf(link)}?failed=unavailable`)).text();
    expect(page).to.contain("Please try again later, or contact");
    // Another link of the merchant, and the merchant's own invoices, are not affected.
    expect(await enter(await newLink())).to.match(/^\/pay\//);
    const own = await counter.issue(merchant);
    const { addressIndex } =
      (await counter.app.app.db.findOne(invoices, "WHERE id = $1", [String(own["id"])])) ?? {};
    expect(addressIndex).to.equal(0);
    // Canceled and expired invoices make room.
    const [one] = await counter.app.app.db.find(invoices, "WHERE started_at_link = $1 LIMIT 1", [
      String(link["id"]),
    ]);
    await expectStatus(counter.post(merchant, `/invoices/${one?.id ?? ""}/cancel`), 200);
    expect(await flood(link, 3)).to.equal(1);
    counter.app.clock.advance(2 * hour);
    await counter.mine(2);
    await counter.sweep();
    expect(await flood(link, 64)).to.equal(64);
  });

  it("has exactly 50 unpaid invoices of one range of addresses, and others can still pay", async () => {
    const link = await newLink();
    let host = 0;
    expect(await flood(link, 128, () => `198.51.100.${String((host += 1))}`)).to.equal(
      linkLimits.rangeAtLink,
    );
    let home = 0;
    const prefix = (place: number) => `2001:db8:5:${place.toString(16)}::1`;
    expect(await flood(link, 64, () => prefix((home += 1)))).to.equal(linkLimits.rangeAtLink);
    expect(await enter(link)).to.match(/^\/pay\//);
    // A paid invoice makes room for its range.
    const [started = {}] = await counter.list(merchant, "/invoices?limit=1");
    expect(started["status"]).to.equal("open");
  });

  it("has 1,000 unpaid invoices together with all other links of the organization, 250 of one range", async () => {
    const [one, other] = [await newLink(), await newLink()];
    const range = "192.0.2.0/24";
    const rows = await fill(one, linkLimits.rangeInOrganization, () => range);
    // These are more than one link has, so that the limits of the organization alone decide at the other link.
    expect(await enter(other, "192.0.2.9")).to.match(/^\/pay\//);
    expect(await enter(other, "192.0.2.9")).to.equal(refused(other));
    expect(await enter(other)).to.match(/^\/pay\//);
    await fill(
      await newLink(),
      linkLimits.organization - rows.length - 3 - 3,
      (place) => `r${String(place)}`,
    );
    expect(await flood(other, 64)).to.equal(3);
    expect(await enter(await newLink())).to.contain("failed=unavailable");
    await counter.issue(merchant);
  });

  it("tells the merchant that it refuses payers, once an hour, however many come", async () => {
    const link = await newLink();
    await fill(link, linkLimits.link, (place) => `r${String(place)}`);
    expect(await flood(link, 64)).to.equal(0);
    expect(await toldLimits(link)).to.deep.equal(["link"]);
    counter.app.clock.advance(hour - 60_000);
    await flood(link, 2);
    expect(await told(link)).to.have.length(1);
    counter.app.clock.advance(120_000);
    await flood(link, 64);
    const raised = await told(link);
    expect(raised.map(({ objectVersion }) => objectVersion)).to.have.members([2, 3]);
    const shown = await counter.get(merchant, `/payment-links/${String(link["id"])}`);
    expect(shown).to.include({ objectVersion: 3, status: "active" });
  });

  it("tells the merchant at once that it refuses everybody, also if it refused a range less than an hour ago", async () => {
    const link = await newLink();
    const range = "203.0.113.0/24";
    await fill(link, linkLimits.rangeAtLink + 1, () => range);
    const before = await counter.get(merchant, `/payment-links/${String(link["id"])}`);
    counter.app.clock.advance(60_000);
    const enterAll = () => Promise.all(Array.from({ length: 8 }, () => enter(link, "203.0.113.7")));
    expect(new Set(await enterAll())).to.deep.equal(new Set([refused(link)]));
    expect(await toldLimits(link)).to.deep.equal(["range_at_link"]);
    // Each version has a time of its own.
    const after = await counter.get(merchant, `/payment-links/${String(link["id"])}`);
    expect(after["objectVersion"]).to.equal(2);
    expect(Date.parse(String(after["updatedAt"]))).to.be.at.least(
      Date.parse(String(before["updatedAt"])) + 60_000,
    );
    expect((await told(link))[0]?.payload).to.include({
      objectVersion: 2,
      updatedAt: after["updatedAt"],
    });
    await fill(link, linkLimits.link, (place) => `r${String(place)}`);
    counter.app.clock.advance(60_000);
    await enterAll();
    expect(await toldLimits(link)).to.deep.equal(["range_at_link", "link"]);
    await flood(link, 8);
    expect(await told(link)).to.have.length(2);
  });

  it("names the limit that was reached, and that of everybody before that of a range", async () => {
    const { db } = counter.app.app;
    const range = "192.0.2.0/24";
    /** Returns the limit at which an invoice of a link that a range starts is refused. */
    const refusal = async (link: Json, startedFrom: string) => {
      const [like] = await db.find(invoices, "WHERE organization_id = $1 LIMIT 1", [
        merchant.organizationId,
      ]);
      if (like === undefined) throw new Error("nothing was started");
      const draft = { ...like, startedAtLink: String(link["id"]) as never, startedFrom };
      try {
        await db.write(testContext, (tx) => withinLinkLimits(tx, draft));
      } catch (error) {
        if (error instanceof LinkLimitReached) return [error.limit, error.message];
        throw error;
      }
      return [];
    };
    const [one, other] = [await newLink(), await newLink()];
    const own = "of this payment link";
    const all = "of all payment links of the organization together";
    await fill(one, linkLimits.rangeAtLink, () => range);
    // Only the first one came from another range.
    await fill(one, 2, () => range);
    expect((await refusal(one, range))[0]).to.equal("range_at_link");
    expect((await refusal(one, range))[1]).to.contain(`50 invoices ${own} that were started from`);
    expect(await refusal(one, "elsewhere")).to.deep.equal([]);
    await fill(one, linkLimits.link + 2, () => range);
    expect((await refusal(one, range))[0]).to.equal("link");
    expect((await refusal(one, range))[1]).to.contain(`200 invoices ${own} are unpaid`);
    expect((await refusal(other, range))[0]).to.equal("range_in_organization");
    expect((await refusal(other, range))[1]).to.contain(`250 invoices ${all} that were started`);
    await fill(other, linkLimits.organization, (place) => `r${String(place)}`);
    const third = await newLink();
    expect((await refusal(third, range))[0]).to.equal("organization");
    expect((await refusal(third, range))[1]).to.contain(`1000 invoices ${all} are unpaid`);
    expect(await enter(third)).to.equal(refused(third));
    expect(await toldLimits(third)).to.deep.equal(["organization"]);
  });

  it("tells the merchant again after the clock was set back", async () => {
    const link = await newLink();
    await fill(link, linkLimits.link, (place) => `r${String(place)}`);
    await flood(link, 1);
    counter.app.clock.advance(-2 * hour);
    try {
      await flood(link, 1);
      expect(await told(link)).to.have.length(2);
    } finally {
      counter.app.clock.advance(2 * hour);
    }
  });

  it("gives an hour to pay while more than half of its room is used, if its terms say longer", async () => {
    const seconds = async (terms: Json, used: number) => {
      const link = await newLink(terms);
      if (used > 0) await fill(link, used, (place) => `r${String(place)}`);
      expect(await enter(link)).to.match(/^\/pay\//);
      const [newest = {}] = await counter.list(merchant, "/invoices?limit=1");
      return (
        (Date.parse(String(newest["expiresAt"])) - Date.parse(String(newest["issuedAt"]))) / 1_000
      );
    };
    expect(await seconds({ expiresInSeconds: 86_400 }, 0)).to.equal(86_400);
    expect(await seconds({ expiresInSeconds: 86_400 }, linkLimits.link / 2)).to.equal(3_600);
    expect(await seconds({ expiresInSeconds: 600 }, linkLimits.link / 2)).to.equal(600);
  });
});
