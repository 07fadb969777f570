import { expect } from "chai";
import { invoicesToLock } from "../../../../src/features/payments/decisions/ruling.ts";
import type { Id } from "../../../../src/kernel/id.ts";

describe("The invoices that a decision about a payment locks", () => {
  it("are those of its transfer's payments and one more, each once and in the same order for everybody", () => {
    const claiming = (...ids: readonly Id<"invoice">[]) => ids.map((invoiceId) => ({ invoiceId }));
    const payments = claiming("inv_2", "inv_1", "inv_2");
    expect(invoicesToLock(payments)).to.deep.equal(["inv_1", "inv_2"]);
    expect(invoicesToLock(payments, "inv_0")).to.deep.equal(["inv_0", "inv_1", "inv_2"]);
    expect(invoicesToLock(payments, "inv_1")).to.deep.equal(["inv_1", "inv_2"]);
    expect(invoicesToLock(claiming("inv_1"), "inv_3")).to.deep.equal(["inv_1", "inv_3"]);
  });
});
