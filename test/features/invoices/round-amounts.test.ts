// Which invoices get the bare price, and which get the price with a surcharge.
import { expect } from "chai";
import { cancelInvoice, getInvoice } from "../../../src/features/invoices/invoices.ts";
import { noPayments } from "../../../src/features/invoices/rules.ts";
import { type InvoiceView, presentInvoice } from "../../../src/features/invoices/records.ts";
import { day } from "../../../src/kernel/clock.ts";
import type { Database } from "../../../src/platform/database/database.ts";
import { openLedger, type Ledger } from "../../support/ledger.ts";
import { expectDigits, usdt } from "../../support/amounts.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";

const addresses = [
  "TJRabPrwbZy45sbavfcjinPJC18kjpRTv8",
  "TNPeeaaFB7K9cmo4uQpcU32zGK8G1NYqeL",
] as const;

eachStore("The bare price", (store) => {
  const it = takeTurns(store);
  store.leavesUnsound({
    checks: ["payments.ledger", "invoices.held"],
    because: "the tests credit payments without transfers, and end holds directly in the store",
  });

  let shop: Ledger;
  let first: Awaited<ReturnType<Ledger["addWallet"]>>;
  beforeEach(async () => {
    shop = await openLedger(await store.open(), "tron");
    await shop.scan("tron");
    first = await shop.addWallet("tron", { address: addresses[0] });
  });

  /** Prices may have up to six decimals if they are in the token. */
  const priced = async (amount = "25.00") =>
    (await shop.create({ amount, settlementCurrency: "USDT" })).payableAmount;
  async function settle(invoice: InvoiceView, seen: bigint): Promise<void> {
    const state = await shop.scan("tron");
    const totals = { ...noPayments, seen, confirmed: seen, completedAt: shop.now() };
    await shop.settle("tron", new Map([[invoice.id, totals]]), state);
  }
  /** Releases the holds that have ended. */
  async function sweep(): Promise<void> {
    const state = await shop.scan("tron", 2_000, shop.now());
    while ((await shop.sweep(state)) > 0);
  }

  it("is given to the first invoice of its band, whatever is held elsewhere", async () => {
    await shop.create({ amount: "23.80", walletId: first.id });
    await shop.create({ amount: "26.26", walletId: first.id });
    const second = await shop.addWallet("tron", { address: addresses[1] });
    await shop.create({ amount: "25.00", walletId: second.id });
    const { payableAmount } = await shop.create({ amount: "25.00", walletId: first.id });
    expect(payableAmount).to.equal(usdt(25));
  });

  it("is not given while a surcharged invoice of the band is live, although it is free", async () => {
    const { id } = await shop.create();
    const second = expectDigits(await priced(), usdt(25));
    await shop.db.write(testContext, (tx) =>
      tx.run("UPDATE holds SET released_at = $2 WHERE invoice_id = $1", [id, shop.now()]),
    );
    expect(expectDigits(await priced(), usdt(25))).not.to.equal(second);
  });

  it("is not given while the hold of a paid, expired or canceled invoice of the band is live", async () => {
    const paid = await shop.create();
    await settle(paid, usdt(25));
    expectDigits(await priced(), usdt(25));
    const canceled = await shop.create({ amount: "70.00" });
    await cancelInvoice(shop.app, testContext, shop.organizationId, canceled.id);
    expectDigits(await priced("70.00"), usdt(70));
    shop.advance(9 * day);
    await sweep();
    expect(await priced()).to.equal(usdt(25));
    expect(await priced("70.00")).to.equal(usdt(70));
  });

  it("is not given if the band of another price covers it, from above or below", async () => {
    expect(await priced("25.003412")).to.equal(usdt(25.003412));
    expectDigits(await priced("25.00"), usdt(25));
    expectDigits(await priced("25.01"), usdt(25.01));
    // A payer who rounds 39.996 up sends 40.00.
    expect(await priced("39.996")).to.equal(usdt(39.996));
    expectDigits(await priced("40.00"), usdt(40));
  });

  it("is not prevented by the invoice's own holds after a partial payment", async () => {
    const invoice = await shop.create();
    await settle(invoice, usdt(0.1));
    const read = async () =>
      presentInvoice(await getInvoice(shop.app, shop.organizationId, invoice.id)).remainingAmount;
    expect(await read()).to.equal("24.90");
    expect(await priced("12.00")).to.equal(usdt(12));
    await settle(invoice, usdt(13));
    expectDigits(await read(), "12.00");
  });

  it.onBoth(
    "is given once if 64 invoices are issued at the same time, and never beside a live one",
    async () => {
      const issue = (amount: string) =>
        Promise.all(Array.from({ length: 64 }, () => priced(amount)));
      const fresh = await issue("25.00");
      expect(new Set(fresh).size).to.equal(64);
      expect(fresh.filter((amount) => amount === usdt(25))).to.have.length(1);
      await priced("80.00");
      const later = await issue("80.00");
      expect(new Set(later).size).to.equal(64);
      expect(later).not.to.include(usdt(80));
    },
  );

  it.onBoth("is given once if 64 prices of one band are issued at the same time", async () => {
    const { db } = shop;
    // Keeps each transaction open for a moment before it commits, so that none sees the holds of the others.
    const slow: Database = {
      ...db,
      write: (context, fn) =>
        db.write(context, async (tx) => {
          const result = await fn(tx);
          if (tx.dialect === "postgres") await tx.all("SELECT pg_sleep(0.02) AS slept");
          return result;
        }),
    };
    const busy = await openLedger(slow, "tron");
    await busy.addWallet("tron", { address: addresses[1] });
    // The band is 0.89 wide on both sides. Prices from 89.50 to 90.13 touch two regions.
    const prices = Array.from({ length: 64 }, (_, cent) => (89.5 + cent / 100).toFixed(2));
    const issued = await Promise.all(prices.map((amount) => busy.create({ amount })));
    const asked = issued.map(({ payableAmount }) => payableAmount);
    expect(new Set(asked).size).to.equal(64);
    const bare = prices.filter((price, place) => asked[place] === usdt(price));
    expect(bare).to.have.length(1);
  });
});
