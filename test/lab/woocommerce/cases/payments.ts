import { expect } from "chai";
import { buy, payExisting, press, untilAtTill } from "../browser.ts";
import type { Case } from "../case.ts";
import {
  counting,
  expectPaidOnce,
  invoiceOf,
  orderAtTill,
  untilDelivered,
  untilInvoice,
  untilOrder,
  untilStatus,
} from "../stage.ts";

/** Payments as customers make them. */
export const payments: readonly Case[] = [
  {
    name: "paid",
    promise: "A customer who pays comes back to an order that is being processed.",
    dependsOn: ["checkout", "storage"],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await buy(page, stage.shop, stage.checkout);
      await press(page, "pay");
      await untilInvoice(stage, order, "paid");
      await page.locator(`a[href^="${stage.shop.url}"]`).first().click();
      await page.waitForURL(/order-received/);
      await expectPaidOnce(stage, order, count);
      await page.reload();
      expect(await page.locator("body").innerText()).to.match(/order has been received/i);
    },
  },
  {
    name: "underpaid and completed",
    promise: "A part completes nothing; with the rest, the order is processed.",
    dependsOn: ["checkout", "storage"],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await buy(page, stage.shop, stage.checkout);
      await press(page, "underpay");
      const waiting = await untilOrder(stage, order, ({ notes }) =>
        notes.some((note) => /part of the payment/i.test(note)),
      );
      expect(waiting.status).to.equal("pending");
      await press(page, "pay");
      await expectPaidOnce(stage, order, count);
    },
  },
  {
    name: "overpaid",
    promise: "An overpaid order is processed, with one note about the rest.",
    dependsOn: ["storage"],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      await press(page, "overpay");
      const { notes } = await expectPaidOnce(stage, order, count);
      expect(notes.filter((note) => /overpaid/i.test(note))).to.have.length(1);
    },
  },
  {
    name: "late",
    promise: "An expired order fails; the payment that comes late is still for it.",
    dependsOn: ["storage"],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      await press(page, "expire");
      await untilStatus(stage, order, "failed");
      await press(page, "pay");
      await untilStatus(stage, order, "processing");
      await untilDelivered(stage);
      const { unitsSold, mails } = await count(order);
      expect(unitsSold).to.equal(1);
      expect(mails).to.deep.include({
        failed_order: 1,
        new_order: 1,
        customer_processing_order: 1,
      });
      const { notes } = await stage.shop.order(order);
      expect(notes.filter((note) => /after the deadline/.test(note))).to.have.length(1);
    },
  },
  {
    name: "two orders at once",
    promise: "Two customers pay at the same time, each for an order of their own.",
    dependsOn: ["storage"],
    async run(stage) {
      const count = await counting(stage);
      const pages = [await stage.page(), await stage.page()];
      const orders = await Promise.all(pages.map((page) => orderAtTill(stage, page)));
      await Promise.all(pages.map((page) => press(page, "pay")));
      for (const order of orders) await expectPaidOnce(stage, order, count, 2);
    },
  },
  {
    name: "EUR",
    promise: "An order in EUR is paid in tokens of USD.",
    dependsOn: [],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page, { currency: "EUR" });
      const invoice = await invoiceOf(stage, order);
      expect([invoice.amount, invoice.settlementCurrency]).to.deep.equal(["12.50", "EUR"]);
      await press(page, "pay");
      await expectPaidOnce(stage, order, count);
    },
  },
  {
    name: "decimals",
    promise: "Shops that show JPY with two decimals, and USD with three, are paid.",
    dependsOn: [],
    async run(stage) {
      const { shop } = stage;
      for (const [currency, decimals, total, amount] of [
        ["JPY", "2", "1250", "1250"],
        ["JPY", "2", "1250.4", "1250"],
        ["USD", "3", "12.5", "12.50"],
        ["USD", "3", "12.344", "12.34"],
      ] as const) {
        await shop.control("option", "woocommerce_currency", currency);
        await shop.control("option", "woocommerce_price_num_decimals", decimals);
        const count = await counting(stage);
        const page = await stage.page();
        const order = await orderAtTill(stage, page, { currency, total });
        const invoice = await invoiceOf(stage, order);
        expect([invoice.amount, invoice.settlementCurrency]).to.deep.equal([amount, currency]);
        await press(page, "pay");
        await expectPaidOnce(stage, order, count);
      }
    },
  },
  {
    name: "asked again",
    promise: "A customer who goes back and pays again is sent to the same invoice.",
    dependsOn: [],
    async run(stage) {
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      const first = page.url();
      const { payUrl } = await stage.shop.order(order);
      await payExisting(page, payUrl, "till");
      await untilAtTill(page);
      expect(page.url()).to.equal(first);
    },
  },
];
