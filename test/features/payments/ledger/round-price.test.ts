// Payments by payers who round the payable amount.
import { expect } from "chai";
import { expectStatus, type Json } from "../../../support/app.ts";
import { expectDigits, usdt } from "../../../support/amounts.ts";
import { openDesk, suggestedFor as suggested } from "../../../support/counter.ts";
import { eachStore } from "../../../support/store/stores.ts";

eachStore("A payment of the round price", (store) => {
  const shop = openDesk(store);
  const { issue, read, post, pay, inboxed } = shop;

  it("waits for the merchant if the invoice with that price is paid, with both invoices suggested", async () => {
    const first = await issue();
    expect(first["payableAmount"]).to.equal("25.00");
    await pay(25);
    const second = await issue();
    expectDigits(second["payableAmount"], "25.00");

    await pay(25);
    expect(await read(first)).to.include({ status: "paid", exception: "none" });
    expect(await read(second)).to.include({ status: "open", paidAmount: "0.00" });
    const found = await inboxed();
    expect(found).to.include({ amount: "25.00", unallocatedAmount: "25.00" });
    expect(suggested(found)).to.deep.equal([
      { invoiceId: second["id"], reasons: ["rounded_amount", "in_time"], amount: "25.00" },
      { invoiceId: first["id"], reasons: ["already_paid"], amount: "25.00" },
    ]);
    const [, marked] = (found?.["suggestions"] ?? []) as Json[];
    expect(marked).to.include({ invoiceStatus: "paid", remainingAmount: "0.00" });
  });

  it("pays once if there are two in one block", async () => {
    const first = await issue();
    await shop.counter.pay(shop.address, usdt(25));
    await pay(25);
    expect(await read(first)).to.include({ status: "paid", exception: "none" });
    expect(suggested(await inboxed())).to.deep.equal([
      { invoiceId: first["id"], reasons: ["already_paid"], amount: "25.00" },
    ]);
  });

  it("waits while the first one is unconfirmed, and pays when that one is reverted", async () => {
    const first = await issue();
    await pay(25, 1);
    await shop.counter.reorganize(1, { drop: true });
    expect(await read(first)).to.include({ status: "open", exception: "reverted" });
    await pay(25, 1);
    expect(await read(first)).to.include({ status: "confirming" });
    await pay(25, 3);
    expect(await read(first)).to.include({ status: "paid", paidTokenAmount: "25.00" });
    expect(await inboxed()).to.include({ amount: "25.00" });
  });

  it("waits if its invoice is partly paid and asks for less, like the amounts of earlier parts", async () => {
    const first = await issue();
    const allocate = async (amount: number) => {
      await pay(amount, 1);
      const found = await inboxed();
      const allocations = [{ invoiceId: first["id"], amount: found?.["amount"] }];
      const path = `/transfers/${String(found?.["id"])}/allocate`;
      await expectStatus(post(path, { allocations }), 200);
    };
    await allocate(10);
    await allocate(6);
    expect(await read(first)).to.include({ status: "partially_paid", remainingAmount: "9.00" });
    await pay(25);
    await pay(15);
    expect(await read(first)).to.include({ paidTokenAmount: "16.00", remainingAmount: "9.00" });
    await pay(9);
    expect(await read(first)).to.include({ status: "paid", paidTokenAmount: "25.00" });
    await pay(9);
    expect(await read(first)).to.include({ status: "paid", exception: "none" });
    expect(suggested(await inboxed())).to.deep.equal([
      { invoiceId: first["id"], reasons: ["already_paid"], amount: "9.00" },
    ]);
  });

  it("is not matched by the tolerance of a paid invoice", async () => {
    const first = await issue({ amount: "30.00", underpaymentTolerance: "2" });
    await pay(29.8);
    expect(await read(first)).to.include({ status: "paid", exception: "underpaid" });
    await pay(29.9);
    await pay(30);
    expect(await read(first)).to.include({ paidTokenAmount: "29.80" });
    expect(suggested(await inboxed())).to.deep.equal([
      { invoiceId: first["id"], reasons: ["already_paid"], amount: "30.00" },
    ]);
  });

  it("counts as late for the invoice with that price while that is unpaid", async () => {
    const first = await issue({ expiresInSeconds: 300 });
    shop.counter.app.clock.advance(600_000);
    await pay(25, 1);
    await shop.counter.mine(2);
    expect(await read(first)).to.include({ status: "paid", exception: "late" });
    await pay(25);
    expect(await read(first)).to.include({ paidTokenAmount: "25.00" });
    expect(await inboxed()).to.include({ amount: "25.00" });
  });

  it("is in review for the invoice whose payer submits its hash", async () => {
    await issue();
    await pay(25);
    const second = await issue();
    const third = await issue();
    const transactionHash = await pay(25);
    const submit = async ({ checkoutId }: Json) => {
      const path = `/v1/checkout/${String(checkoutId)}/transactions`;
      const sent = shop.counter.app.request("POST", path, { body: { transactionHash } });
      await expectStatus(sent, 202);
      await shop.counter.examine();
    };
    const paymentOf = async ({ id }: Json) => {
      const path = `/payments?invoiceId=${String(id)}`;
      return (await shop.counter.list(shop.merchant, path))[0];
    };
    await submit(second);
    const payment = await paymentOf(second);
    expect(payment).to.include({ status: "review", source: "submitted", amount: "25.00" });
    const [best] = suggested(await inboxed());
    expect(best).to.deep.include({
      invoiceId: second["id"],
      reasons: ["in_review", "rounded_amount", "in_time"],
    });
    await submit(third);
    expect(await paymentOf(third)).to.include({ status: "review" });
    const accept = `/payments/${String(payment?.["id"])}/accept`;
    await expectStatus(post(accept), 200);
    expect(await read(second)).to.include({ paidTokenAmount: "25.00" });
    // A transfer that counts for one of them does not wait for the other.
    const dropped = await paymentOf(third);
    expect(dropped).to.include({ status: "rejected" });
    for (const one of [payment, dropped]) {
      const again = await post(`/payments/${String(one?.["id"])}/reject`);
      expect([again.status, again.body["code"]]).to.deep.equal([409, "payment_not_in_review"]);
    }
  });
});
