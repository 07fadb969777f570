// The way of a payment on the sandbox, driven by the buttons of its page.
import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { xpubs } from "../support/merchants.ts";
import { pressOnPage } from "../support/sandbox.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { anyStore } from "../support/store/stores.ts";
import {
  checkout,
  checkoutIs,
  issueInvoice,
  openShop,
  readInvoice,
  webhooksOf,
  type IssuedInvoice,
  type Shop,
} from "./way.ts";

anyStore("an invoice on the sandbox", function (store) {
  let receiver: Receiver;
  let app: TestApp;
  let shop: Shop;

  before(async () => {
    receiver = await startReceiver();
    app = await startApp({
      place: await store.place("migrated"),
      settings: { TILL_SANDBOX_BLOCK_MS: "0", TILL_WEBHOOK_ALLOW_CIDRS: "127.0.0.1/32" },
    });
    shop = await openShop(app, { network: "sandbox", xpub: xpubs.first }, receiver);
  });
  after(async () => {
    await app.stop();
    await receiver.close();
  });

  async function press(invoice: IssuedInvoice, action: string): Promise<void> {
    const { headers } = await pressOnPage(app, invoice.checkoutId, action);
    expect(headers.get("Location")).to.match(/\/pay\/chk_/);
  }

  /** Blocks are mined only on command here, so that nothing happens between two buttons. */
  async function mine(invoice: IssuedInvoice, blocks: number): Promise<void> {
    for (let block = 0; block < blocks; block += 1) await press(invoice, "mine");
  }

  it("is paid by the button, confirmed by blocks and reported by a webhook", async () => {
    const invoice = await issueInvoice(shop, "sandbox");
    expect((await checkout(app, invoice)).invoice.status).to.equal("open");
    await press(invoice, "pay");
    await mine(invoice, 1);
    const seen = await checkoutIs(app, invoice, "confirming");
    expect(seen.confirmationProgress).to.deep.equal({ current: 1, required: 3 });
    await mine(invoice, 2);
    const paid = await checkoutIs(app, invoice, "paid");
    expect(paid.confirmationProgress).to.deep.equal({ current: 3, required: 3 });
    expect(paid.receipt?.transactionHashes).to.have.length(1);
    const [event] = await webhooksOf(receiver, shop.webhookSecret, "invoice.paid");
    expect(event?.data).to.include({ id: invoice.id, status: "paid" });
  });

  it("is partly paid, then whole", async () => {
    const invoice = await issueInvoice(shop, "sandbox");
    await press(invoice, "underpay");
    await mine(invoice, 1);
    const part = await checkoutIs(app, invoice, "partially_paid");
    expect(part.invoice.remainingAmount).to.equal("12.50");
    await press(invoice, "pay");
    await mine(invoice, 3);
    await checkoutIs(app, invoice, "paid");
    expect((await readInvoice(shop, invoice)).exception).to.equal("none");
  });

  it("is overpaid", async () => {
    const invoice = await issueInvoice(shop, "sandbox");
    await press(invoice, "overpay");
    await mine(invoice, 3);
    await checkoutIs(app, invoice, "paid");
    expect(await readInvoice(shop, invoice)).to.include({
      exception: "overpaid",
      paidTokenAmount: "26.00",
    });
  });

  it("loses its payment in a reorganization", async () => {
    const invoice = await issueInvoice(shop, "sandbox");
    await press(invoice, "pay");
    await mine(invoice, 1);
    await checkoutIs(app, invoice, "confirming");
    await press(invoice, "reorganize");
    await checkoutIs(app, invoice, "open");
    expect((await readInvoice(shop, invoice)).exception).to.equal("reverted");
  });

  it("expires, and still accepts a late payment", async () => {
    const invoice = await issueInvoice(shop, "sandbox");
    await press(invoice, "expire");
    await mine(invoice, 1);
    await checkoutIs(app, invoice, "expired");
    await press(invoice, "pay");
    await mine(invoice, 3);
    await checkoutIs(app, invoice, "paid");
    expect((await readInvoice(shop, invoice)).exception).to.equal("late");
  });

  it("refuses an unknown button", async () => {
    const invoice = await issueInvoice(shop, "sandbox");
    const answer = await app.request("POST", `/pay/${invoice.checkoutId}/sandbox`, {
      raw: "action=steal",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
    });
    expect(answer.status).to.equal(400);
  });
});
