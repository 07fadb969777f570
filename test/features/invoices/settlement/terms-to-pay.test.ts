import { expect } from "chai";
import {
  payableTerms,
  statusTerms,
  storedTotals,
} from "../../../../src/features/invoices/settlement/terms-to-pay.ts";
import type { InvoiceRow } from "../../../../src/features/invoices/store.ts";
import { Defect } from "../../../../src/kernel/errors.ts";

const hash = "ab".repeat(32);

const row = (changes: Partial<InvoiceRow> = {}): InvoiceRow =>
  ({
    id: "inv_1",
    status: "open",
    payableAmount: 1_000n,
    issuedAt: 1,
    expiresAt: 2,
    remainingAmount: 400n,
    canceledAt: null,
    underpaymentTolerance: "2.5",
    seenAmount: 600n,
    confirmedAmount: 500n,
    isLate: false,
    isReverted: true,
    latestBlock: 7,
    completedAt: 8,
    transactionHashes: [hash],
    ...changes,
  }) as InvoiceRow;

describe("The terms of an invoice's payments", () => {
  it("are known once it is issued", () => {
    expect(payableTerms(row())).to.include({
      payableAmount: 1_000n,
      dueAmount: 975n,
      remainingAmount: 400n,
      isCanceled: false,
      issuedAt: 1,
      expiresAt: 2,
      latePolicy: "accept",
    });
    expect(payableTerms(row({ canceledAt: 3 }))).to.include({ isCanceled: true });
    expect(payableTerms(row({ remainingAmount: null }))).to.include({ remainingAmount: 0n });
    for (const missing of ["payableAmount", "issuedAt", "expiresAt"] as const) {
      expect(payableTerms(row({ [missing]: null })), missing).to.equal(null);
    }
    expect(statusTerms(row({ issuedAt: null, canceledAt: 3 }))).to.deep.equal({
      status: "open",
      issued: null,
      canceledAt: 3,
    });
  });

  it("throw a Defect if a row contains an invalid tolerance or transaction hash", () => {
    expect(() => payableTerms(row({ underpaymentTolerance: "2,5" }))).to.throw(Defect);
    expect(() => storedTotals(row({ transactionHashes: ["junk"] }))).to.throw(Defect);
    expect(storedTotals(row())).to.deep.equal({
      seen: 600n,
      confirmed: 500n,
      isLate: false,
      isReverted: true,
      latestBlock: 7,
      completedAt: 8,
      transactionHashes: [hash],
    });
  });
});
