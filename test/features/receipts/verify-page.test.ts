import { expect } from "chai";
import { base64url } from "jose";
import type { Page } from "playwright-core";
import { signClaims } from "../../../src/features/receipts/signed-text.ts";
import { deriveSigningKey } from "../../../src/platform/secrets/signing-keys.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { describeInBrowser } from "../../support/suites/describe-in-browser.ts";
import { serverSecret } from "../../support/secret.ts";
import { receiptClaims } from "./documents.ts";

const hostile = `</textarea><script>alert("1")</script>"'&\u202e`;
const key = await deriveSigningKey(serverSecret, 1);
const receipt = await signClaims(key, "receipt", receiptClaims);
const hostileReceipt = await signClaims(key, "receipt", {
  ...receiptClaims,
  merchantDisplayName: hostile,
});
const requestClaims = {
  iss: receiptClaims.iss,
  iat: receiptClaims.iat,
  checkoutId: receiptClaims.checkoutId,
  invoiceId: receiptClaims.invoiceId,
  reference: receiptClaims.reference,
  merchantDisplayName: receiptClaims.merchantDisplayName,
  network: "tron",
  tokenSymbol: "USDT",
  walletAddress: receiptClaims.walletAddress,
  isTest: false,
  chainId: 728126428,
  tokenContract: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
  remainingAmount: "25.0001",
  expiresAt: "2036-11-21T10:30:00.000Z",
};
const request = await signClaims(key, "payment_request", requestClaims);
const expiredRequest = await signClaims(key, "payment_request", {
  ...requestClaims,
  expiresAt: "2026-11-21T10:30:00.000Z",
});

/** Each text with its outcome and a sentence of its result. */
const cases = [
  [receipt, "receipt", "This receipt is genuine"],
  [request, "payment_request", "It may have been paid or canceled since"],
  [expiredRequest, "expired_request", "Its deadline has passed"],
  [receipt.slice(0, -4), "changed", "The text was changed"],
  // Other bits in the last letter, which are not part of the signature's bytes.
  [
    receipt.replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1)),
    "changed",
    "The text was changed",
  ],
  [receipt.replace(/\.(.)/, (_, letter) => (letter === "A" ? ".B" : ".A")), "changed", "changed"],
  [
    `${base64url.encode('{"alg":"EdDSA","kid":"other"}')}.${receipt.split(".").slice(1).join(".")}`,
    "unknown_key",
    "not signed by this site",
  ],
  [hostile, "not_signed", "This is not a signed text"],
] as const;

function verifyPages(title: string, body: (app: () => TestApp) => void): void {
  describe(title, () => {
    let app: TestApp | undefined;
    before(async () => {
      app = await startApp({ settings: { TILL_BASE_URL: "https://pay.example/till" } });
    });
    after(() => app?.stop());
    body(() => app as TestApp);
  });
}

verifyPages("the page that verifies signed texts", (app) => {
  async function send(text: string, query = ""): Promise<string> {
    const answer = await fetch(`${app().url}/verify${query}`, {
      method: "POST",
      body: new URLSearchParams({ text }),
    });
    expect(answer.status).to.equal(200);
    return answer.text();
  }
  const shown = (html: string) =>
    [...html.matchAll(/data-outcome="(\w+)"(?! hidden)/g)].map(([, name]) => name);

  it("shows what was signed, or why a text is refused, without a script", async () => {
    const empty = await (await fetch(`${app().url}/verify`)).text();
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
    const endless = await fetch(`${app().url}/verify?lang=de`, {
      method: "POST",
      headers: { Accept: "text/html" },
      body: new URLSearchParams({ text: "a".repeat(100_000) }),
    });
    expect(endless.status).to.equal(413);
    expect(await endless.text()).to.contain('href="/till/verify?lang=de"');
  });
});

describeInBrowser("the page that verifies signed texts in a browser", (browser) => {
  let app: TestApp;
  let page: Page;
  before(async () => {
    app = await startApp();
    page = await browser().newPage({ viewport: { width: 320, height: 640 } });
  });
  after(async () => {
    await page.close();
    await app.stop();
  });

  it("does so itself: the text does not leave it", async () => {
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (sent) => {
      if (sent.method() !== "GET" || !sent.url().startsWith(app.url)) complaints.push(sent.url());
    });
    await page.goto(`${app.url}/verify?lang=ar`);
    await page.goto(`${app.url}/verify?lang=en`);
    for (const [text, outcome, sentence] of [
      ...cases,
      [hostileReceipt, "receipt", "</textarea><script>"] as const,
    ]) {
      await page.fill("textarea", text);
      await page.click("#verify button");
      await page.waitForSelector(`[data-outcome=${outcome}]:visible`);
      expect(await page.locator("[data-outcome]:visible").count()).to.equal(1);
      expect(await page.innerText(`[data-outcome=${outcome}]`)).to.contain(sentence);
    }
    await page.fill("textarea", request);
    expect(await page.locator("[data-outcome]:visible").count()).to.equal(0);
    await page.click("#verify button");
    const link = page.locator("[data-outcome=payment_request] a");
    expect(await link.getAttribute("href")).to.equal(`/pay/${receiptClaims.checkoutId}`);
    expect(complaints).to.deep.equal([]);
    // Without the keys, the text stays in the browser too.
    await page.route("**/jwks.json", (route) => route.abort());
    await page.click("#verify button");
    await page.waitForSelector("[data-outcome=unavailable]:visible");
  });
});
