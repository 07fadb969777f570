import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { expectStatus } from "../../../support/app.ts";
import { anyStore } from "../../../support/store/stores.ts";
import { describeInBrowser } from "../../../support/suites/describe-in-browser.ts";
import { until } from "../../../support/until.ts";
import { StoreUnavailable } from "../../../../src/platform/database/errors.ts";
import { openDesk } from "../../../support/counter.ts";
import { openLab, type Lab } from "../lab.ts";
import { scenes } from "../scenes.ts";

/** A merchant's page that opens a checkout with Till's script and records what it hears. */
const merchantPage = (checkout: {
  readonly url: string;
  readonly page: string;
}) => `<!doctype html><title>Shop</title>
<script src="${checkout.url}/embed.js"></script>
<script>
  const heard = [];
  addEventListener("message", ({ origin, data }) => heard.push([origin, data]));
  const open = () => Till.open(${JSON.stringify(checkout.page)}, {
    onChange: (state) => heard.push(["changed", state]),
    onClose: (state) => heard.push(["closed", state]),
  });
</script>
<h1>Shop</h1>`;

describeInBrowser("a checkout in a merchant's page", (browser) => {
  let lab: Lab;
  let merchant: Server;
  let opened: Page;
  let origin: string;

  beforeEach(async () => {
    lab = await openLab("ethereum");
    merchant = createServer((_request, response) => {
      response.setHeader("Content-Type", "text/html");
      response.end(merchantPage(lab));
    });
    await new Promise<void>((resolve) => merchant.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${String((merchant.address() as AddressInfo).port)}`;
    opened = await (await browser().newContext()).newPage();
  });
  afterEach(async () => {
    await opened.context().close();
    merchant.closeAllConnections();
    await new Promise((resolve) => merchant.close(resolve));
    await lab.close();
  });

  const heard = () => opened.evaluate<unknown[]>("heard");

  async function hears(entry: unknown): Promise<void> {
    const text = JSON.stringify(entry);
    await until(text, heard, (entries) => JSON.stringify(entries).includes(text));
  }

  it("is shown from an allowed origin, reports its states to it alone, and closes", async () => {
    lab.world.allowedOrigins = ["https://other.example", origin];
    lab.change({ redirectUrl: `${origin}/thanks` });
    await opened.goto(origin);
    await opened.evaluate("open()");
    await hears(["changed", "awaiting"]);
    const frame = opened.frameLocator("iframe");
    await frame.locator("#address").waitFor();
    expect(await frame.locator("#actions a[rel]").getAttribute("target")).to.equal("_top");
    scenes.find(({ name }) => name === "paid")?.set(lab, "ethereum");
    lab.change({});
    await hears(["changed", "paid"]);
    await opened.click("dialog > button");
    await hears(["closed", "paid"]);
    expect(await opened.locator("iframe").count()).to.equal(0);
    const origins = (await heard()).map((entry) => (entry as unknown[])[0]);
    expect(new Set(origins)).to.deep.equal(new Set([new URL(lab.url).origin, "changed", "closed"]));
  });

  it("is not shown from any other origin, and tells it nothing", async () => {
    lab.world.allowedOrigins = ["https://other.example"];
    lab.change({});
    const refused = opened.waitForEvent("console", (message) =>
      message.text().includes("frame-ancestors"),
    );
    await opened.goto(origin);
    await opened.evaluate("open()");
    await refused;
    await opened.click("dialog > button");
    await hears(["closed", null]);
    expect(await heard()).to.deep.equal([["closed", null]]);
  });

  it("is not opened at addresses that are not the instance's own over http, and the console says why", async () => {
    await opened.goto(origin);
    const own = new URL(lab.url).origin;
    const blob = await opened.evaluate<string>(`URL.createObjectURL(new Blob(["hello"]))`);
    const addresses = [
      "javascript:globalThis.stolen = true",
      "data:text/html,hello",
      blob,
      `blob:${own}/5e1f`,
      `${origin}/pay/chk_1`,
      `${own}@evil.example/pay/chk_1`,
      `${own}.evil.example/pay/chk_1`,
      "/pay/chk_1",
      "",
    ];
    for (const address of addresses) {
      const said = opened.waitForEvent("console", (message) => message.type() === "error");
      const shown = JSON.stringify(address);
      await opened.evaluate(
        `Till.open(${shown}, { onClose: (state) => heard.push([${shown}, state]) }).close()`,
      );
      expect((await said).text(), address).to.include(`checkouts of ${own} only`);
      await hears([address, null]);
    }
    expect(await opened.locator("iframe, dialog").count()).to.equal(0);
    expect(await opened.evaluate("globalThis.stolen")).to.equal(undefined);
    // A page may use the names of the script's own variables.
    expect(await opened.evaluate("typeof parse")).to.equal("undefined");
  });

  it("needs a script of 2 KB", async () => {
    const answer = await lab.get("/embed.js");
    expect(answer.headers.get("content-type")).to.contain("javascript");
    expect(answer.headers.get("cache-control")).to.equal("public, max-age=3600");
    expect(gzipSync(await answer.text()).length).to.be.lessThan(2_048);
  });
});

describeInBrowser("a refund in a merchant's page", (browser) => {
  anyStore("with the store", (store) => {
    const desk = openDesk(store);
    let merchant: Server;
    let opened: Page;
    let checkout = { url: "", page: "" };

    beforeEach(async () => {
      merchant = createServer((_request, response) => {
        response.setHeader("Content-Type", "text/html");
        response.end(merchantPage(checkout));
      });
      await new Promise<void>((resolve) => merchant.listen(0, "127.0.0.1", resolve));
      opened = await (await browser().newContext()).newPage();
    });
    afterEach(async () => {
      await opened.context().close();
      merchant.closeAllConnections();
      await new Promise((resolve) => merchant.close(resolve));
    });

    it("shows the pages that answer its forms there too, and their problems", async () => {
      const { app } = desk.counter;
      const { organizationId, token } = desk.merchant;
      const origin = `http://127.0.0.1:${String((merchant.address() as AddressInfo).port)}`;
      const body = { allowedOrigins: [origin] };
      const changed = app.request("PATCH", `/v1/organizations/${organizationId}`, { token, body });
      await expectStatus(changed, 200);
      const invoice = await desk.issue();
      await expectStatus(desk.post(`/invoices/${String(invoice["id"])}/cancel`), 200);
      const hash = await desk.paid(invoice);
      checkout = { url: app.url, page: `${app.url}/pay/${String(invoice["checkoutId"])}` };

      const refused: string[] = [];
      opened.on("console", (message) => {
        if (message.text().includes("Security Policy")) refused.push(message.text());
      });
      await opened.goto(origin);
      await opened.evaluate("open()");
      const frame = opened.frameLocator("iframe");
      await frame.locator("#refund-form summary").click();
      await frame.locator("#refund-hash").fill(hash);
      await frame.locator("#refund-address").fill(`0x${desk.newAddress()}`);
      await frame.locator("#refund-form button").click();
      const confirm = frame.locator("form:has([name=amount]) button");
      await confirm.waitFor();
      const { db } = app.app;
      const write = Reflect.get(db, "write") as unknown;
      Object.assign(db, { write: () => Promise.reject(new StoreUnavailable("the disk is full")) });
      await confirm.click();
      await frame.locator("text=may not have received").waitFor();
      Object.assign(db, { write });
      await opened.goto(origin);
      await opened.evaluate("open()");
      await frame.locator("#refund-form summary").click();
      await frame.locator("#refund-hash").fill(hash);
      await frame.locator("#refund-address").fill(`0x${desk.newAddress()}`);
      await frame.locator("#refund-form button").click();
      await confirm.click();
      await frame.locator("text=has your request").waitFor();
      expect(refused).to.deep.equal([]);
    });
  });
});
