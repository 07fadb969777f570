// The invoices that the inbox suggests for unmatched transfers, and their order.
import { expect } from "chai";
import { minute } from "../../../../src/kernel/clock.ts";
import { usdt } from "../../../support/amounts.ts";
import { expectStatus, type Json, type Merchant } from "../../../support/app.ts";
import { xpubs } from "../../../support/merchants.ts";
import { eachStore } from "../../../support/store/stores.ts";
import { openCounter, type Counter } from "../../../support/counter.ts";

const sender = "5e".repeat(20);

interface Suggested {
  readonly invoiceId: unknown;
  readonly amount: unknown;
  readonly reasons: unknown;
}

eachStore("The invoices that the inbox suggests", (store) => {
  let counter: Counter;
  let merchant: Merchant;
  let address = "";
  before(async () => {
    counter = await openCounter(store);
    merchant = await counter.merchant();
  });
  after(() => counter.stop());
  beforeEach(async () => {
    address = await counter.wallet(merchant);
  });

  let customers = 0;
  async function customer(): Promise<string> {
    customers += 1;
    const body = { name: `Customer ${String(customers)}`, externalId: `c${String(customers)}` };
    const made = await expectStatus(counter.post(merchant, "/customers", body), 201);
    return String(made.body["id"]);
  }
  const issue = (amount: string, customerId?: string) =>
    counter.issue(merchant, { amount, ...(customerId === undefined ? {} : { customerId }) });
  /** An invoice of a customer that was paid in full by a sender. */
  async function paidBy(from: string, customerId: string, amount: number): Promise<void> {
    await issue(amount.toFixed(2), customerId);
    await counter.pay(address, usdt(amount), { from });
    await counter.mine(4);
  }
  async function suggestedFor(units: bigint, from = sender): Promise<Suggested[]> {
    await counter.pay(address, units, { from });
    await counter.mine();
    const [found] = await counter.list(merchant, "/transfers?status=unmatched");
    return (found?.["suggestions"] as Suggested[] | undefined) ?? [];
  }
  const addressOf = (invoice: Json) =>
    String(invoice["walletAddress"]).replace(/^0x/, "").toLowerCase();
  const ids = (of: readonly Suggested[]) => of.map(({ invoiceId }) => invoiceId);
  const idsOf = (...invoices: readonly Json[]) => invoices.map((one) => one["id"]);

  it("are those with the same amount, then close ones, then partial payments, and no others", async () => {
    const part = await issue("90.00");
    const same = await issue("50.00");
    const close = await issue("51.00");
    const less = await issue("20.00");
    const usdc = await counter.issue(merchant, { amount: "50.00", tokenSymbol: "USDC" });
    // A rule would match the exact amount: it is paid twice, and one transfer is left over.
    await counter.pay(address, usdt(50));
    const found = await suggestedFor(usdt(49.99));
    expect(ids(found)).to.deep.equal(idsOf(close, part));
    expect(ids(found)).not.to.include.members(idsOf(less, usdc));
    expect(found.map(({ reasons }) => reasons)).to.deep.equal([
      ["close_amount", "in_time"],
      ["possible_part", "in_time"],
    ]);
    expect(await counter.get(merchant, `/invoices/${String(same["id"])}`)).to.include({
      paidTokenAmount: "50.00",
    });
  });

  it("begin with those of the customer for whom the sender paid before", async () => {
    const [known, unknown] = [await customer(), await customer()];
    await paidBy(sender, known, 11);
    const [theirs, nearer] = [await issue("80.00", known), await issue("70.00", unknown)];
    const found = await suggestedFor(usdt(33));
    expect(ids(found)).to.deep.equal(idsOf(theirs, nearer));
    expect(found[0]?.reasons).to.deep.equal(["same_customer", "possible_part", "in_time"]);
    expect(found[0]?.amount).to.equal("33.00");
    const ofStranger = await suggestedFor(usdt(34), "6f".repeat(20));
    expect(ids(ofStranger)).to.deep.equal(idsOf(nearer, theirs));
  });

  it("are not ranked by customer if the sender pays for many, as exchanges do", async () => {
    const exchange = "7a".repeat(20);
    const clients = [await customer(), await customer(), await customer()];
    for (const [place, client] of clients.entries()) await paidBy(exchange, client, 12 + place);
    const [theirs, nearer] = [await issue("85.00", clients[0]), await issue("75.00")];
    expect(ids(await suggestedFor(usdt(36), exchange))).to.deep.equal(idsOf(theirs, nearer));
    await paidBy(exchange, await customer(), 15);
    const found = await suggestedFor(usdt(35), exchange);
    expect(ids(found)).to.deep.equal(idsOf(nearer, theirs));
    expect(found.flatMap(({ reasons }) => reasons as string[])).not.to.include("same_customer");
  });

  it("end with those that were issued after the money came, even for exactly its amount", async () => {
    const before = await issue("110.00");
    await counter.pay(address, usdt(104.5));
    await counter.mine();
    counter.app.clock.advance(2 * minute);
    const after = await issue("104.50");
    const [found] = await counter.list(merchant, "/transfers?status=unmatched");
    const { suggestions } = found as { suggestions: readonly Suggested[] };
    expect(ids(suggestions)[0]).to.equal(before["id"]);
    expect(suggestions.at(-1)).to.deep.include({
      invoiceId: after["id"],
      reasons: ["same_amount", "issued_afterwards"],
    });
  });

  it("are not other customers' invoices where an address belongs to one invoice", async () => {
    const shared = await issue("63.01");
    const body = { label: "Own", network: "sandbox", xpub: xpubs.first };
    const wallet = await expectStatus(counter.post(merchant, "/wallets", body), 201);
    const own = (amount: string) =>
      counter.issue(merchant, { amount, walletId: wallet.body["id"] as string });
    const [theirs, alike] = [await own("63.00"), await own("63.00")];
    // Nobody knows whose this is, but it is not the payer's of an invoice with another address.
    const unknown = ids(await suggestedFor(usdt(63), "8b".repeat(20)));
    expect(unknown).to.include(shared["id"]);
    for (const other of idsOf(theirs, alike)) expect(unknown).not.to.include(other);
    // A payment at the address of one invoice stays its payer's after it was reversed.
    await counter.pay(addressOf(theirs), usdt(63));
    await counter.mine(4);
    const [payment] = await counter.list(merchant, `/payments?invoiceId=${String(theirs["id"])}`);
    const path = `/payments/${String(payment?.["id"])}/reverse`;
    await expectStatus(counter.post(merchant, path, { cancel: true }), 200);
    const [left, before] = await counter.list(merchant, "/transfers?status=unmatched");
    expect(left?.["transactionHash"]).to.equal(payment?.["transactionHash"]);
    expect(ids((before?.["suggestions"] ?? []) as Suggested[])).to.deep.equal(unknown);
    const found = (left?.["suggestions"] ?? []) as Suggested[];
    for (const other of idsOf(alike, shared)) expect(ids(found)).not.to.include(other);
  });

  it("never belong to another merchant, whatever the sender", async () => {
    const other = await counter.merchant();
    await counter.wallet(other);
    const foreign = await counter.issue(other, { amount: "42.00" });
    const found = await suggestedFor(usdt(41.5));
    expect(ids(found)).not.to.include(foreign["id"]);
  });
});
