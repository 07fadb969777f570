// Payments together with their invoices, wallets and holds; only the chain is scripted.
import { expect } from "chai";
import { cancelInvoice } from "../../../../src/features/invoices/invoices.ts";
import { type InvoiceView, presentInvoice } from "../../../../src/features/invoices/records.ts";
import { minute } from "../../../../src/kernel/clock.ts";
import { usdt } from "../../../support/amounts.ts";
import { xpubs } from "../../../support/merchants.ts";
import { openLedger, type Ledger } from "../../../support/ledger.ts";
import {
  blockMs,
  transferTo,
  watchScripted,
  type WatchedLedger,
} from "../../../support/watched-ledger.ts";
import { expectSound } from "../../../support/store/expect-store-is-consistent.ts";
import { eachStore, takeTurns, testContext } from "../../../support/store/stores.ts";
import type { FakeChain } from "../../../support/chain/fake-chain.ts";

const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

eachStore("Invoices that are paid", (store) => {
  const it = takeTurns(store);
  let shop: Ledger;
  let chain: FakeChain;
  let market: WatchedLedger;
  beforeEach(async () => {
    shop = await openLedger(await store.open(), "ethereum");
    ({ chain, market } = await watchScripted(shop));
  });
  afterEach(() => expectSound(shop.db));

  /** Mines a block with a payment to an invoice's address. */
  function pay(invoice: InvoiceView, amount: string, transaction = "payment"): void {
    chain.mine([transferTo(shop, invoice, usdt(amount), transaction)]);
    shop.advance(blockMs);
  }
  const addWallet = () => shop.addWallet("ethereum", { address });
  const addKey = () => shop.addWallet("ethereum", { xpub: xpubs.first });

  it("go from open through confirming to paid, and emit one event per step", async () => {
    await addWallet();
    const invoice = await shop.create();
    pay(invoice, "25");
    await market.look();
    expect(await market.read(invoice)).to.deep.include({
      status: "confirming",
      paidAmount: "25.00",
      paidTokenAmount: "25.00",
      confirmationProgress: { current: 1, required: 12 },
    });
    chain.mine([], 11);
    await market.look();
    expect(await market.read(invoice)).to.include({ status: "paid", exception: "none" });
    expect(await market.events()).to.deep.equal([
      "invoice.created",
      "payment.detected",
      "invoice.confirming",
      "payment.confirmed",
      "invoice.paid",
    ]);
    const { data } = await market.payments();
    const [payment] = data;
    expect(payment).to.include({
      invoiceId: invoice.id,
      network: "ethereum",
      tokenSymbol: "USDT",
      toAddress: address,
      amount: "25.00",
      settlementAmount: "25.00",
      settlementCurrency: "USD",
      blockNumber: 200,
      confirmations: 12,
      requiredConfirmations: 12,
      status: "confirmed",
      source: "detected",
    });
    expect(payment?.transactionHash).to.match(/^0x[0-9a-f]{64}$/);
    expect(payment?.confirmedAt).to.match(/Z$/);
  });

  it("are identified by their amounts on a shared address", async () => {
    await addWallet();
    const one = await shop.create();
    const other = await shop.create();
    expect(other.payableAmount).not.to.equal(one.payableAmount);
    pay(other, presentInvoice(other).payableAmount ?? "");
    pay(one, "24.5", "wrong amount");
    chain.mine([], 11);
    await market.look();
    expect(await market.read(one)).to.include({ status: "open" });
    expect(await market.read(other)).to.include({
      status: "paid",
      exception: "none",
      paidAmount: "25.00",
    });
  });

  it("accept partial payments and the rest on an exclusive address", async () => {
    await addKey();
    const invoice = await shop.create();
    pay(invoice, "10");
    await market.look();
    expect(await market.read(invoice)).to.include({
      status: "partially_paid",
      remainingAmount: "15.00",
    });
    pay(invoice, "20", "rest");
    chain.mine([], 11);
    await market.look();
    expect(await market.read(invoice)).to.include({
      status: "paid",
      exception: "overpaid",
      paidAmount: "30.00",
    });
  });

  it("lose a payment that a reorganization removes, even when paid, and get it back", async () => {
    await addWallet();
    const invoice = await shop.create();
    pay(invoice, "25");
    chain.mine([], 11);
    await market.look();
    chain.rollback(12);
    chain.mine([], 13);
    await market.look();
    expect(await market.read(invoice)).to.include({ status: "open", exception: "reverted" });
    expect((await market.payments({ status: ["reverted"] })).data[0]).to.include({
      confirmations: 0,
      confirmedAt: null,
    });
    pay(invoice, "25");
    chain.mine([], 11);
    await market.look();
    expect(await market.read(invoice)).to.include({ status: "paid", exception: "none" });
    expect((await market.payments()).data).to.have.length(1);
    const reported = await market.events();
    expect(reported.slice(-8)).to.deep.equal([
      "payment.confirmed",
      "invoice.paid",
      "payment.reverted",
      "invoice.reverted",
      "payment.detected",
      "invoice.confirming",
      "payment.confirmed",
      "invoice.paid",
    ]);
  });

  it("expire by the chain's time, and count late payments", async () => {
    await addWallet();
    const invoice = await shop.create({ expiresInSeconds: 300 });
    shop.advance(10 * minute);
    await market.look();
    // No block has reached that time yet.
    expect(await market.read(invoice)).to.include({ status: "open" });
    chain.mine([], 30);
    await market.look();
    expect(await market.read(invoice)).to.include({ status: "expired" });
    pay(invoice, "25");
    chain.mine([], 11);
    await market.look();
    expect(await market.read(invoice)).to.include({ status: "paid", exception: "late" });
  });

  it("leave payments to the merchant's review when they were canceled", async () => {
    await addWallet();
    const invoice = await shop.create();
    await cancelInvoice(shop.app, testContext, shop.organizationId, invoice.id);
    pay(invoice, "25");
    chain.mine([], 11);
    await market.look();
    expect(await market.read(invoice)).to.include({ status: "canceled", exception: "late" });
    expect((await market.payments()).data.map(({ status }) => status)).to.deep.equal(["review"]);
  });

  it.onBoth(
    "list their payments in pages, by invoice and status, and hide them from other organizations",
    async () => {
      await addKey();
      const invoices = [];
      for (let made = 0; made < 5; made += 1) {
        const invoice = await shop.create();
        invoices.push(invoice);
        pay(invoice, "25", `payment ${String(made)}`);
      }
      await market.look();
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page = await market.payments({ limit: "2", ...(cursor === null ? {} : { cursor }) });
        seen.push(...page.data.map(({ invoiceId }) => invoiceId));
        cursor = page.nextCursor;
      } while (cursor !== null);
      expect(seen).to.deep.equal(invoices.map(({ id }) => id).reverse());
      const first = invoices[0]?.id;
      const own = await market.payments({ invoiceId: first });
      expect(own.data.map(({ invoiceId }) => invoiceId)).to.deep.equal([first]);
      expect((await market.payments({ status: ["confirmed"] })).data).to.deep.equal([]);
      expect((await market.payments({ status: ["confirming"] })).data).to.have.length(5);
      const other = await shop.addOrganization();
      expect((await market.payments({}, other)).data).to.deep.equal([]);
      expect((await market.payments({ invoiceId: first }, other)).data).to.deep.equal([]);
    },
  );
});
