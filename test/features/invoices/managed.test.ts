import { expect } from "chai";
import { lockTerms } from "../../../src/features/invoices/settlement/settlement.ts";
import { cancelInvoice, updateInvoice } from "../../../src/features/invoices/invoices.ts";
import { figureChanges } from "../../../src/features/usage/meter.ts";
import { noPayments, type PaymentTotals } from "../../../src/features/invoices/rules.ts";
import { presentInvoice } from "../../../src/features/invoices/records.ts";
import {
  prepareManagedInvoice,
  receivedBy,
  withdrawInvoice,
} from "../../../src/features/invoices/managed.ts";
import { lockInvoices, type InvoiceRow } from "../../../src/features/invoices/store.ts";
import { holds, invoices } from "../../../src/features/invoices/table.ts";
import { day, hour } from "../../../src/kernel/clock.ts";
import type { Id } from "../../../src/kernel/id.ts";
import { usdt } from "../../support/amounts.ts";
import { openLedger, refusal, type Ledger } from "../../support/ledger.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";

const address = "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8";

eachStore("a managed invoice", (store) => {
  store.leavesUnsound({
    checks: ["payments.ledger"],
    because: "the tests credit payments without transfers",
  });

  let shop: Ledger;
  let walletId: Id<"wallet">;
  beforeEach(async () => {
    shop = await openLedger(await store.open(), "tron", "ethereum");
    await shop.scan("tron");
    walletId = (await shop.addWallet("tron", { address })).id;
  });

  const issue = (more: { amount?: string; walletId?: Id<"wallet"> } = {}) =>
    shop.db.write(testContext, async (tx) => {
      const issueIt = await prepareManagedInvoice(tx, shop.app, shop.now(), shop.organizationId, {
        amount: "49.00",
        settlementCurrency: "USD",
        tokenSymbol: "USDT",
        network: "tron",
        metadata: { platformInvoice: "TILL-000001" },
        walletId,
        expiresAt: shop.now() + 60 * day,
        ...more,
      });
      return issueIt("TILL-000001");
    });
  const row = async (id: Id<"invoice">): Promise<InvoiceRow> => {
    const found = await shop.db.findOne(invoices, "WHERE id = $1", [id]);
    if (found === null) throw new Error(`${id} is not there`);
    return found;
  };
  const settle = async (id: Id<"invoice">, some: Partial<PaymentTotals>, tipHeight = 1_000) => {
    const state = await shop.scan("tron", tipHeight);
    await shop.settle("tron", new Map([[id, { ...noPayments, ...some }]]), state);
  };
  const withdraw = (id: Id<"invoice">) =>
    shop.db.write(testContext, async (tx) => {
      const [locked] = await lockInvoices(tx, [id]);
      if (locked === undefined) throw new Error(`${id} is not there`);
      return withdrawInvoice(tx, shop.app, shop.now(), locked);
    });

  it("is issued without the gates, with a hold, and may stay open longer than a merchant's", async () => {
    shop.setGate(() => Promise.reject(new Error("the gate was asked")));
    const issued = await issue();
    expect(presentInvoice(issued)).to.include({
      status: "open",
      amount: "49.00",
      payableAmount: "49.00",
      walletAddress: address,
    });
    expect(issued).to.include({ managedBy: "billing", expiresAt: shop.now() + 60 * day });
    const [hold] = await shop.db.find(holds, "WHERE invoice_id = $1", [issued.id]);
    expect(hold).to.include({ amount: usdt(49), endsAt: shop.now() + 67 * day });
  });

  it("is left out of all figures", async () => {
    await issue();
    await shop.create();
    const measured = await shop.db.find(figureChanges, "");
    expect(measured.map(({ measure, amount }) => [measure, amount])).to.have.lengthOf(1);
  });

  it("is rejected if no amount is free, and leaves nothing behind", async () => {
    const foreign = await shop.addOrganization();
    const problem = await refusal(
      shop.db.write(testContext, (tx) =>
        prepareManagedInvoice(tx, shop.app, shop.now(), foreign, {
          amount: "49.00",
          settlementCurrency: "USD",
          tokenSymbol: "USDT",
          network: "tron",
          metadata: {},
          walletId,
          expiresAt: shop.now() + day,
        }),
      ),
    );
    expect(problem.status).to.equal(404);
    expect(await shop.db.find(invoices, "")).to.have.lengthOf(0);
    expect(await shop.db.find(holds, "")).to.have.lengthOf(0);
  });

  it("cannot be changed or canceled by its organization", async () => {
    const issued = await issue();
    const context = testContext;
    const canceling = await refusal(
      cancelInvoice(shop.app, context, shop.organizationId, issued.id),
    );
    expect(canceling).to.include({ status: 409, code: "managed_by_billing" });
    const editing = await refusal(
      updateInvoice(shop.app, context, shop.organizationId, issued.id, {}, () => undefined),
    );
    expect(editing).to.include({ status: 409, code: "managed_by_billing" });
    expect(await row(issued.id)).to.include({ status: "open", version: 1 });
  });

  it("reports each change of its status to its manager, in the same transaction", async () => {
    const issued = await issue();
    const plain = await shop.create();
    await settle(issued.id, { seen: usdt(49), latestBlock: 999 });
    await settle(plain.id, { seen: usdt(25), latestBlock: 999 });
    expect(shop.settledManaged.flat().map(({ id, status }) => [id, status])).to.deep.equal([
      [issued.id, "confirming"],
    ]);
    await settle(issued.id, {
      seen: usdt(49),
      confirmed: usdt(49),
      latestBlock: 999,
      completedAt: shop.now(),
    });
    expect(receivedBy(await row(issued.id))).to.deep.equal({ seen: 4_900n, confirmed: 4_900n });
    expect(shop.settledManaged.flat()).to.have.lengthOf(2);
  });

  it("that is withdrawn needs no payment, keeps its hold for the late window, and still accepts payments", async () => {
    const issued = await issue();
    shop.advance(hour);
    expect(await withdraw(issued.id)).to.equal(true);
    expect(await withdraw(issued.id)).to.equal(false);
    expect(await row(issued.id)).to.include({
      status: "canceled",
      remainingAmount: 0n,
      version: 2,
      canceledAt: shop.now(),
      isLate: false,
    });
    const [hold] = await shop.db.find(holds, "WHERE invoice_id = $1", [issued.id]);
    expect(hold).to.include({ endsAt: shop.now() + 7 * day, releasedAt: null });
    const terms = await shop.db.write(testContext, (tx) => lockTerms(tx, [issued.id]));
    expect(terms.get(issued.id)).to.include({ managedBy: "billing", isCanceled: true });
    await settle(issued.id, {
      seen: usdt(49),
      confirmed: usdt(49),
      latestBlock: 999,
      isLate: true,
      completedAt: shop.now(),
    });
    expect(await row(issued.id)).to.include({ status: "paid", exception: "late" });
  });

  it("that is withdrawn counts the part that was paid before as late", async () => {
    const issued = await issue();
    const part = { seen: usdt(20), confirmed: usdt(20), latestBlock: 999 };
    await settle(issued.id, part);
    expect(await withdraw(issued.id)).to.equal(true);
    const withdrawn = await row(issued.id);
    expect(withdrawn).to.include({ isLate: true, canceledAt: shop.now(), remainingAmount: 0n });
    // Nothing changes with the totals of the same payment, which count as late since.
    await settle(issued.id, { ...part, isLate: true });
    expect(await row(issued.id)).to.deep.equal(withdrawn);
  });

  it("that is paid cannot be withdrawn", async () => {
    const issued = await issue();
    await settle(issued.id, { seen: usdt(49), confirmed: usdt(49), completedAt: shop.now() });
    expect(await withdraw(issued.id)).to.equal(false);
    expect(await row(issued.id)).to.include({ status: "paid", canceledAt: null });
  });
});
