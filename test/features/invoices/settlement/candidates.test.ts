import { expect } from "chai";
import { invoiceCandidates } from "../../../../src/features/invoices/settlement/candidates.ts";
import { holds } from "../../../../src/features/invoices/table.ts";
import { openLedger } from "../../../support/ledger.ts";
import { unmarked } from "../../../support/amounts.ts";
import { anyStore, testContext } from "../../../support/store/stores.ts";

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
});
