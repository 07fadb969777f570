import { expect } from "chai";
import { usdt } from "../../../support/amounts.ts";
import { expectStatus, colleague, type Merchant } from "../../../support/app.ts";
import { anyStore } from "../../../support/store/stores.ts";
import { openCounter, type Counter } from "../../../support/counter.ts";

anyStore("The policy for late payments", (store) => {
  let counter: Counter;
  let merchant: Merchant;
  let address = "";
  before(async () => {
    counter = await openCounter(store);
    merchant = await counter.merchant();
    address = await counter.wallet(merchant);
  });
  after(() => counter.stop());

  const path = () => `/v1/organizations/${merchant.organizationId}/payment-policy`;
  const set = (body: unknown, headers: Record<string, string> = {}) =>
    counter.app.request("PATCH", path(), { key: merchant.key, body, headers });

  async function payLate(amount: string) {
    const invoice = await counter.issue(merchant, { amount, expiresInSeconds: 300 });
    counter.app.clock.advance(600_000);
    await counter.pay(address, usdt(amount));
    await counter.mine();
    await counter.mine(2);
    return { invoice, read: () => counter.get(merchant, `/invoices/${String(invoice["id"])}`) };
  }

  it("counts late payments, or leaves them in the inbox if the merchant reviews them", async () => {
    expect(await counter.get(merchant, "/payment-policy")).to.deep.equal({
      latePayments: "accept",
      lateWindowDays: 7,
      paymentOptions: null,
    });
    const accepted = await payLate("25.00");
    expect(await accepted.read()).to.include({ status: "paid", exception: "late" });
    await expectStatus(set({ latePayments: "review" }), 200);
    const waiting = await payLate("26.00");
    expect(await waiting.read()).to.include({ status: "expired", paidAmount: "0.00" });
    const [found] = await counter.list(merchant, "/transfers?status=unmatched");
    expect(found).to.include({ amount: "26.00", unallocatedAmount: "26.00" });
    const [payment] = await counter.list(
      merchant,
      `/payments?invoiceId=${String(waiting.invoice["id"])}`,
    );
    expect(payment).to.include({ status: "review" });
    const accept = `/payments/${String(payment?.["id"])}/accept`;
    await expectStatus(counter.post(merchant, accept), 200);
    await counter.mine();
    expect(await waiting.read()).to.include({ status: "paid", exception: "late" });
    expect(await counter.list(merchant, "/transfers?status=unmatched")).to.deep.equal([]);
    // An allocation to the invoice for which a payment is in review takes that one's place.
    const third = await payLate("27.00");
    const [left] = await counter.list(merchant, "/transfers?status=unmatched");
    const allocate = `/transfers/${String(left?.["id"])}/allocate`;
    const allocations = [{ invoiceId: third.invoice["id"], amount: "27.00" }];
    await expectStatus(counter.post(merchant, allocate, { allocations }), 200);
    await counter.mine();
    expect(await third.read()).to.include({ status: "paid", paidAmount: "27.00" });
    const listed = `/payments?invoiceId=${String(third.invoice["id"])}`;
    const statuses = (await counter.list(merchant, listed)).map(({ status }) => status).sort();
    expect(statuses).to.deep.equal(["confirmed", "rejected"]);
    // The policy applied to payments since its change: earlier ones stay as they were.
    expect(await accepted.read()).to.include({ status: "paid" });
  });

  it("can be changed by admins only, based on the version that they read", async () => {
    const read = await counter.app.request("GET", path(), { key: merchant.key });
    const tag = { "If-Match": read.headers.get("ETag") ?? "" };
    await expectStatus(set({ latePayments: "accept" }, tag), 200);
    await expectStatus(set({ latePayments: "review" }, tag), 412);
    await expectStatus(set({ latePayments: "never" }), 400);
    await expectStatus(set({ latePayment: "accept" }), 400);
    const member = await colleague(counter.app, merchant, "member");
    const asMember = { token: member.token, body: { latePayments: "review" } };
    await expectStatus(counter.app.request("PATCH", path(), asMember), 403);
    const other = await counter.merchant();
    await expectStatus(counter.app.request("GET", path(), { key: other.key }), 404);
    const action = "/audit-logs?action=organization.payment_policy_updated";
    expect((await counter.list(merchant, action))[0]).to.deep.include({
      changes: { latePayments: { from: "review", to: "accept" } },
    });
  });
});
