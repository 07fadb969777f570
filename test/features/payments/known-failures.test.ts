// Failures that payers and merchants of other systems reported, played to the watcher on a scripted chain.
import { expect } from "chai";
import type { InvoiceView } from "../../../src/features/invoices/records.ts";
import { holds } from "../../../src/features/invoices/table.ts";
import { transfers } from "../../../src/features/payments/table.ts";
import { listTransfers } from "../../../src/features/payments/inbox/transfers.ts";
import { day, hour } from "../../../src/kernel/clock.ts";
import { UniqueViolation } from "../../../src/platform/database/errors.ts";
import { usdt } from "../../support/amounts.ts";
import { xpubs } from "../../support/merchants.ts";
import { openLedger, type Ledger } from "../../support/ledger.ts";
import {
  blockMs,
  transferTo,
  watch,
  watchScripted,
  type WatchedLedger,
} from "../../support/watched-ledger.ts";
import { eachStore, takeTurns, testContext } from "../../support/store/stores.ts";
import { addressOf, type FakeChain } from "../../support/chain/fake-chain.ts";

const address = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

eachStore("Known failures of other systems:", (store) => {
  const it = takeTurns(store);
  let shop: Ledger;
  let chain: FakeChain;
  let market: WatchedLedger;
  beforeEach(async () => {
    shop = await openLedger(await store.open(), "ethereum");
    ({ chain, market } = await watchScripted(shop));
  });

  const sent = (invoice: InvoiceView, amount: string, transaction = `of ${invoice.id}`) =>
    transferTo(shop, invoice, usdt(amount), transaction);
  async function mine(...logs: Parameters<FakeChain["mine"]>[0] & object): Promise<void> {
    chain.mine(logs);
    shop.advance(blockMs);
    await market.look();
  }
  const confirm = async () => {
    chain.mine([], 12);
    await market.look();
  };
  const inbox = async () =>
    (await listTransfers(shop.app, shop.organizationId, { status: "unmatched" })).data;
  const asked = async (invoice: InvoiceView) => (await market.read(invoice)).payableAmount ?? "";

  it("two invoices with the same price are each paid by their own amount", async () => {
    await shop.addWallet("ethereum", { address });
    const [one, two] = [await shop.create(), await shop.create()];
    await mine(sent(two, await asked(two)));
    await confirm();
    expect(await market.read(one)).to.include({ status: "open" });
    expect(await market.read(two)).to.include({ status: "paid", exception: "none" });
  });

  it.onBoth("two invoices never hold the same amount at the same address", async () => {
    await shop.addWallet("ethereum", { address });
    const [one, two] = [await shop.create(), await shop.create()];
    expect(await asked(one)).to.not.equal(await asked(two));
    const [hold] = await shop.db.find(holds, "WHERE invoice_id = $1", [one.id]);
    if (hold === undefined) throw new Error("nothing is held");
    const copied = shop.db.write(testContext, (tx) =>
      tx.insert(holds, { ...hold, id: shop.ids.next("hold", shop.now()), invoiceId: two.id }),
    );
    expect(await failure(copied)).to.be.instanceOf(UniqueViolation);
  });

  it("payments during downtime, also after the deadline, are found afterwards", async () => {
    await shop.addWallet("ethereum", { address });
    const [early, late] = [await shop.create(), await shop.create({ amount: "30.00" })];
    chain.mine([sent(early, "25.00")], 400);
    chain.mine([sent(late, "30.00")], 400);
    shop.advance(801 * blockMs);
    market = watch(shop, "ethereum", [chain.client]);
    await market.look();
    expect(await market.read(early)).to.include({ status: "paid", exception: "none" });
    expect(await market.read(late)).to.include({ status: "paid", exception: "late" });
  });

  it("payments for 150 open invoices on one address in one block reach their invoices", async () => {
    await shop.addWallet("ethereum", { address });
    const invoices: InvoiceView[] = [];
    for (let count = 0; count < 150; count += 1) invoices.push(await shop.create());
    const paid = invoices.filter((_invoice, place) => place % 2 === 0);
    const logs = await Promise.all(paid.map(async (one) => sent(one, await asked(one))));
    await mine(...logs);
    await confirm();
    for (const [place, invoice] of invoices.entries()) {
      const { status } = await market.read(invoice);
      expect(status, String(place)).to.equal(place % 2 === 0 ? "paid" : "open");
    }
    expect(await inbox()).to.deep.equal([]);
  });

  it("a late payment never pays a later invoice with the same price", async () => {
    await shop.addWallet("ethereum", { address });
    const late = await shop.create({ expiresInSeconds: 300 });
    const amount = await asked(late);
    shop.advance(6 * day);
    chain.mine([], (6 * day) / blockMs / 100);
    await market.look();
    const next = await shop.create();
    expect(await asked(next)).to.not.equal(amount);
    await mine(sent(late, amount));
    await confirm();
    expect(await market.read(late)).to.include({ paidTokenAmount: "25.00" });
    expect(await market.read(next)).to.include({ status: "open", paidAmount: "0.00" });
  });

  it("a payment reduced by an exchange's fee is left for the merchant to allocate", async () => {
    await shop.addWallet("ethereum", { address });
    const [strict, tolerant] = [
      await shop.create({ amount: "25.00" }),
      await shop.create({ amount: "90.00", underpaymentTolerance: "2" }),
    ];
    await mine(sent(strict, "24.00"), sent(tolerant, "89.00"));
    await confirm();
    expect(await market.read(strict)).to.include({ status: "open" });
    expect(await market.read(tolerant)).to.include({ status: "paid", exception: "underpaid" });
    const [found] = await inbox();
    expect(found?.transfer).to.include({ amount: usdt("24.00") });
    const [best] = found?.suggestions ?? [];
    expect(best?.invoice.id).to.equal(strict.id);
    expect(best?.reasons).to.deep.equal(["close_amount", "in_time"]);
  });

  it("two partial payments in one transaction both count", async () => {
    await shop.addWallet("ethereum", { xpub: xpubs.first });
    const invoice = await shop.create();
    await mine(sent(invoice, "10.00", "both"), sent(invoice, "15.00", "both"));
    await confirm();
    expect(await market.read(invoice)).to.include({ status: "paid", paidTokenAmount: "25.00" });
    expect((await market.payments()).data).to.have.length(2);
  });

  it("one transaction pays two invoices", async () => {
    await shop.addWallet("ethereum", { address });
    const [one, two] = [
      await shop.create({ amount: "25.00" }),
      await shop.create({ amount: "30.00" }),
    ];
    await mine(sent(one, "25.00", "both"), sent(two, "30.00", "both"));
    await confirm();
    for (const invoice of [one, two]) {
      expect(await market.read(invoice)).to.include({ status: "paid", exception: "none" });
    }
  });

  it("a fake token with the same symbol pays nothing", async () => {
    await shop.addWallet("ethereum", { address });
    const invoice = await shop.create();
    await mine({ ...sent(invoice, "25.00"), contract: addressOf("fake USDT") });
    expect(await market.read(invoice)).to.include({ status: "open" });
    expect(await shop.db.find(transfers, "")).to.deep.equal([]);
  });

  it("zero-amount transfers, sent for address poisoning, are not recorded", async () => {
    await shop.addWallet("ethereum", { address });
    const invoice = await shop.create();
    await mine({ ...sent(invoice, "25.00"), amount: 0n });
    expect(await market.read(invoice)).to.include({ status: "open" });
    expect(await shop.db.find(transfers, "")).to.deep.equal([]);
  });

  it("a reorganization reverts the payment of a paid invoice, which can be paid again", async () => {
    await shop.addWallet("ethereum", { address });
    const invoice = await shop.create();
    await mine(sent(invoice, "25.00"));
    await confirm();
    expect(await market.read(invoice)).to.include({ status: "paid" });
    chain.rollback(13);
    chain.mine([], 14);
    await market.look();
    expect(await market.read(invoice)).to.include({ exception: "reverted", paidAmount: "0.00" });
    await mine(sent(invoice, "25.00"));
    await confirm();
    expect(await market.read(invoice)).to.include({ status: "paid", exception: "none" });
    expect((await market.payments()).data).to.have.length(1);
  });

  it("a node that returns empty logs for a while causes no lost payment", async () => {
    await shop.addWallet("ethereum", { address });
    const invoice = await shop.create();
    chain.faults.hidesLogs = true;
    await mine(sent(invoice, "25.00"));
    expect(await market.read(invoice)).to.include({ status: "open" });
    chain.faults.hidesLogs = false;
    shop.advance(hour / 60);
    await confirm();
    expect(await market.read(invoice)).to.include({ status: "paid" });
  });
});
