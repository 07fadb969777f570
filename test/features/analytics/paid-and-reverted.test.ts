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
import { hour, second } from "../../../src/kernel/clock.ts";
import { parseAddress } from "../../../src/platform/chain/evm/addresses.ts";
import { xpubs } from "../../support/merchants.ts";
import { openShop, type Shop } from "../../support/invoice-services-fixture.ts";
import { eachStore, testContext } from "../../support/store/stores.ts";
import { openMarket, type Market } from "../payments/ledger/paid-invoice-fixture.ts";
import { makeFakeChain, type FakeChain } from "../../support/chain/fake-chain.ts";

const blockMs = 12 * second;
const required = 12;

eachStore("Figures of a shop", (store) => {
  let shop: Shop;
  let chain: FakeChain;
  let market: Market;
  beforeEach(async () => {
    shop = await openShop(await store.open(), "ethereum");
    const startAt = shop.now() - 200 * blockMs;
    chain = makeFakeChain({ startAt, blockMs, finalityLag: 60, chainId: 1 });
    chain.mine([], 199);
    market = openMarket(shop, "ethereum", chain.client);
    await market.look();
    await shop.addWallet("ethereum", { xpub: xpubs.first });
  });

  const issue = (input: Parameters<Shop["create"]>[0] = {}) =>
    shop.create({ network: "ethereum", ...input });
  function pay(invoice: InvoiceView, whole: number): void {
    const to = parseAddress(invoice.walletAddress ?? "");
    const usdt = shop.networks.get("ethereum")?.tokens.find(({ symbol }) => symbol === "USDT");
    if (!to.ok || usdt === undefined) throw new Error("there is nowhere to pay to");
    const amount = BigInt(whole) * 1_000_000n;
    chain.mine([{ transaction: invoice.id, contract: usdt.contract, to: to.address, amount }]);
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
    const draft = await issue({ draft: true, amount: "10.00" });
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
    const invoice = await issue();
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
    const [partly] = [await issue({ amount: "30.00" }), await issue({ amount: "7.00" })];
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
