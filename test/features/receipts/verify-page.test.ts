import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { receiptClaims } from "./documents.ts";
import { cases, hostile, hostileReceipt, receipt, request, testReceipt } from "./signed-texts.ts";

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
    // Each language has a form of its own, whether it was chosen or is the browser's.
    for (const [query, header, lang] of [
      ["?lang=de", "en", "de"],
      ["", "fr", "fr"],
      ["", "en", "en"],
      ["?lang=fr", "en", "fr"],
    ] as const) {
      const form = await fetch(`${app.url}/verify${query}`, {
        headers: { "Accept-Language": header },
      });
      expect(await form.text())
        .to.contain(`<html lang="${lang}"`)
        .and.to.contain(`action="/till/verify${query}"`);
    }
    expect(await send(request)).to.contain(`href="/till/pay/${receiptClaims.checkoutId}"`);
    for (const [text, outcome, sentence] of cases) {
      const html = await send(text);
      expect(shown(html), outcome).to.deep.equal([outcome]);
      expect(html).to.contain(sentence);
    }
    const dated = await send(receipt);
    for (const shownTime of ["21 Nov 2025, 09:50 UTC", "21 Nov 2026, 09:45 UTC"]) {
      expect(dated).to.contain(`<bdi>${shownTime}</bdi>`);
    }
    const isTest = (text: string) => /data-outcome="receipt">[^]*?data-test>/.test(text);
    expect(isTest(dated)).to.equal(false);
    const ofTest = await send(testReceipt);
    expect(isTest(ofTest)).to.equal(true);
    expect(ofTest).to.contain(`<bdi>${"ab".repeat(32)}, ${"cd".repeat(32)}</bdi>`);
    // This receipt has a value in each row, and no other outcome has one.
    expect(dated.match(/<dd data-claims/g)).to.have.length(11);
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
