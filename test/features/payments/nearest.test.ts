// Payments within the tolerance of one invoice, while other invoices wait for similar amounts.
import { expect } from "chai";
import { eachStore } from "../../support/store/stores.ts";
import { openDesk, suggestedFor } from "../../support/counter.ts";
import type { Json } from "../../support/app.ts";
import { expectDigits, usdt } from "../../support/amounts.ts";

eachStore("A payment within the tolerance of one invoice", (store) => {
  const shop = openDesk(store);
  const { issue, read, pay, inboxed } = shop;

  const tolerant = () => issue({ underpaymentTolerance: "2" });
  const expectInbox = async (...invoices: Json[]) => {
    for (const one of invoices) {
      expect(await read(one)).to.include({ status: "open", paidAmount: "0.00" });
    }
    const suggested = suggestedFor(await inboxed()).map(({ invoiceId }) => invoiceId);
    expect(suggested).to.have.members(invoices.map(({ id }) => id));
  };

  it("waits for the merchant if an invoice without tolerance is nearer, and both are suggested", async () => {
    const near = await issue();
    const wide = await tolerant();
    expect(near["payableAmount"]).to.equal("25.00");
    expectDigits(wide["payableAmount"], "25.00");
    await pay(24.99);
    await expectInbox(near, wide);
  });

  it("waits for the merchant if an invoice with a smaller amount is as near", async () => {
    const wide = await tolerant();
    const below = await issue({ amount: "24.80" });
    expect(wide["payableAmount"]).to.equal("25.00");
    const smaller = expectDigits(below["payableAmount"], "24.80");
    await pay(Number(usdt(25) + smaller) / 2_000_000);
    await expectInbox(wide, below);
  });

  it("waits for the merchant if it is within the tolerance of two invoices", async () => {
    const both = [await tolerant(), await tolerant()];
    await pay(24.99);
    await expectInbox(...both);
  });

  it("pays the tolerant invoice if that is the nearest one", async () => {
    const wide = await tolerant();
    const others = [await issue({ amount: "24.80" }), await issue()];
    await pay(24.9951);
    // Less than dust is missing, which nobody could send.
    expect(await read(wide)).to.include({
      status: "paid",
      exception: "none",
      paidAmount: "25.00",
      paidTokenAmount: "24.9951",
    });
    for (const one of others) expect(await read(one)).to.include({ status: "open" });
  });

  it("pays the tolerant invoice if the nearer ones are paid", async () => {
    const near = await issue();
    await pay(25);
    const wide = await tolerant();
    await pay(24.99);
    expect(await read(near)).to.include({ status: "paid", paidTokenAmount: "25.00" });
    expect(await read(wide)).to.include({ status: "paid", paidTokenAmount: "24.99" });
  });

  it("pays the tolerant invoice if the nearer one is of another merchant or token", async () => {
    const wide = await tolerant();
    await issue({ tokenSymbol: "USDC" });
    await pay(24.99);
    expect(await read(wide)).to.include({ status: "paid", exception: "underpaid" });
  });
});
