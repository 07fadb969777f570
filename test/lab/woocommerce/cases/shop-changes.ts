import { expect } from "chai";
import { openAsAdmin, payExisting, press, untilAtTill } from "../browser.ts";
import type { Case } from "../case.ts";
import {
  counting,
  eventually,
  expectPaidOnce,
  invoiceOf,
  orderAtTill,
  payAt,
  untilDelivered,
  untilInvoice,
  untilOrder,
  untilStatus,
  type Invoice,
} from "../stage.ts";

/** Orders that the shop or the customer changes while they wait for money. */
export const shopChanges: readonly Case[] = [
  {
    name: "canceled in the shop",
    promise: "The invoice of a canceled order takes no money, and the order stays canceled.",
    dependsOn: ["storage"],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      await stage.shop.control("status", order, "cancelled");
      await untilInvoice(stage, order, "canceled");
      await page.reload();
      expect(await page.locator("body").innerText()).to.match(/cancell?ed/i);
      await untilDelivered(stage);
      expect((await stage.shop.order(order)).status).to.equal("cancelled");
      const { unitsSold, mails } = await count(order);
      expect(unitsSold).to.equal(0);
      // Newer versions of WooCommerce tell the customer.
      expect(mails).to.satisfy((all: typeof mails) =>
        Object.entries(all).every(([kind, times]) => kind.includes("cancelled") && times === 1),
      );
    },
  },
  {
    name: "paid after it was canceled",
    promise: "Money that arrives at the moment of the cancellation is held for a person.",
    dependsOn: ["storage"],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      // A payment that was detected cannot be canceled any more.
      await press(page, "pay");
      await eventually(
        "a detected payment",
        () => invoiceOf(stage, order),
        ({ status }) => status === "confirming" || status === "paid",
      );
      await stage.shop.control("status", order, "cancelled");
      await untilInvoice(stage, order, "paid");
      await untilDelivered(stage);
      const { status, notes } = await stage.shop.order(order);
      expect(status, notes.join(" | ")).to.be.oneOf(["on-hold", "cancelled"]);
      expect(notes.filter((note) => /is paid/.test(note))).to.have.length(1);
      const { mails } = await count(order);
      expect(mails["customer_processing_order"] ?? 0).to.be.at.most(1);
    },
  },
  {
    name: "total changed",
    promise: "After a change of the total another invoice asks for the new one.",
    dependsOn: ["storage"],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      const old = await invoiceOf(stage, order);
      await stage.shop.control("add_to_order", order, 1);
      const { payUrl } = await stage.shop.order(order);
      await payExisting(page, payUrl, "till");
      await untilAtTill(page);
      const asked = await invoiceOf(stage, order);
      expect(asked.amount).to.equal("25.00");
      const replaced = await stage.till.api<Invoice>("GET", `/invoices/${old.id}`);
      expect(replaced.status).to.equal("canceled");
      await press(page, "pay");
      await expectPaidOnce(stage, order, count, 2);
    },
  },
  {
    name: "total changed and the old one paid",
    promise: "Money for a total that the order no longer has is held for a person.",
    dependsOn: ["storage"],
    async run(stage) {
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      await stage.shop.control("add_to_order", order, 1);
      await press(page, "pay");
      await untilInvoice(stage, order, "paid");
      await untilDelivered(stage);
      const { status, notes } = await untilStatus(stage, order, "on-hold");
      expect(status).to.equal("on-hold");
      expect(notes.filter((note) => /another total/.test(note))).to.have.length(1);
    },
  },
  {
    name: "another method",
    promise: "The invoice left behind fails no order that is being paid by bank transfer.",
    dependsOn: ["storage"],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      const { payUrl } = await stage.shop.order(order);
      await payExisting(page, payUrl, "bacs");
      await page.waitForURL(/order-received/);
      await untilInvoice(stage, order, "canceled");
      await untilDelivered(stage);
      const { status, method } = await stage.shop.order(order);
      expect([status, method]).to.deep.equal(["on-hold", "bacs"]);
      expect(await count(order)).to.deep.equal({
        unitsSold: 1,
        mails: { new_order: 1, customer_on_hold_order: 1 },
      });
    },
  },
  {
    name: "another method after a part",
    promise: "The same with an invoice that has received a part and expires.",
    dependsOn: ["storage"],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      const address = page.url();
      await press(page, "underpay");
      await untilOrder(stage, order, ({ notes }) => notes.some((note) => /part of/i.test(note)));
      const { payUrl } = await stage.shop.order(order);
      await payExisting(page, payUrl, "bacs");
      await page.waitForURL(/order-received/);
      await page.goto(address);
      await press(page, "expire");
      await untilInvoice(stage, order, "expired");
      await untilDelivered(stage);
      const { status, method } = await stage.shop.order(order);
      expect([status, method]).to.deep.equal(["on-hold", "bacs"]);
      expect(await count(order)).to.deep.equal({
        unitsSold: 1,
        mails: { new_order: 1, customer_on_hold_order: 1 },
      });
    },
  },
  {
    name: "refunded",
    promise: "A refund on the order's page says that the money is still to be sent, and where.",
    dependsOn: ["storage"],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      await payAt(page.url());
      const { editUrl } = await expectPaidOnce(stage, order, count);
      await openAsAdmin(page, editUrl);
      await page.locator("button.refund-items").click();
      await page.locator("input.refund_order_item_qty").first().fill("1");
      await page.locator("input.refund_order_item_qty").first().press("Tab");
      await page.locator("button.do-manual-refund").click();
      const isReminder = (note: string) => /moves no money/.test(note);
      const { status, refunded, notes } = await untilOrder(stage, order, (one) =>
        one.notes.some(isReminder),
      );
      expect([status, refunded]).to.deep.equal(["refunded", 12.5]);
      const told = notes.filter(isReminder);
      expect(told, notes.join(" | ")).to.have.length(1);
      expect(told[0]).to.match(/to be sent|send it/i);
    },
  },
];
