import { expect } from "chai";
import { listClaims } from "../../../../src/features/payments/inbox/transfers.ts";
import type { Id } from "../../../../src/kernel/id.ts";
import { expectStatus, type Json } from "../../../support/app.ts";
import { anyStore } from "../../../support/store/stores.ts";
import { openDesk } from "../../../support/counter.ts";

anyStore("The transactions that payers submitted", (store) => {
  const shop = openDesk(store);

  it("are listed with the payments of their own invoices, by these transactions alone", async () => {
    const [one, two] = [await shop.issue(), await shop.issue({ amount: "30.00" })];
    const submit = (invoice: Json, transactionHash: string) => {
      const path = `/v1/checkout/${String(invoice["checkoutId"])}/transactions`;
      const body = { transactionHash };
      return expectStatus(shop.counter.app.request("POST", path, { body }), 202);
    };
    const own = await shop.pay(one["payableAmount"]);
    await shop.pay("7.00");
    const part = await shop.inboxed();
    const allocations = [{ invoiceId: one["id"], amount: "7.00" }];
    const path = `/transfers/${String(part?.["id"])}/allocate`;
    await expectStatus(shop.post(path, { allocations }), 200);
    const unknown = "bb".repeat(32);
    for (const [invoice, hash] of [
      [one, own],
      [one, unknown],
      [two, own],
    ] as const) {
      await submit(invoice, hash);
    }
    const paid = `/payments?transactionHash=0x${own}`;
    const [payment] = await shop.counter.list(shop.merchant, paid);
    const { data } = await listClaims(
      shop.counter.app.app,
      shop.merchant.organizationId as Id<"organization">,
      {},
    );
    const listed = data.map(({ claim: { invoiceId, transactionHash }, payments }) => {
      return [invoiceId, transactionHash, payments.map(({ id }) => id)];
    });
    expect(listed).to.deep.equal([
      [two["id"], own, []],
      [one["id"], unknown, []],
      [one["id"], own, [payment?.["id"]]],
    ]);
  });
});
