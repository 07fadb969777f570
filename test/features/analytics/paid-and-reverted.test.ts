// The figures of invoices and payments that pass through the whole program; only the chain is scripted.
import { expect } from "chai";
import { cancelInvoice, updateInvoice } from "../../../src/features/invoices/invoices.ts";
import {
  getMerchantCharts,
  getMerchantSummary,
} from "../../../src/features/analytics/analytics.ts";
import {
  presentMerchantCharts,
  presentMerchantSummary,
} from "../../../src/features/analytics/records.ts";
import type { InvoiceView } from "../../../src/features/invoices/records.ts";
import { rollUpAll } from "../../../src/features/usage/roll-up.ts";
import { hour } from "../../../src/kernel/clock.ts";
import { usdt } from "../../support/amounts.ts";
import { xpubs } from "../../support/merchants.ts";
import { openLedger, type Ledger } from "../../support/ledger.ts";
import {
  blockMs,
  transferTo,
  watchScripted,
  type WatchedLedger,
} from "../../support/watched-ledger.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import type { FakeChain } from "../../support/chain/fake-chain.ts";

const required = 12;

eachStore("Figures of a shop", (store) => {
  let shop: Ledger;
  let chain: FakeChain;
  let market: WatchedLedger;
  beforeEach(async () => {
    shop = await openLedger(await store.open(), "ethereum");
    ({ chain, market } = await watchScripted(shop, "ethereum", { finalityLag: 60 }));
    await shop.addWallet("ethereum", { xpub: xpubs.first });
  });

  function pay(invoice: InvoiceView, whole: number): void {
    chain.mine([transferTo(shop, invoice, usdt(whole), invoice.id)]);
    shop.advance(blockMs);
  }
  async function confirm(): Promise<void> {
    chain.mine([], required);
    shop.advance(required * blockMs);
    await market.look();
  }
  const summary = async () => {
    const told = presentMerchantSummary(
      await getMerchantSummary(shop.app, shop.organizationId, {}),
    );
    const { processedVolume, paymentCount, invoiceCount, paidInvoiceCount } = told;
    const { outstandingAmount } = told;
    return { processedVolume, paymentCount, invoiceCount, paidInvoiceCount, outstandingAmount };
  };
  const statuses = async () => {
    const told = presentMerchantCharts(await getMerchantCharts(shop.app, shop.organizationId, {}));
    return Object.fromEntries(
      told.invoiceStatusBreakdown
        .filter(({ count }) => count !== 0)
        .map(({ status, count, amount }) => [status, `${String(count)} × ${amount}`]),
    );
  };
  const settle = () => rollUpAll(shop.db, testContext);

  it("count an invoice once it is issued, and a draft separately", async () => {
    const draft = await shop.create({ draft: true, amount: "10.00" });
    expect(await statuses()).to.deep.equal({ draft: "1 × 10.00" });
    expect(await summary()).to.include({ invoiceCount: 0, outstandingAmount: "0.00" });
    const update = (changes: Parameters<typeof updateInvoice>[4]) =>
      updateInvoice(shop.app, testContext, shop.organizationId, draft.id, changes, () => undefined);
    await update({ amount: "12.00" });
    await update({ status: "open" });
    expect(await statuses()).to.deep.equal({ open: "1 × 12.00" });
    expect(await summary()).to.include({ invoiceCount: 1, outstandingAmount: "12.00" });
    await settle();
    await cancelInvoice(shop.app, testContext, shop.organizationId, draft.id);
    expect(await statuses()).to.deep.equal({ canceled: "1 × 12.00" });
    expect(await summary()).to.include({ invoiceCount: 1, outstandingAmount: "0.00" });
  });

  it("add confirmed payments, and remove those that a reorganization reverts", async () => {
    const invoice = await shop.create();
    const untouched = await summary();
    expect(untouched).to.deep.equal({
      processedVolume: "0.00",
      paymentCount: 0,
      invoiceCount: 1,
      paidInvoiceCount: 0,
      outstandingAmount: "25.00",
    });
    pay(invoice, 25);
    await market.look();
    expect(await summary()).to.include({ paymentCount: 0, outstandingAmount: "0.00" });
    expect(await statuses()).to.deep.equal({ confirming: "1 × 25.00" });
    await confirm();
    const paid = {
      processedVolume: "25.00",
      paymentCount: 1,
      invoiceCount: 1,
      paidInvoiceCount: 1,
      outstandingAmount: "0.00",
    };
    expect(await summary()).to.deep.equal(paid);
    await settle();
    expect(await summary()).to.deep.equal(paid);

    chain.rollback(required + 1);
    chain.mine([], required + 2);
    await market.look();
    expect(await summary()).to.deep.equal(untouched);
    expect(await statuses()).to.deep.equal({ open: "1 × 25.00" });
    await settle();
    expect(await summary()).to.deep.equal(untouched);

    pay(invoice, 25);
    await confirm();
    expect(await summary()).to.deep.equal(paid);
  });

  it("report the outstanding amount without expired invoices", async () => {
    const [partly] = [
      await shop.create({ amount: "30.00" }),
      await shop.create({ amount: "7.00" }),
    ];
    pay(partly, 10);
    await confirm();
    expect(await summary()).to.deep.equal({
      processedVolume: "10.00",
      paymentCount: 1,
      invoiceCount: 2,
      paidInvoiceCount: 0,
      outstandingAmount: "27.00",
    });
    await settle();
    shop.advance(2 * hour);
    const state = await shop.scan("ethereum", 10_000);
    await shop.sweep(state);
    expect(await statuses()).to.deep.equal({ expired: "2 × 37.00" });
    expect(await summary()).to.include({ outstandingAmount: "0.00", processedVolume: "10.00" });
  });
});
