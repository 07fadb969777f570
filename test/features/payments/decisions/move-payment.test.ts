import { expect } from "chai";
import { stateTable } from "../../../../src/platform/chain/state/network-state.ts";
import { expectStatus, type Answer, type Json } from "../../../support/app.ts";
import { xpubOf } from "../../../support/merchants.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import { usdt } from "../../../support/amounts.ts";
import { openDesk } from "../../../support/counter.ts";

let keys = 50;

eachStore("A payment that is moved to another invoice", (store) => {
  const it = takeTurns(store);
  const desk = openDesk(store);

  const paymentsOf = (invoice: Json) =>
    desk.counter.list(desk.merchant, `/payments?invoiceId=${String(invoice["id"])}`);
  const newest = async (invoice: Json) => (await paymentsOf(invoice))[0] ?? {};
  const move = (payment: Json, to: unknown, more: Json = {}) =>
    desk.post(`/payments/${String(payment["id"])}/reverse`, { toInvoiceId: to, ...more });
  const moved = async (payment: Json, to: Json, more: Json = {}) =>
    (await expectStatus(move(payment, to["id"], more), 200)).body;
  /** Pays to the address of an invoice until the payment is confirmed. Returns the transaction's hash. */
  const payTo = async (invoice: Json, amount: unknown, blocks = 3) => {
    const address = String(invoice["walletAddress"]).slice(2).toLowerCase();
    const hash = await desk.counter.pay(address, usdt(amount));
    await desk.counter.mine(blocks);
    return hash;
  };

  /** Issues two invoices of 25.00 with addresses of their own, of which the first expires with a part of the price. */
  async function partAndSecond() {
    const wallet = { label: "Key", network: "sandbox", xpub: xpubOf((keys += 1)) };
    const { body } = await expectStatus(desk.post("/wallets", wallet), 201);
    const issue = () => desk.issue({ walletId: body["id"] });
    const first = await issue();
    const hash = await payTo(first, "12.50");
    await desk.expire(first);
    expect(await desk.read(first)).to.include({ status: "expired", owedAmount: "12.50" });
    return { first, second: await issue(), hash };
  }

  it.onBoth(
    "is owed by the first no more, and the second asks for the rest alone, with a refund requested before",
    async () => {
      const { first, second, hash } = await partAndSecond();
      await expectStatus(desk.ask(first, hash, `0x${desk.newAddress()}`), 202);
      const part = await newest(first);
      expect(await moved(part, second)).to.include({ id: part["id"], status: "rejected" });
      expect(await desk.refundOf(first)).to.include({
        status: "rejected",
        refusal: "surplus_gone",
      });
      const spent = { status: "expired", exception: "none", paidTokenAmount: "0.00" };
      expect(await desk.read(first)).to.include({ ...spent, owedAmount: "0.00" });
      expect(await desk.session(first)).to.include({
        canRequestRefund: false,
        nextAction: "request_new_link",
      });
      const { paymentInstructions } = await desk.session(first);
      expect(paymentInstructions).to.match(/has moved the payment .* to another invoice/);
      expect(await newest(second)).to.include({ amount: "12.50", status: "confirming" });
      expect(await desk.session(second)).to.include({ state: "partly_paid", nextAction: "pay" });
      expect(await desk.read(second)).to.include({
        status: "partially_paid",
        remainingAmount: "12.50",
      });
      const [matched] = await desk.counter.list(desk.merchant, "/transfers?status=matched");
      const path = `/transfers/${String(matched?.["id"])}`;
      const transfer = await desk.counter.get(desk.merchant, path);
      const decisions = (transfer["decisions"] as Json[]).map(({ decision }) => decision);
      expect(decisions).to.have.members(["reversed", "allocated"]);
      const logged = "/audit-logs?action=transfer.allocated";
      const [entry] = await desk.counter.list(desk.merchant, logged);
      expect(entry).to.include({ targetId: transfer["id"] });
      const again = await move(part, second["id"]);
      expect([again.status, again.body["code"]]).to.deep.equal([409, "payment_not_counted"]);
      expect(again.body["detail"]).to.include(String(transfer["id"]));

      await payTo(second, "12.50");
      expect(await desk.read(second)).to.include({ status: "paid", exception: "none" });
      expect(await desk.read(first)).to.include({ ...spent, owedAmount: "0.00" });
    },
  );

  it.onBoth(
    "leaves both invoices unpaid and nothing owed when the network takes it back, until it returns",
    async () => {
      const { first, second } = await partAndSecond();
      await moved(await newest(first), second);
      const hash = await payTo(second, "12.50");
      expect(await desk.read(second)).to.include({ status: "paid" });
      const seen = (await paymentsOf(second)).find((one) => one["transactionHash"] !== `0x${hash}`);
      // From the block of the part on, so that the rest goes too, and both return.
      await desk.counter.reorganize(Number(seen?.["confirmations"]), { drop: false });
      expect(await desk.read(second)).to.include({ status: "open", exception: "reverted" });
      expect(await desk.read(first)).to.include({ status: "expired", owedAmount: "0.00" });
      const refused = await move(seen ?? {}, (await desk.issue())["id"]);
      expect([refused.status, refused.body["code"]]).to.deep.equal([409, "transfer_reverted"]);
      await desk.counter.mine(3);
      expect(await desk.read(second)).to.include({ status: "paid", exception: "none" });
      expect(await desk.read(first)).to.include({ status: "expired", paidTokenAmount: "0.00" });
      expect((await paymentsOf(first)).map(({ status }) => status)).to.deep.equal(["rejected"]);
    },
  );

  it("is followed by the rest if that comes to the first invoice, which is owed until it is moved too", async () => {
    const { first, second } = await partAndSecond();
    await moved(await newest(first), second);
    await payTo(first, "12.50");
    expect(await desk.read(first)).to.include({
      status: "expired",
      exception: "late",
      owedAmount: "12.50",
    });
    await moved(await newest(first), second, { cancel: true });
    await desk.counter.mine();
    expect(await desk.read(first)).to.include({ status: "canceled", owedAmount: "0.00" });
    expect(await desk.read(second)).to.include({ status: "paid", paidTokenAmount: "25.00" });
  });

  it("has a rest at a shared address that is known by its amount, and is moved without what was refunded of it", async () => {
    const allocate = async (invoice: Json, amount: string) => {
      const transfer = await desk.inboxed();
      const allocations = [{ invoiceId: invoice["id"], amount }];
      const path = `/transfers/${String(transfer?.["id"])}/allocate`;
      await expectStatus(desk.post(path, { allocations }), 200);
      await desk.counter.mine(3);
    };
    const first = await desk.issue();
    await desk.pay("12.50");
    await allocate(first, "12.50");
    await desk.expire(first);
    const second = await desk.issue();
    await moved(await newest(first), second);
    // Somebody else may have sent it: the payer of the first hears nothing of it.
    expect((await desk.session(first))["paymentInstructions"]).not.to.include("moved");
    const { remainingAmount } = await desk.read(second);
    expect(Number(remainingAmount)).to.be.within(12.5, 12.75);
    await desk.pay(remainingAmount);
    expect(await desk.read(second)).to.include({ status: "paid" });

    // Of an excess of 15.00, 6.00 were returned.
    await desk.pay("15.00");
    await allocate(second, "15.00");
    const excess = await newest(second);
    const give = { paymentId: excess["id"], amount: "6.00", address: `0x${desk.newAddress()}` };
    const { body: refund } = await expectStatus(desk.post("/refunds", give), 201);
    await expectStatus(desk.name(refund, "ab".repeat(32)), 200);
    const third = await desk.issue();
    await moved(excess, third);
    expect(await newest(third)).to.include({ amount: "9.00" });
    expect(await desk.read(second)).to.include({ status: "paid", owedAmount: "0.00" });
  });

  it("stays where it is if it cannot be moved", async () => {
    const invoice = await desk.issue();
    await desk.pay(invoice["payableAmount"]);
    const payment = await newest(invoice);
    const before = await desk.read(invoice);
    const draft = await desk.issue({ draft: true });
    const foreign = await desk.counter.issue(await withWallet());
    const usdc = await desk.issue({ tokenSymbol: "USDC" });
    await refused(move(payment, invoice["id"]), 400, "invalid_request");
    await refused(move(payment, "inv_unknown"), 400, "invalid_request");
    await refused(move(payment, `inv_${"0".repeat(26)}`), 404, "not_found");
    await refused(move(payment, foreign["id"]), 404, "not_found");
    await refused(move(payment, draft["id"]), 409, "invoice_not_payable");
    await refused(move(payment, usdc["id"]), 422, "token_mismatch");
    const other = await desk.issue();
    const disable = (tokens: readonly string[]) =>
      desk.counter.app.app.db.write(testContext, (tx) =>
        tx.update(stateTable, { disabledTokens: tokens }, "WHERE network = 'sandbox'"),
      );
    await disable(["USDT"]);
    await refused(move(payment, other["id"]), 409, "transfer_not_creditable");
    await disable([]);
    expect(await desk.read(invoice)).to.deep.equal(before);
    expect(await newest(invoice)).to.deep.equal(payment);

    const canceled = await desk.issue();
    await expectStatus(desk.post(`/invoices/${String(canceled["id"])}/cancel`), 200);
    await desk.pay(canceled["payableAmount"]);
    const waiting = await newest(canceled);
    const why = await refused(move(waiting, invoice["id"]), 409, "payment_not_counted");
    expect(why).to.match(/in review\. .*allocate its transfer trf_/);
    const reverse = desk.post(`/payments/${String(waiting["id"])}/reverse`);
    expect(await refused(reverse, 409, "payment_not_counted")).to.include("Reject it instead.");

    // A transfer of which the other invoice has a part already, and an excess that was returned completely.
    await desk.pay("9.00");
    const allocate = async (allocations: readonly Json[]) => {
      const transfer = await desk.inboxed();
      const path = `/transfers/${String(transfer?.["id"])}/allocate`;
      await expectStatus(desk.post(path, { allocations }), 200);
      await desk.counter.mine(3);
    };
    await allocate([
      { invoiceId: invoice["id"], amount: "8.00" },
      { invoiceId: other["id"], amount: "1.00" },
    ]);
    const excess = await newest(invoice);
    await refused(move(excess, other["id"]), 409, "transfer_allocated");
    const give = { paymentId: excess["id"], amount: "8.00", address: `0x${desk.newAddress()}` };
    const { body: refund } = await expectStatus(desk.post("/refunds", give), 201);
    await expectStatus(desk.name(refund, "cd".repeat(32)), 200);
    const third = await desk.issue();
    await refused(move(excess, third["id"]), 409, "allocation_too_large");
  });

  async function refused(answering: Promise<Answer>, status: number, code: string) {
    const { body } = await expectStatus(answering, status);
    expect(body["code"]).to.equal(code);
    return String(body["detail"]);
  }

  /** A merchant of another organization, with a wallet. */
  async function withWallet() {
    const other = await desk.counter.merchant();
    await desk.counter.wallet(other);
    return other;
  }
});
