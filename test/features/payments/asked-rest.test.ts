// The rest of a partly paid invoice carries a new surcharge if the bare rest is not free.
import { expect } from "chai";
import { expectStatus, type Json } from "../../support/app.ts";
import { formatUnits } from "../../../src/kernel/money/ratio.ts";
import { expectDigits, usdt } from "../../support/amounts.ts";
import { openDesk } from "../../support/counter.ts";
import { eachStore } from "../../support/store/stores.ts";

eachStore("Payment of exactly the remaining amount", (store) => {
  const shop = openDesk(store);
  const { issue, read, post, pay, inboxed } = shop;

  /** Pays a part that no rule matches, allocates it as the merchant, and returns the transaction hash. */
  async function payPart(invoice: Json, amount: number, blocks = 3): Promise<string> {
    const hash = await pay(amount, blocks);
    const found = await inboxed();
    expect(found?.["transactionHash"]).to.equal(`0x${hash}`);
    const allocations = [{ invoiceId: invoice["id"], amount: found?.["amount"] }];
    const path = `/transfers/${String(found?.["id"])}/allocate`;
    await expectStatus(post(path, { allocations }), 200);
    return hash;
  }
  const tokensOf = (units: bigint) => formatUnits(units, 6, 2);
  const restOf = async (invoice: Json) => (await read(invoice))["remainingAmount"];
  const pageOf = async ({ checkoutId }: Json) =>
    (await shop.counter.app.request("GET", `/pay/${String(checkoutId)}`)).text;

  it("is not an overpayment if the rest has a surcharge, and the payer's page shows none", async () => {
    await issue({ amount: "15.00" });
    const invoice = await issue();
    await payPart(invoice, 10);
    const rest = expectDigits(await restOf(invoice), "15.00");
    await pay(Number(rest) / 1_000_000);
    expect(await read(invoice)).to.include({
      status: "paid",
      exception: "none",
      paidAmount: "25.00",
      paidTokenAmount: tokensOf(usdt(10) + rest),
    });
    expect(await pageOf(invoice)).to.contain('data-state="paid"');
  });

  it("is not an overpayment if the price has a surcharge too, and the rest has two", async () => {
    await issue();
    const invoice = await issue();
    const asked = expectDigits(invoice["payableAmount"], "25.00");
    await issue({ amount: "15.00" });
    await payPart(invoice, 10);
    expectDigits(await restOf(invoice), asked - usdt(10));
    await issue({ amount: (Number(asked - usdt(16)) / 1_000_000).toFixed(2) });
    await payPart(invoice, 6);
    await pay(Number(expectDigits(await restOf(invoice), asked - usdt(16))) / 1_000_000);
    expect(await read(invoice)).to.include({ status: "paid", exception: "none" });
  });

  it("followed by another payment is an overpayment, whose amount the payer sees", async () => {
    await issue({ amount: "15.00" });
    const invoice = await issue();
    await payPart(invoice, 10);
    await pay(await restOf(invoice));
    await payPart(invoice, 2);
    expect(await read(invoice)).to.include({ status: "paid", exception: "overpaid" });
    expect(await pageOf(invoice)).to.contain("You sent 2.00 USDT too much");
  });

  it("is not an overpayment after a reorganization removed a part and brought it back", async () => {
    await issue({ amount: "15.00" });
    const invoice = await issue();
    await payPart(invoice, 10, 1);
    const rest = expectDigits(await restOf(invoice), "15.00");
    await pay(Number(rest) / 1_000_000, 1);
    await shop.counter.reorganize(2, { drop: false });
    expect(await read(invoice)).to.include({ exception: "reverted", paidAmount: "0.00" });
    await shop.counter.mine(4);
    expect(await read(invoice)).to.include({
      status: "paid",
      exception: "none",
      paidTokenAmount: tokensOf(usdt(10) + rest),
    });
  });
});
