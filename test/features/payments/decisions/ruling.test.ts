// The effects of a merchant's decision about a payment on its transfer, the transfer's other payments and its invoice.
import { expect } from "chai";
import { transfers } from "../../../../src/features/payments/table.ts";
import { expectStatus, type Json } from "../../../support/app.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";
import { finalBlocks, openDesk } from "../../../support/counter.ts";

anyStore("A decision about a payment", (store) => {
  const shop = openDesk(store);

  const transfer = ({ id }: Json) => shop.counter.get(shop.merchant, `/transfers/${String(id)}`);
  const payment = ({ id }: Json) => shop.counter.get(shop.merchant, `/payments/${String(id)}`);
  const decide = (what: "accept" | "reject" | "reverse", { id }: Json) =>
    shop.post(`/payments/${String(id)}/${what}`);

  /** Pays an amount that no rule matches. Returns its transfer. */
  async function unmatched(amount: string, blocks = 3): Promise<Json> {
    await shop.pay(amount, blocks);
    const found = await shop.inboxed();
    expect(found).to.include({ amount });
    return found ?? {};
  }

  /** Allocates parts of a transfer to invoices. Returns their payments. */
  async function allocated(found: Json, ...parts: readonly (readonly [Json, string])[]) {
    const allocations = parts.map(([{ id }, amount]) => ({ invoiceId: id, amount }));
    const path = `/transfers/${String(found["id"])}/allocate`;
    const { body } = await expectStatus(shop.post(path, { allocations }), 200);
    const payments = body["allocations"] as Json[];
    return parts.map(([{ id }]): Json => {
      const own = payments.find(({ invoiceId }) => invoiceId === id);
      return { id: own?.["paymentId"] };
    });
  }

  /** Submits a transfer as the payer of an invoice. Returns the payment, which waits for the merchant. */
  async function submitted(invoice: Json, found: Json): Promise<Json> {
    const path = `/v1/checkout/${String(invoice["checkoutId"])}/transactions`;
    const body = { transactionHash: String(found["transactionHash"]).slice(2) };
    await expectStatus(shop.counter.app.request("POST", path, { body }), 202);
    await shop.counter.examine();
    const listed = `/payments?invoiceId=${String(invoice["id"])}`;
    const [waiting = {}] = await shop.counter.list(shop.merchant, listed);
    expect(waiting).to.include({ status: "review" });
    return waiting;
  }

  it("counts it, and rejects the others of its transfer that wait, but none of another transfer", async () => {
    const [one, two] = [await shop.issue({ amount: "67.00" }), await shop.issue()];
    const [found, other] = [await unmatched("8.25"), await unmatched("8.75")];
    const accepted = await submitted(one, found);
    const rejected = await submitted(two, found);
    const kept = await submitted(one, other);
    // An earlier version entered the transfer, which nobody was to verify until a payment of it counts.
    const { db } = shop.counter.app.app;
    await db.write(testContext, (tx) =>
      tx.update(transfers, { verification: "skipped" }, "WHERE id = $1", [String(found["id"])]),
    );
    await expectStatus(decide("accept", accepted), 200);
    expect(await payment(accepted)).to.include({ status: "confirming" });
    expect(await payment(rejected)).to.include({ status: "rejected" });
    expect(await payment(kept)).to.include({ status: "review" });
    const row = await db.findOne(transfers, "WHERE id = $1", [String(found["id"])]);
    expect(row).to.include({
      invoiceId: one["id"],
      disposition: "matched",
      verification: "open",
    });
    const decisions = (await transfer(found))["decisions"] as Json[];
    expect(decisions.map(({ decision, paymentId }) => [decision, paymentId])).to.deep.equal([
      ["rejected", rejected["id"]],
      ["accepted", accepted["id"]],
    ]);
    // The other transfer stays in the inbox when its payment is rejected.
    await expectStatus(decide("reject", kept), 200);
    expect(await transfer(other)).to.include({ status: "unmatched", unallocatedAmount: "8.75" });
  });

  it("that reverses it returns its transfer to the inbox although the rest was ignored, and proves nothing", async () => {
    const issued = await shop.issue();
    const found = await unmatched("8.50", 1);
    const [part = {}] = await allocated(found, [issued, "5.00"]);
    await expectStatus(shop.post(`/transfers/${String(found["id"])}/ignore`), 200);
    expect(await transfer(found)).to.include({ status: "ignored", unallocatedAmount: "3.50" });
    await expectStatus(decide("reverse", part), 200);
    expect(await transfer(found)).to.include({ status: "unmatched", unallocatedAmount: "8.50" });
    // It was not confirmed yet.
    expect(await payment(part)).to.include({ status: "rejected", isVerified: false });
  });

  it("is refused if its invoice would then need money that was returned, whatever other invoices have", async () => {
    const one = await shop.issue({ amount: "10.00" });
    const two = await shop.issue({ amount: "12.00" });
    const [first = {}, elsewhere = {}] = await allocated(
      await unmatched("22.50"),
      [one, "10.00"],
      [two, "12.00"],
    );
    const [excess = {}] = await allocated(await unmatched("10.75"), [one, "10.75"]);
    // A tip without transfers is stored once a second.
    shop.counter.app.clock.advance(1_100);
    await shop.counter.mine(finalBlocks);
    const give = { paymentId: excess["id"], amount: "10.75", address: `0x${"8".repeat(40)}` };
    const { body: refund } = await expectStatus(shop.post("/refunds", give), 201);
    const send = { transactionHash: "ef".repeat(32) };
    await expectStatus(shop.post(`/refunds/${String(refund["id"])}/send`, send), 200);

    const { body } = await expectStatus(decide("reverse", first), 409);
    expect(body["code"]).to.equal("payment_refunded");
    expect(body["detail"]).to.match(
      new RegExp(`^${String(one["id"])} would need ${String(excess["id"])}`),
    );
    expect(await payment(first)).to.include({ status: "confirmed" });
    await expectStatus(decide("reverse", elsewhere), 200);
    expect(await shop.read(two)).to.include({ status: "open", paidTokenAmount: "0.00" });
  });
});
