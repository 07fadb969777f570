import { expect } from "chai";
import {
  payableTerms,
  statusTerms,
  storedTotals,
} from "../../../../src/features/invoices/settlement/terms-to-pay.ts";
import {
  inReviewOf,
  owedOf,
  readAside,
  storedAside,
  type Aside,
} from "../../../../src/features/invoices/settlement/owed.ts";
import { storedOptions } from "../../../../src/features/invoices/options/quotes.ts";
import type { InvoiceRow } from "../../../../src/features/invoices/store.ts";
import { Defect } from "../../../../src/kernel/errors.ts";
import { aQuote } from "../../../support/quotes.ts";

const hash = "ab".repeat(32);

const row = (changes: Partial<InvoiceRow> = {}): InvoiceRow =>
  ({
    id: "inv_1",
    status: "open",
    payableAmount: 1_000n,
    dustAmount: null,
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

  it("include all options that have a hold, and the rounding between them", () => {
    const quotes = [
      aQuote({ payableAmount: 1_000n }),
      aQuote({ payableAmount: 300n, network: "bsc" }),
    ];
    const options = quotes.map(({ network, tokenSymbol }) => ({
      network,
      tokenSymbol,
      walletId: null,
      quote: null,
    }));
    const issued = row({
      network: "ethereum",
      tokenSymbol: "USDT",
      walletAddress: "0x0",
      exchangeRate: "1",
      amount: 100n,
      paymentOptions: storedOptions(row({ paymentOptions: options }), quotes),
    });
    // A unit of the other token is worth up to 4 units, and one unit is lost.
    expect(payableTerms(issued)).to.include({ excessSlack: 5n, askedAmount: 1_000n });
    expect(payableTerms({ ...issued, askedAmount: 1_100n })).to.include({ askedAmount: 1_100n });
    expect(payableTerms({ ...issued, dustAmount: 10n })).to.include({ excessSlack: 14n });
    expect(storedTotals(issued).several?.quotes.map(({ network }) => network)).to.deep.equal([
      ...["ethereum", "bsc"],
    ]);
    expect(storedTotals({ ...issued, paymentOptions: null }).several).to.equal(undefined);
  });

  it("throw a Defect if a row contains an invalid tolerance or transaction hash", () => {
    expect(() => payableTerms(row({ underpaymentTolerance: "2,5" }))).to.throw(Defect);
    expect(() => storedTotals(row({ transactionHashes: ["junk"] }))).to.throw(Defect);
    expect(storedTotals(row())).to.deep.equal({
      aside: [],
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

describe("The money that is owed to the payer of an invoice", () => {
  const sums = { rejected: 0n, inReview: 0n, refunded: 0n };
  const inForce = { network: "ethereum", tokenSymbol: "USDT" };
  const elsewhere = { network: "bsc", tokenSymbol: "USDC" };
  /** Half as many units of it are asked for. */
  const quote = {
    payableAmount: "500",
    askedAmount: null,
    remainingAmount: "500",
    remainingAfter: "0",
    seen: "0",
    confirmed: "0",
  };
  const owed = (changes: Partial<InvoiceRow>, ...aside: readonly Aside[]) => {
    const settled = row({
      ...inForce,
      managedBy: null,
      askedAmount: null,
      paymentOptions: [{ ...elsewhere, quote } as never],
      aside: storedAside(aside),
      ...changes,
    });
    return [owedOf(settled), inReviewOf(settled)];
  };

  it("is what it does not need of the confirmed payments, less their refunds, and what was rejected", () => {
    const [refunded, rejected] = [
      { ...inForce, ...sums, refunded: 100n },
      { ...inForce, ...sums, rejected: 7n },
    ];
    for (const status of ["expired", "canceled"] as const) {
      expect(owed({ status }), status).to.deep.equal([500n, 0n]);
      expect(owed({ status }, refunded), status).to.deep.equal([400n, 0n]);
      expect(owed({ status }, { ...refunded, refunded: 600n }), status).to.deep.equal([0n, 0n]);
    }
    expect(owed({ status: "paid", confirmedAmount: 1_250n })).to.deep.equal([250n, 0n]);
    expect(owed({ status: "open" }, rejected)).to.deep.equal([7n, 0n]);
    expect(owed({ status: "expired", managedBy: "billing" }, rejected)).to.deep.equal([0n, 0n]);
    expect(owed({ status: "open", payableAmount: null }, rejected)).to.deep.equal([0n, 0n]);
  });

  it("counts money in another token at the invoice's rates, rounded down, and none without a rate", () => {
    const other = { ...elsewhere, ...sums, inReview: 3n };
    expect(owed({ status: "open" }, other)).to.deep.equal([0n, 6n]);
    expect(owed({ status: "open", payableAmount: 750n }, other)).to.deep.equal([0n, 4n]);
    expect(owed({ status: "open", paymentOptions: null }, other)).to.deep.equal([0n, 0n]);
  });

  it("is nothing if only the rounding of refunds in another token is left", () => {
    const paymentOptions = [elsewhere, inForce].map((option) => ({ ...option, quote }) as never);
    const left = (refunds: Aside) => owed({ status: "expired", paymentOptions }, refunds)[0];
    expect(left({ ...elsewhere, ...sums, refunded: 249n })).to.equal(0n);
    expect(left({ ...elsewhere, ...sums, refunded: 245n })).to.equal(10n);
    expect(left({ ...inForce, ...sums, refunded: 498n })).to.equal(2n);
    // Refunds in both tokens, of which one is rounded: 500 are 298 and twice 100, and 2 that nobody can send.
    const parts = (refunded: bigint) => [
      { ...elsewhere, ...sums, refunded: 100n },
      { ...inForce, ...sums, refunded },
    ];
    expect(owed({ status: "expired", paymentOptions }, ...parts(298n))[0]).to.equal(0n);
    expect(owed({ status: "expired", paymentOptions }, ...parts(290n))[0]).to.equal(10n);
    const both = [
      { ...elsewhere, ...sums, refunded: 249n },
      { ...inForce, ...sums, rejected: 1n },
    ];
    expect(owed({ status: "expired", paymentOptions }, ...both)[0]).to.equal(1n);
    const unrefunded = { ...elsewhere, ...sums, inReview: 1n };
    const little = { status: "expired", paymentOptions, confirmedAmount: 2n } as const;
    expect(owed(little, unrefunded)[0]).to.equal(2n);
  });

  it("is stored in one order, whatever the order of the payments", () => {
    const [one, other] = [
      { ...inForce, ...sums, rejected: 1n },
      { ...elsewhere, ...sums, inReview: 2n },
    ];
    expect(storedAside([one, other])).to.deep.equal(storedAside([other, one]));
    expect(readAside(storedAside([one, other]))).to.deep.equal([other, one]);
    expect([storedAside([]), readAside(null)]).to.deep.equal([null, []]);
  });
});
