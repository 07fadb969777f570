import { expect } from "chai";
import {
  buy,
  checkoutError,
  clickPlaceOrder,
  fillCheckout,
  press,
  untilAtTill,
} from "../browser.ts";
import type { Case } from "../case.ts";
import { openShop } from "../shop.ts";
import { connect } from "../connect.ts";
import {
  counting,
  createOrder,
  deliveriesOf,
  eventually,
  expectNoComplaints,
  expectPaidOnce,
  invoiceOf,
  orderAtTill,
  untilInvoice,
  untilStatus,
  type Stage,
} from "../stage.ts";

/** Waits until the shop has refused an event of an order that is paid in Till. */
async function untilRefused(stage: Stage, isSo: (status: number | null) => boolean): Promise<void> {
  await eventually(
    "a refused delivery",
    () => deliveriesOf(stage),
    (all) =>
      all.some(
        ({ eventType, status, attempts, responseStatus }) =>
          eventType === "invoice.paid" &&
          status !== "succeeded" &&
          attempts > 0 &&
          isSo(responseStatus),
      ),
  );
}

/** Failures between the shop and Till, and shops that come, move and go. */
export const connections: readonly Case[] = [
  {
    name: "shop down and back",
    promise: "A payment while the shop does not answer arrives when it is back.",
    dependsOn: [],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      await stage.shop.halt();
      await press(page, "pay");
      await untilRefused(stage, (status) => status === null);
      await stage.shop.start();
      await expectPaidOnce(stage, order, count);
    },
  },
  {
    name: "wrong key",
    promise: "Without a valid key the checkout and the order's notes say so, and nothing is lost.",
    dependsOn: ["checkout"],
    async run(stage) {
      const { shop, checkout } = stage;
      const count = await counting(stage);
      const page = await stage.page();
      await fillCheckout(page, shop, checkout);
      await shop.control("settings", { api_key: `${stage.connection.api_key}x` });
      await clickPlaceOrder(page, checkout);
      expect(await checkoutError(page, checkout)).to.match(/payment could not be started/i);
      const order = await shop.control<number>("newest_order");
      const { status, notes } = await shop.order(order);
      expect(status).to.be.oneOf(["pending", "failed", "checkout-draft"]);
      expect(notes.filter((note) => /could not be started/.test(note))).to.have.length(1);
      await shop.control("settings", stage.connection);
      await clickPlaceOrder(page, checkout);
      await untilAtTill(page);
      expect(await shop.control("newest_order")).to.equal(order);
      await press(page, "pay");
      await untilStatus(stage, order, "processing");
      expect((await count(order)).unitsSold).to.equal(1);
    },
  },
  {
    name: "wrong secret",
    promise: "Deliveries with another secret are refused, and accepted once it is right.",
    dependsOn: [],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      await stage.shop.control("settings", { webhook_secret: `whsec_${"A".repeat(43)}=` });
      await press(page, "pay");
      await untilRefused(stage, (status) => status === 400);
      expect((await stage.shop.order(order)).status).to.equal("pending");
      await stage.shop.control("settings", stage.connection);
      await expectPaidOnce(stage, order, count);
    },
  },
  {
    name: "wrong secret and a return",
    promise: "Without webhooks, the customer's return completes the order.",
    dependsOn: [],
    async run(stage) {
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      await stage.shop.control("settings", { webhook_secret: "" });
      await press(page, "pay");
      await untilInvoice(stage, order, "paid");
      await page.goto((await stage.shop.order(order)).receivedUrl);
      await untilStatus(stage, order, "processing");
      await stage.shop.control("settings", stage.connection);
      await expectPaidOnce(stage, order, count);
    },
  },
  {
    name: "deactivated",
    promise: "A shop whose plug-in is deactivated sells by other methods, and catches up later.",
    dependsOn: [],
    async run(stage) {
      const { shop } = stage;
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      await shop.control("activate", false);
      await press(page, "pay");
      await untilRefused(stage, (status) => status !== null);
      const other = await stage.page();
      await fillCheckout(other, shop, stage.checkout, "bacs");
      expect(await other.locator("[id*=payment_method_till]").count()).to.equal(0);
      await clickPlaceOrder(other, stage.checkout);
      await other.waitForURL(/order-received/);
      await shop.control("activate", true);
      await expectPaidOnce(stage, order, count, 2);
    },
  },
  {
    name: "removed",
    promise: "The removed plug-in leaves neither key nor secret; installed again, it sells.",
    dependsOn: [],
    async run(stage) {
      const { shop, connection } = stage;
      await shop.control("remove_plugin");
      const left = JSON.stringify(await shop.control("read_option", "woocommerce_till_settings"));
      expect(left).to.not.include(connection.api_key).and.not.include(connection.webhook_secret);
      const answer = await fetch(shop.url);
      expect(answer.status).to.equal(200);
      shop.installPlugin();
      await shop.control("activate", true);
      await shop.control("settings", { ...connection, enabled: "yes" });
      const count = await counting(stage);
      const page = await stage.page();
      const order = await orderAtTill(stage, page);
      await press(page, "pay");
      await expectPaidOnce(stage, order, count);
    },
  },
  {
    name: "copied shop",
    promise:
      "A copy of the shop at another address sells too, and neither touches orders of the other.",
    dependsOn: [],
    async run(stage) {
      const { parent, database, shop, till } = stage;
      const before = await orderAtTill(stage, await stage.page());
      const copy = await openShop(parent, database, {
        pair: shop.pair,
        storage: shop.storage,
        copyOf: shop,
      });
      try {
        const connection = await connect(copy, till);
        const other: Stage = { ...stage, shop: copy, connection };
        const [count, countOther] = [await counting(stage), await counting(other)];
        const [page, otherPage] = [await stage.page(), await stage.page()];
        const order = await orderAtTill(stage, page);
        const otherOrder = await orderAtTill(other, otherPage);
        // The case is about equal numbers.
        expect(otherOrder).to.equal(order);
        const [invoice, otherInvoice] = [
          await invoiceOf(stage, order),
          await invoiceOf(other, order),
        ];
        expect(otherInvoice.externalId).to.not.equal(invoice.externalId);
        await press(otherPage, "pay");
        await expectPaidOnce(other, order, countOther);
        expect((await shop.order(order)).status).to.equal("pending");
        await press(page, "pay");
        await expectPaidOnce(stage, order, count);
        // The invoice of an order from before the copy belongs to the first shop: the copy does not cancel it.
        await copy.control("status", before, "cancelled");
        expect((await invoiceOf(stage, before)).status).to.equal("open");
        await till.run("sandbox", "pay", (await invoiceOf(stage, before)).id);
        await untilStatus(stage, before, "processing");
        expectNoComplaints(copy);
      } finally {
        await copy.remove();
      }
    },
  },
  {
    name: "second shop",
    promise: "A second shop of the organization sells with the same numbers of orders.",
    dependsOn: [],
    async run(stage) {
      const { parent, database, shop, till } = stage;
      const { pair, storage } = shop;
      const second = await openShop(parent, database, { pair, storage });
      try {
        const connection = await connect(second, till);
        const other: Stage = { ...stage, shop: second, connection };
        const count = await counting(other);
        const page = await stage.page();
        // The first order's number is that of an order of the first shop, which was made in the same way.
        const order = await buy(page, second, stage.checkout);
        await press(page, "pay");
        await expectPaidOnce(other, order, count);
        const created = await createOrder(second);
        expect(created.id).to.be.greaterThan(order);
        expectNoComplaints(second);
      } finally {
        await second.remove();
      }
    },
  },
];
