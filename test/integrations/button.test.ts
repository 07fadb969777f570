import type { AddressInfo } from "node:net";
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { expect } from "chai";
import { openTill, type Till } from "../../src/client/index.ts";
import { approvedMerchant, keyOf, startApp, type TestApp } from "../support/app.ts";
import { xpubs } from "../support/merchants.ts";
import { describeInBrowser } from "../support/suites/describe-in-browser.ts";
import { until } from "../support/until.ts";

const source = readFileSync(
  new URL("../../docs/integrations/button.html", import.meta.url),
  "utf8",
);

describeInBrowser("the page with a payment button", (browser) => {
  let app: TestApp;
  let site: Server;
  let till: Till;
  let shop = "";
  before(async () => {
    app = await startApp({ settings: { TILL_SANDBOX_BLOCK_MS: "200" } });
    const merchant = await approvedMerchant(app);
    shop = merchant.organizationId;
    till = openTill({ url: app.url, apiKey: await keyOf(app, merchant, "shop") });
    const owner = openTill({ url: app.url, accessToken: merchant.token });
    const wallet = { label: "Till", network: "sandbox", xpub: xpubs.first };
    await owner.wallets.create(shop, wallet);
    const { url } = await till.invoices.createPaymentLink(shop, {
      settlementCurrency: "USD",
      tokenSymbol: "USDT",
      network: "sandbox",
      minAmount: "5",
      maxAmount: "500",
    });
    const page = source.replace('"https://pay.example.com/link/lnk_EXAMPLE"', JSON.stringify(url));
    expect(page).to.include(url);
    site = createServer((_request, response) => {
      response.setHeader("Content-Type", "text/html");
      response.end(page);
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  });
  after(async () => {
    site.closeAllConnections();
    await new Promise((resolve) => site.close(resolve));
    await app.stop();
  });

  it("leads a payer without scripts to an invoice of the amount that they enter, and is paid", async () => {
    const context = await browser().newContext({ javaScriptEnabled: false });
    try {
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${String((site.address() as AddressInfo).port)}/`);
      await page.click("a.pay");
      await page.fill("input[name=amount]", "12.50");
      await page.click("form button");
      await page.waitForURL(/\/pay\/chk_/);
      await page.click("button[value=pay]");
      const { data } = await until(
        "the payment",
        async () => await till.invoices.list(shop),
        (list) => list.data.some(({ status }) => status === "paid"),
      );
      expect(data.map(({ amount }) => amount)).to.deep.equal(["12.50"]);
    } finally {
      await context.close();
    }
  });
});
