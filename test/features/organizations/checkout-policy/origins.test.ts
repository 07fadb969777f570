import { expect } from "chai";
import { anyServed, approvedMerchant, order, type Merchant } from "../../../support/app.ts";
import { xpubOf } from "../../../support/merchants.ts";
import { expectProblem } from "../../../http/problem.ts";

const shop = "https://shop.example";

anyServed("the allowed origins of an organization", (served) => {
  const allow = (person: Merchant, allowedOrigins: unknown) =>
    served.app.request("PATCH", person.path, {
      token: person.token,
      body: { allowedOrigins },
    });

  let merchants = 0;

  async function merchant(): Promise<Merchant> {
    const person = await approvedMerchant(served.app);
    merchants += 1;
    await person.addWallet({ xpub: xpubOf(merchants) });
    return person;
  }

  const issue = (person: Merchant, redirectUrl?: string) =>
    person.post("/invoices", { ...order, redirectUrl });

  it("are kept in their usual notation, without duplicates, and can be emptied", async () => {
    const person = await merchant();
    const given = [
      "https://Shop.example/",
      shop,
      "https://bücher.example:8443",
      "http://localhost:3000",
    ];
    const { status, body } = await allow(person, given);
    expect(status).to.equal(200);
    expect(body["allowedOrigins"]).to.deep.equal([
      shop,
      "https://xn--bcher-kva.example:8443",
      "http://localhost:3000",
    ]);
    expect((await allow(person, [])).body["allowedOrigins"]).to.deep.equal([]);
  });

  it("refuse everything that is more, less or other than an origin, and change nothing", async () => {
    const person = await merchant();
    await allow(person, [shop]);
    for (const hostile of [
      "http://shop.example",
      "https://*.shop.example",
      "https://shop.example/path",
      "https://shop.example?x",
      "https://user@shop.example",
      "https://shop.example; script-src *",
      "https://shop.example 'unsafe-inline'",
      "https://shop.example,https://evil.example",
      "javascript:alert(1)",
      "null",
      "*",
      "https://",
      "data:text/html,x",
      "http://localhost.evil.example",
      "https://shop.example\\@evil.example",
      `https://${"a".repeat(200)}.example`,
    ]) {
      const answer = await allow(person, [shop, hostile]);
      expect(answer.status, hostile).to.equal(400);
      expect(answer.text, hostile).to.contain("/allowedOrigins/1");
    }
    const many = Array.from({ length: 21 }, (_, place) => `https://s${String(place)}.example`);
    expect((await allow(person, many)).status).to.equal(400);
    const { body } = await served.app.request("GET", person.path, { token: person.token });
    expect(body["allowedOrigins"]).to.deep.equal([shop]);
  });

  it("are where new invoices may send payers back to, and anywhere while there are none", async () => {
    const person = await merchant();
    const elsewhere = "https://elsewhere.example/thanks";
    const before = await issue(person, elsewhere);
    expect(before.status).to.equal(201);
    await allow(person, [shop]);
    expect((await issue(person, `${shop}/thanks?order=1`)).status).to.equal(201);
    expect((await issue(person)).status).to.equal(201);
    for (const other of [elsewhere, "http://shop.example/", "https://shop.example.evil.example/"]) {
      const answer = await issue(person, other);
      expectProblem(answer, 400, "invalid_request");
      expect(answer.text).to.contain("/redirectUrl");
    }
    const session = await served.app.request(
      "GET",
      `/v1/checkout/${String(before.body["checkoutId"])}`,
    );
    expect(session.body["redirectUrl"], "of an invoice issued before").to.equal(elsewhere);
  });

  it("may embed the checkout page and read the checkout by scripts, and no others may", async () => {
    const person = await merchant();
    const id = String((await issue(person)).body["checkoutId"]);
    const read = (path: string, origin: string) =>
      fetch(served.app.url + path, { headers: { Origin: origin } });
    const policyOf = async () =>
      (await fetch(`${served.app.url}/pay/${id}`)).headers.get("content-security-policy");
    expect(await policyOf()).to.contain("frame-ancestors 'none'");
    expect(
      (await read(`/v1/checkout/${id}`, shop)).headers.get("access-control-allow-origin"),
    ).to.equal(null);
    await allow(person, [shop, "http://localhost:3000"]);
    expect(await policyOf()).to.match(
      /frame-ancestors https:\/\/shop\.example http:\/\/localhost:3000$/,
    );
    for (const path of [`/v1/checkout/${id}`, `/v1/checkout/${id}/payment-request`]) {
      const answer = await read(path, shop);
      expect(answer.status, path).to.equal(200);
      expect(answer.headers.get("access-control-allow-origin"), path).to.equal(shop);
      expect(answer.headers.get("access-control-allow-credentials"), path).to.equal(null);
      expect(answer.headers.get("vary"), path).to.contain("Origin");
      for (const other of ["https://evil.example", "null", "http://shop.example", `${shop}.evil`]) {
        const refused = await read(path, other);
        expect(refused.headers.get("access-control-allow-origin"), other).to.equal(null);
      }
    }
    for (const path of [person.path, "/v1/checkout/chk_00000000000000000000000000"]) {
      const answer = await read(path, shop);
      expect(answer.headers.get("access-control-allow-origin"), path).to.equal(null);
    }
    const other = await merchant();
    const foreign = String((await issue(other)).body["checkoutId"]);
    expect(
      (await read(`/v1/checkout/${foreign}`, shop)).headers.get("access-control-allow-origin"),
    ).to.equal(null);
  });
});
