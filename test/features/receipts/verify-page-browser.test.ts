import { expect } from "chai";
import type { Page } from "playwright-core";
import { startApp, type TestApp } from "../../support/app.ts";
import { describeInBrowser } from "../../support/suites/describe-in-browser.ts";
import { receiptClaims } from "./documents.ts";
import { cases, hostileReceipt, request } from "./signed-texts.ts";

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
