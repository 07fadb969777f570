import { expect } from "chai";
import { approvedMerchant, startApp, type Merchant, type TestApp } from "../../support/app.ts";
import { xpubOf } from "../../support/merchants.ts";
import { pressOnPage } from "../../support/sandbox.ts";
import { events } from "../../../src/platform/events/outbox.ts";
import { countRows } from "../../support/store/dump.ts";
import { eachStore, takeTurns } from "../../support/store/stores.ts";
import { until } from "../../support/until.ts";
import { expectProblem } from "../../http/problem.ts";

const priced = { settlementCurrency: "USD", tokenSymbol: "USDT", network: "sandbox" };

eachStore("a payment link", (store) => {
  const it = takeTurns(store);
  let app: TestApp;
  let merchants = 0;
  before(async () => {
    // The limits of tests are off by default. Here they are a fifth: 4 payments per client address, and 60 per link.
    app = await startApp({
      place: await store.place("migrated"),
      settings: {
        TILL_RATE_LIMIT_SCALE: "0.2",
        TILL_RATE_LIMIT_CREDENTIAL_PER_MINUTE: "5000",
        TILL_RATE_LIMIT_LOGIN_PER_MINUTE: "1000",
        TILL_RATE_LIMIT_SESSION_PER_MINUTE: "1000",
        TILL_RATE_LIMIT_REGISTRATION_PER_HOUR: "1000",
        TILL_TRUST_PROXY: "127.0.0.1",
      },
    });
  });
  after(() => app.stop());

  async function merchant(): Promise<Merchant> {
    const shop = await approvedMerchant(app);
    merchants += 1;
    await shop.addWallet({ xpub: xpubOf(merchants) });
    return shop;
  }

  const create = (shop: Merchant, body: object) =>
    shop.post("/payment-links", { ...priced, ...body });

  let visitors = 0;
  /** Returns a client address that no other request has, in a /24 of its own. */
  const newVisitor = () => `198.${String(18 + ((visitors += 1) >> 8))}.${String(visitors & 255)}.1`;

  const enter = (url: string, amount: string, query = "", visitor = newVisitor()) =>
    fetch(url + query, {
      method: "POST",
      headers: { "X-Forwarded-For": visitor },
      body: new URLSearchParams({ amount }),
      redirect: "manual",
    });

  const invoicesOf = async (shop: Merchant, id: unknown) => {
    const query = `metadataKey=paymentLink&metadataValue=${String(id)}&limit=100`;
    return shop.list(`/invoices?${query}`);
  };

  it("gives each of five payers an invoice of their own, which each of them pays", async () => {
    const shop = await merchant();
    const {
      status,
      body: link,
      text,
    } = await create(shop, {
      minAmount: "5",
      maxAmount: "50",
      description: "Donation",
    });
    expect(status, text).to.equal(201);
    expect(link).to.include({ amount: null, minAmount: "5.00", maxAmount: "50.00" });
    const url = String(link["url"]);
    const page = await (await fetch(url)).text();
    expect(page).to.contain("From $5.00 to $50.00").and.to.contain("Donation");
    expect(page).to.contain('inputmode="decimal"').and.not.to.contain("<script");
    for (const amount of ["5", "10.50", "7,25", " 50 ", "20.00"]) {
      const answer = await enter(url, amount);
      expect(answer.status).to.equal(303);
      const location = answer.headers.get("location") ?? "";
      expect(location).to.match(/^\/pay\/chk_\w+$/);
      for (const action of ["pay", "mine"]) await pressOnPage(app, location, action);
    }
    const invoices = await until(
      "five paid invoices",
      () => invoicesOf(shop, link["id"]),
      (found) => found.length === 5 && found.every(({ status: each }) => each === "paid"),
    );
    expect(invoices.map(({ amount }) => amount).sort()).to.deep.equal([
      "10.50",
      "20.00",
      "5.00",
      "50.00",
      "7.25",
    ]);
    expect(new Set(invoices.map(({ walletAddress }) => walletAddress)).size).to.equal(5);
    expect(invoices.every(({ description }) => description === "Donation")).to.equal(true);
  });

  it("refuses amounts that are none, or outside its bounds, and keeps the payer's language", async () => {
    const shop = await merchant();
    const { body: link } = await create(shop, { minAmount: "5", maxAmount: "50" });
    const url = String(link["url"]);
    for (const amount of ["4.99", "50.01", "", "ten", "-5", "1e3", "5.001", "9".repeat(200)]) {
      const answer = await enter(url, amount, "?lang=de");
      expect(answer.headers.get("location"), amount).to.match(
        /\/link\/lnk_\w+\?failed=amount&lang=de$/,
      );
    }
    const refused = await (await fetch(`${url}?failed=amount&lang=de`)).text();
    expect(refused).to.contain("Dieser Betrag ist hier nicht möglich");
    expect(await invoicesOf(shop, link["id"])).to.deep.equal([]);
    const bounds = /From \$|At least \$|At most \$/;
    for (const [given, words] of [
      [{ minAmount: "5", maxAmount: "50" }, "From $5.00 to $50.00"],
      [{ minAmount: "5" }, "At least $5.00"],
      [{ maxAmount: "50" }, "At most $50.00"],
      [{}, null],
    ] as const) {
      const page = await (await fetch(String((await create(shop, given)).body["url"]))).text();
      if (words === null) expect(page).not.to.match(bounds);
      else expect(page).to.contain(words);
    }
  });

  it("asks for its own amount, whatever a payer sends", async () => {
    const shop = await merchant();
    const { body: link } = await create(shop, { amount: "25" });
    const url = String(link["url"]);
    expect(await (await fetch(url)).text())
      .to.contain("$25.00")
      .and.not.to.contain("<input");
    await enter(url, "1");
    const [invoice] = await invoicesOf(shop, link["id"]);
    expect(invoice).to.include({ amount: "25.00", status: "open" });
  });

  it("can be disabled: its page and poster end, and its invoices remain", async () => {
    const shop = await merchant();
    const { body: link } = await create(shop, { amount: "25", description: "<b>Tea</b>" });
    const poster = await (await fetch(String(link["posterUrl"]))).text();
    expect(poster).to.contain("<svg").and.to.contain("&lt;b&gt;Tea").and.to.contain(link["url"]);
    const path = `${shop.path}/payment-links/${String(link["id"])}`;
    for (let repeats = 0; repeats < 2; repeats += 1) {
      const { body } = await app.request("POST", `${path}/disable`, { key: shop.key });
      expect(body).to.include({ status: "disabled" });
    }
    const told = await app.app.db.find(events, "WHERE object_id = $1 ORDER BY id", [
      String(link["id"]),
    ]);
    expect(told.map(({ type, objectVersion }) => [type, objectVersion])).to.deep.equal([
      ["payment_link.created", 1],
      ["payment_link.disabled", 2],
    ]);
    const own = await app.request("GET", path, { key: shop.key });
    expect(own.body).to.include({ id: link["id"], status: "disabled", objectVersion: 2 });
    for (const url of [link["url"], link["posterUrl"], `${app.url}/link/lnk_x`]) {
      const answer = await fetch(String(url));
      expect(answer.status).to.equal(404);
      expect(await answer.text()).to.contain("We can&#39;t find this payment");
    }
    const listed = await app.request("GET", `${shop.path}/payment-links?status=disabled`, {
      key: shop.key,
    });
    expect(listed.body["data"]).to.have.length(1);
    const other = await merchant();
    const foreign = await app.request("GET", `${other.path}/payment-links/${String(link["id"])}`, {
      key: other.key,
    });
    expectProblem(foreign, 404, "not_found");
  });

  it("is refused with terms of which no invoice can be issued", async () => {
    const shop = await merchant();
    for (const [body, status, place] of [
      [{ amount: "0" }, 400, "/amount"],
      [{ amount: "5", minAmount: "1" }, 400, "/amount"],
      [{ minAmount: "9", maxAmount: "5" }, 400, "/maxAmount"],
      [{ minAmount: "0" }, 400, "/minAmount"],
      [{ maxAmount: "1.005" }, 400, "/maxAmount"],
      [{ network: "nowhere" }, 422, ""],
      [{ tokenSymbol: "NONE" }, 422, ""],
      [{ settlementCurrency: "ZZZ" }, 422, "unsupported_currency"],
      [{ amount: "1000000000000.01" }, 422, "amount_too_large"],
      [{ walletId: "wal_00000000000000000000000000" }, 404, ""],
      [{ redirectUrl: "javascript:alert(1)" }, 400, "/redirectUrl"],
    ] as const) {
      const answer = await create(shop, body);
      expect(answer.status, JSON.stringify(body) + answer.text).to.equal(status);
      expect(answer.text).to.contain(place);
    }
    expect(
      await countRows(app.app.db, "payment_links", "WHERE organization_id = $1", [
        shop.organizationId,
      ]),
    ).to.equal(0);
  });

  it("says that a payment cannot be started while the merchant cannot issue invoices", async () => {
    const person = await approvedMerchant(app);
    const shop = { ...person, path: person.path };
    const { body: link } = await create(shop, { amount: "25" });
    const answer = await enter(String(link["url"]), "");
    expect(answer.headers.get("location")).to.contain("failed=unavailable");
    const page = await (await fetch(app.url + (answer.headers.get("location") ?? ""))).text();
    expect(page).to.contain("can&#39;t be started right now");
  });

  for (const [whose, one, quota, windowSeconds] of [
    ["one visitor", true, 4, 600],
    ["one link, from as many addresses", false, 60, 3_600],
  ] as const) {
    it(`starts no more payments than its limit when 64 enter at once: ${whose}`, async () => {
      const shop = await merchant();
      const { body: link } = await create(shop, { minAmount: "5" });
      const url = String(link["url"]);
      const visitor = newVisitor();
      const answers = await Promise.all(
        Array.from({ length: 64 }, (_, place) =>
          enter(url, String(10 + place), "", one ? visitor : newVisitor()),
        ),
      );
      const refused = answers.filter(({ status }) => status === 429);
      expect(refused).to.have.length(64 - quota);
      expect(answers.filter(({ status }) => status === 303)).to.have.length(quota);
      const invoices = await invoicesOf(shop, link["id"]);
      expect(new Set(invoices.map(({ amount }) => amount)).size).to.equal(quota);
      expect(invoices).to.have.length(quota);
      const [first] = refused;
      expect(first?.headers.get("content-type")).to.contain("text/html");
      expect(Number(first?.headers.get("retry-after"))).to.be.within(1, windowSeconds);
      expect(await first?.text())
        .to.contain("One moment, please")
        .and.to.contain("</html>");
      // Others are not affected: another visitor, or another link.
      const { body: other } = await create(shop, { minAmount: "5" });
      const next = await enter(String((one ? link : other)["url"]), "200");
      expect(next.headers.get("location")).to.match(/^\/pay\/chk_/);
    });
  }
});
