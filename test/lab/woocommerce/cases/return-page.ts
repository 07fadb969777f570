import { expect } from "chai";
import { buy, press, sendPayment, untilAtTill } from "../browser.ts";
import type { Case } from "../case.ts";
import {
  counting,
  expectPaidOnce,
  invoiceOf,
  untilInvoice,
  untilOrder,
  untilStatus,
} from "../stage.ts";

const thanks = /thank you\. your order has been received/i;

/** Pages that customers read who come back before they have paid. */
export const returnPages: readonly Case[] = [
  {
    name: "back unpaid",
    promise:
      "A customer who comes back without paying reads so, with the sum and the way back to the payment.",
    dependsOn: ["checkout"],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await buy(page, stage.shop, stage.checkout);
      const { checkoutUrl } = await invoiceOf(stage, order);
      await page.goto((await stage.shop.order(order)).receivedUrl);
      const text = await page.locator("body").innerText();
      expect(text).to.not.match(thanks);
      expect(text)
        .to.match(/not paid yet/i)
        .and.match(/12\.5\d* USDT/);
      await page.locator(`a[href^="${checkoutUrl}"]`).first().click();
      await untilAtTill(page);
      await press(page, "pay");
      await expectPaidOnce(stage, order, count);
      await page.goto((await stage.shop.order(order)).receivedUrl);
      expect(await page.locator("body").innerText()).to.match(thanks);
    },
  },
  {
    name: "back half paid",
    promise: "A customer who has paid a part reads what is missing, and goes on from there.",
    dependsOn: ["checkout"],
    async run(stage) {
      const page = await stage.page();
      const order = await buy(page, stage.shop, stage.checkout);
      const { checkoutUrl } = await invoiceOf(stage, order);
      await press(page, "underpay");
      await untilOrder(stage, order, ({ notes }) => notes.some((note) => /part of/i.test(note)));
      await page.goto((await stage.shop.order(order)).receivedUrl);
      const text = await page.locator("body").innerText();
      expect(text).to.not.match(thanks);
      expect(text).to.match(/missing/i);
      await page.locator(`a[href^="${checkoutUrl}"]`).first().click();
      await untilAtTill(page);
      await press(page, "pay");
      await untilStatus(stage, order, "processing");
    },
  },
  {
    name: "back expired",
    promise: "A customer whose time is over reads so, and tries again with a new invoice.",
    dependsOn: ["checkout"],
    async run(stage) {
      const page = await stage.page();
      const order = await buy(page, stage.shop, stage.checkout);
      const old = await invoiceOf(stage, order);
      await press(page, "expire");
      await untilInvoice(stage, order, "expired");
      await untilStatus(stage, order, "failed");
      await page.goto((await stage.shop.order(order)).receivedUrl);
      const text = await page.locator("body").innerText();
      expect(text).to.not.match(thanks);
      expect(text).to.match(/time to pay is over/i);
      await page.locator("a[href*=order-pay]").first().click();
      await page.waitForURL(/order-pay/);
      await sendPayment(page, "till");
      await untilAtTill(page);
      expect((await invoiceOf(stage, order)).id).to.not.equal(old.id);
      await press(page, "pay");
      await untilStatus(stage, order, "processing");
    },
  },
  {
    name: "words about the payment",
    promise:
      "Notes name the payer's reference and the page once; Till's page, the order's number once.",
    dependsOn: [],
    async run(stage) {
      const page = await stage.page();
      const order = await buy(page, stage.shop, stage.checkout);
      const invoice = await invoiceOf(stage, order);
      const text = await page.locator("body").innerText();
      expect(text.split(invoice.externalId).length - 1, text).to.equal(1);
      expect(invoice.description ?? "").to.not.match(new RegExp(`\\b${String(order)}\\b`));
      const reference = await page.locator(".reference").first().innerText();
      await press(page, "pay");
      await untilStatus(stage, order, "processing");
      const { notes } = await stage.shop.order(order);
      const all = notes.join("\n");
      expect(all.split(invoice.checkoutUrl).length - 1, all).to.equal(1);
      expect(all).to.include(reference);
    },
  },
];
