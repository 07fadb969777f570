import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { receiptClaims } from "./documents.ts";
import { cases, hostile, hostileReceipt, receipt, request } from "./signed-texts.ts";

describe("the page that verifies signed texts", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ settings: { TILL_BASE_URL: "https://pay.example/till" } });
  });
  after(() => app.stop());

  async function send(text: string, query = ""): Promise<string> {
    const answer = await fetch(`${app.url}/verify${query}`, {
      method: "POST",
      body: new URLSearchParams({ text }),
    });
    expect(answer.status).to.equal(200);
    return answer.text();
  }
  const shown = (html: string) =>
    [...html.matchAll(/data-outcome="(\w+)"(?! hidden)/g)].map(([, name]) => name);

  it("shows what was signed, or why a text is refused, without a script", async () => {
    const empty = await (await fetch(`${app.url}/verify`)).text();
    expect(shown(empty)).to.deep.equal([]);
    expect(empty).to.contain('data-keys="/till/.well-known/jwks.json"');
    expect(await send(request)).to.contain(`href="/till/pay/${receiptClaims.checkoutId}"`);
    for (const [text, outcome, sentence] of cases) {
      const html = await send(text);
      expect(shown(html), outcome).to.deep.equal([outcome]);
      expect(html).to.contain(sentence);
    }
    const html = await send(receipt, "?lang=de");
    expect(html).to.contain("Dieser Beleg ist echt").and.to.contain("<bdi>25.00 USD</bdi>");
    expect(html).to.contain('action="/till/verify?lang=de"');
  });

  it("escapes the text and the claims, and accepts no text without end", async () => {
    expect(await send(hostile)).to.not.contain("<script>alert");
    const genuine = await send(hostileReceipt);
    expect(genuine).to.not.contain("<script>alert");
    expect(shown(genuine)).to.deep.equal(["receipt"]);
    expect(shown(await send(""))).to.deep.equal(["not_signed"]);
    const endless = await fetch(`${app.url}/verify?lang=de`, {
      method: "POST",
      headers: { Accept: "text/html" },
      body: new URLSearchParams({ text: "a".repeat(100_000) }),
    });
    expect(endless.status).to.equal(413);
    expect(await endless.text()).to.contain('href="/till/verify?lang=de"');
  });
});
