import { expect } from "chai";
import { makeMonthlySums } from "../../../../src/features/billing/rehearsal/report.ts";

type Summed = Parameters<ReturnType<typeof makeMonthlySums>["add"]>[0];

const invoice = (changes: Partial<Summed> = {}): Summed => ({
  status: "paid",
  currency: "USD",
  decimals: 2,
  issuedAt: Date.UTC(2026, 11, 31, 23, 59),
  twinId: "inv_1",
  subtotal: 1_000n,
  discountTotal: 100n,
  creditTotal: 50n,
  total: 850n,
  ...changes,
});

describe("the sums of a rehearsal", () => {
  it("are by month of issue in UTC and by currency, in order", () => {
    const sums = makeMonthlySums();
    const january = Date.UTC(2027, 0, 1);
    for (const one of [
      invoice({ issuedAt: january }),
      invoice(),
      invoice({ issuedAt: january, total: 1n, subtotal: 151n }),
      invoice({ currency: "JPY", decimals: 0 }),
    ]) {
      sums.add(one);
    }
    const named = (rows: ReturnType<typeof sums.months>) =>
      rows.map(({ month, currency, invoices, total }) => [month, currency, invoices, total]);
    expect(named(sums.months())).to.deep.equal([
      ["2026-12", "JPY", 1, "850"],
      ["2026-12", "USD", 1, "8.50"],
      ["2027-01", "USD", 2, "8.51"],
    ]);
    expect(named(sums.foot())).to.deep.equal([
      [null, "JPY", 1, "850"],
      [null, "USD", 3, "17.01"],
    ]);
  });

  it("tell what was paid, carried forward and left unpaid, and only count void invoices", () => {
    const sums = makeMonthlySums();
    for (const one of [
      invoice(),
      invoice({ total: 20n, twinId: null }),
      invoice({ status: "open", total: 300n }),
      invoice({ status: "past_due", total: 4_000n, twinId: null }),
      invoice({ status: "void", total: 50_000n }),
    ]) {
      sums.add(one);
    }
    expect(sums.foot()).to.deep.equal([
      {
        month: null,
        currency: "USD",
        invoices: 4,
        voided: 1,
        subtotal: "40.00",
        discounts: "4.00",
        credits: "2.00",
        total: "51.70",
        paid: "8.50",
        carried: "0.20",
        unpaid: "43.00",
      },
    ]);
    expect(makeMonthlySums().foot()).to.deep.equal([]);
  });
});
