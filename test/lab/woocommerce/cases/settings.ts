import { expect } from "chai";
import type { Page } from "playwright-core";
import { fillCheckout, openAsAdmin } from "../browser.ts";
import type { Case } from "../case.ts";
import type { Stage } from "../stage.ts";

const field = (name: string) => `#woocommerce_till_${name}`;

async function openSettings(page: Page, { shop }: Pick<Stage, "shop">): Promise<void> {
  await openAsAdmin(
    page,
    `${shop.url}/wp-admin/admin.php?page=wc-settings&tab=checkout&section=till`,
  );
}

/** Enters settings on the page as an admin does; returns what the page says then. */
async function save(page: Page, values: Readonly<Record<string, string>>): Promise<string> {
  for (const [name, value] of Object.entries(values)) {
    const entry = page.locator(field(name));
    if ((await page.locator(`select${field(name)}`).count()) > 0) await entry.selectOption(value);
    else await entry.fill(value);
    // The button is enabled by a change.
    await entry.blur();
  }
  await page.getByRole("button", { name: "Save changes" }).click();
  await page.waitForLoadState("load");
  await page.locator(field("url")).waitFor();
  return page.locator("#mainform").innerText();
}

/** The page of the plug-in's settings. */
export const settings: readonly Case[] = [
  {
    name: "settings",
    promise:
      "The settings page names each fault, whose organization it is, and the choices of Till.",
    dependsOn: [],
    async run(stage) {
      const { shop, connection, till } = stage;
      const page = await stage.page();
      await openSettings(page, stage);
      const rightText = await page.locator("#mainform").innerText();
      expect(rightText).to.include("Nook Coffee").and.include(till.organization);
      expect(await page.locator(`${field("network")} option[value=sandbox]`).count()).to.equal(1);
      expect(await page.locator(`${field("token")} option[value=USDT]`).count()).to.equal(1);
      const receiver = `input[value="${shop.url}/?wc-api=till"]`;
      expect(await page.locator(receiver).count(), "the receiver's address").to.equal(1);
      expect(await page.locator("#mainform button", { hasText: "Copy" }).count()).to.equal(1);
      const manual = page.locator("#mainform a", { hasText: "Manual" });
      const answer = await fetch((await manual.getAttribute("href")) ?? "");
      expect(answer.status, "the manual").to.equal(200);

      expect(await save(page, { api_key: `${connection.api_key}x` })).to.match(
        /not know this key/i,
      );
      const read = await till.run("key", "create", "--name", "reader", "--scopes", "read");
      expect(await save(page, { api_key: String(read["secret"]) })).to.match(/lacks permissions/i);
      await save(page, { api_key: connection.api_key });
      expect(await save(page, { url: "http://127.0.0.1:9" })).to.match(/did not answer/i);
      expect(await save(page, { url: "127.0.0.1" })).to.match(/address that begins with https/i);
      await save(page, { url: connection.url });
      expect(await save(page, { webhook_secret: "secret" })).to.match(/begins with whsec_/i);
      await save(page, { webhook_secret: connection.webhook_secret });
      expect(await save(page, { token: "" })).to.match(/both a token and a network/i);
      const last = await save(page, { token: "USDT" });
      expect(last).to.not.match(/both a token|whsec_ and|did not answer|not know/i);
    },
  },
  {
    name: "settings in lists",
    promise:
      "The plug-in links its settings, needs a key before it is enabled, and shows its tokens.",
    dependsOn: ["checkout"],
    async run(stage) {
      const { shop, connection } = stage;
      const page = await stage.page();
      await openAsAdmin(page, `${shop.url}/wp-admin/plugins.php`);
      const links = await page
        .locator("tr[data-plugin='till/till.php'] a[href*='section=till']")
        .allInnerTexts();
      expect(links).to.include("Settings");
      expect(await shop.control("needs_setup")).to.equal(false);
      const buyer = await stage.page();
      await fillCheckout(buyer, shop, stage.checkout);
      const form = buyer.locator("form.checkout, .wc-block-checkout").first();
      expect(await form.innerText()).to.match(/USDT/);
      await shop.control("settings", { api_key: "" });
      expect(await shop.control("needs_setup")).to.equal(true);
      await shop.control("settings", { api_key: connection.api_key });
    },
  },
];
