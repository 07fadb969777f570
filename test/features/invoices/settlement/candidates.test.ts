import { expect } from "chai";
import { invoiceCandidates } from "../../../../src/features/invoices/settlement/candidates.ts";
import { invoicesById, type InvoiceRow } from "../../../../src/features/invoices/store.ts";
import { holds, invoices } from "../../../../src/features/invoices/table.ts";
import { openLedger } from "../../../support/ledger.ts";
import { unmarked } from "../../../support/amounts.ts";
import { anyStore, testContext, whileBroken } from "../../../support/store/stores.ts";

anyStore("The invoices that a transfer may be for", (store) => {
  it("have the newest block of a network when they were issued, unless it was never read", async () => {
    const ledger = await openLedger(await store.open(), "ethereum");
    await ledger.scan("ethereum", 500);
    await ledger.addWallet("ethereum", { address: `0x${"7".repeat(40)}` });
    const { id } = await ledger.create({ network: "ethereum" });
    const marks = async () => {
      const found = await invoiceCandidates(ledger.db, ledger.organizationId, []);
      return found.map(({ invoice, marks: own }) => [invoice.id, own]);
    };
    expect(await marks()).to.deep.equal([
      [id, [{ network: "ethereum", height: 500, isRecent: true }]],
    ]);
    await ledger.db.write(testContext, (tx) =>
      tx.update(holds, unmarked, "WHERE invoice_id = $1", [id]),
    );
    expect(await marks()).to.deep.equal([[id, []]]);
  });

  it("are the newest ones however many combinations of network, token, currency and wallet they have", async () => {
    const ledger = await openLedger(await store.open(), "ethereum");
    await ledger.scan("ethereum", 500);
    await ledger.addWallet("ethereum", { address: `0x${"7".repeat(40)}` });
    const { id } = await ledger.create({ network: "ethereum" });
    const [invoice] = await invoicesById(ledger.db, [id]);
    const copies = Array.from({ length: 1_001 }, (_, place): InvoiceRow => ({
      ...(invoice ?? expect.fail("no invoice")),
      id: `${id}_${String(place).padStart(4, "0")}`,
      publicId: `in_${String(place)}`,
      checkoutId: `pay_${String(place)}`,
      settlementCurrency: `C${String(place)}`,
    }));
    const found = await whileBroken(
      ledger.db,
      (tx) => tx.insertMany(invoices, copies),
      (reader) => invoiceCandidates(reader, ledger.organizationId, []),
    );
    const newest = copies.slice(-100).map((copy) => copy.id);
    expect(found.map((one) => one.invoice.id)).to.have.members(newest);
  });
});
