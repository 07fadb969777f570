// Rests below 1.00 of a token with two decimals have no amount near them by which they could be told apart.
import { expect } from "chai";
import { expectStatus, type Json, type Merchant } from "../../support/app.ts";
import { day } from "../../../src/kernel/clock.ts";
import { eachStore } from "../../support/store/stores.ts";
import { openOptionsCounter, suggestedFor, type OptionsCounter } from "../../support/counter.ts";

eachStore("A rest that another invoice asks for too", (store) => {
  let counter: OptionsCounter;
  let merchant: Merchant;
  let address = "";
  before(async () => {
    counter = await openOptionsCounter(store);
  });
  after(() => counter.stop());
  beforeEach(async () => {
    merchant = await counter.merchant();
    address = await counter.wallet(merchant);
  });

  const issue = (amount: string, input: Json = {}) =>
    counter.issue(merchant, { amount, tokenSymbol: "CENT", ...input });
  const read = ({ id }: Json) => counter.get(merchant, `/invoices/${String(id)}`);
  const cents = (amount: unknown) => BigInt(Math.round(Number(amount) * 100));
  const inbox = () => counter.list(merchant, "/transfers?status=unmatched");

  async function pay(units: bigint): Promise<void> {
    await counter.pay(address, units, { token: "CENT" });
    await counter.mine(3);
  }

  /** Credits so much to an invoice that this rest remains. */
  async function leave(invoice: Json, rest: bigint): Promise<void> {
    const units = cents(invoice["payableAmount"]) - rest;
    await pay(units);
    const [transfer] = await inbox();
    const allocations = [{ invoiceId: invoice["id"], amount: transfer?.["amount"] }];
    const path = `/transfers/${String(transfer?.["id"])}/allocate`;
    await expectStatus(counter.post(merchant, path, { allocations }), 200);
    await counter.mine(3);
    expect(await read(invoice)).to.include({
      status: "partially_paid",
      remainingAmount: (Number(rest) / 100).toFixed(2),
    });
  }

  it("waits for the merchant when it is paid, with both invoices to choose from", async () => {
    const first = await issue("40.00");
    const second = await issue("60.00");
    await leave(first, 50n);
    await leave(second, 50n);
    await pay(50n);
    expect(await read(first)).to.include({ status: "partially_paid", remainingAmount: "0.50" });
    expect(await read(second)).to.include({ status: "partially_paid", remainingAmount: "0.50" });
    const [transfer] = await inbox();
    expect(transfer).to.include({ amount: "0.50", waitingReason: "ambiguous_amount" });
    const suggested = suggestedFor(transfer ?? null).map(({ invoiceId }) => invoiceId);
    expect(suggested).to.have.members([first["id"], second["id"]]);
  });

  it("is credited without a decision if no other invoice asks for it", async () => {
    const only = await issue("40.00");
    await leave(only, 50n);
    await pay(50n);
    expect(await read(only)).to.include({ status: "paid", exception: "none" });
  });

  it("waits although no other invoice asks for it if a payer entered the price", async () => {
    const entered = await issue("40.00", { payerEnteredAmount: true });
    await leave(entered, 50n);
    await pay(50n);
    const asking = { status: "partially_paid", remainingAmount: "0.50" };
    expect(await read(entered)).to.include(asking);
    const [transfer] = await inbox();
    expect(transfer).to.include({ amount: "0.50", status: "unmatched" });
    expect(suggestedFor(transfer ?? null)[0]).to.include({ invoiceId: entered["id"] });
    const stated = await issue("0.50");
    expect(stated).to.include({ payableAmount: "0.50" });
    await pay(50n);
    expect(await read(stated)).to.include({ status: "open" });
    expect(await read(entered)).to.include(asking);
    expect((await inbox())[0]).to.include({ waitingReason: "ambiguous_amount" });
  });

  describe("waits too if it is within the tolerance of another invoice, and nobody holds it", () => {
    async function expectBoth(rest: Json, wide: Json): Promise<void> {
      expect(await read(wide)).to.include({ status: "open", paidAmount: "0.00" });
      expect(await read(rest)).to.include({ status: "partially_paid" });
      const [transfer] = await inbox();
      expect(transfer).to.include({ status: "unmatched", waitingReason: null });
      const suggested = suggestedFor(transfer ?? null).map(({ invoiceId }) => invoiceId);
      expect(suggested).to.have.ordered.members([rest["id"], wide["id"]]);
    }

    it("because every amount near it is taken", async () => {
      const wide = await issue("1.51", { underpaymentTolerance: "2" });
      const first = await issue("40.00");
      await leave(first, 150n);
      await pay(150n);
      await expectBoth(first, wide);
    });

    it("because a payer entered the price", async () => {
      const wide = await issue("0.51", { underpaymentTolerance: "2" });
      const entered = await issue("40.00", { payerEnteredAmount: true });
      await leave(entered, 50n);
      await pay(50n);
      await expectBoth(entered, wide);
    });
  });

  it("waits too if a new invoice holds the amount once the first one has left it", async () => {
    const set = { key: merchant.key, body: { lateWindowDays: 1 } };
    const policy = `/v1/organizations/${merchant.organizationId}/payment-policy`;
    await expectStatus(counter.app.request("PATCH", policy, set), 200);
    const first = await issue("40.00", { expiresInSeconds: 300 });
    const second = await issue("60.00", { expiresInSeconds: 864_000 });
    await leave(first, 50n);
    await leave(second, 50n);
    counter.app.clock.advance(2 * day);
    await counter.mine(3);
    await counter.sweep();
    const third = await issue("0.50");
    expect(third).to.include({ payableAmount: "0.50" });
    await pay(50n);
    expect(await read(third)).to.include({ status: "open" });
    expect(await read(second)).to.include({ status: "partially_paid" });
    const [transfer] = await inbox();
    expect(transfer).to.include({ amount: "0.50", waitingReason: "ambiguous_amount" });
  });
});
