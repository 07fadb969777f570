import { expect } from "chai";
import { renderReport, type ReportFigures } from "../../../src/features/analytics/report/page.ts";

const days = ["0.00", "120.50", "0.00", "7.25"].map((volume, place) => ({
  periodStart: `2031-01-0${String(place + 1)}T00:00:00.000Z`,
  volume,
  paymentCount: volume === "0.00" ? 0 : 2,
}));
const hostile = `<script>alert("x")</script>&'`;
const merchant: ReportFigures = {
  name: hostile,
  month: "2031-01",
  madeAt: "2031-02-01T00:00:00.000Z",
  summary: {
    from: "2031-01-01T00:00:00.000Z",
    to: "2031-02-01T00:00:00.000Z",
    currency: "USD",
    processedVolume: "127.75",
    paymentCount: 4,
    invoiceCount: 5,
    paidInvoiceCount: 4,
    averageInvoiceAmount: "31.94",
    conversionRate: "0.80",
    outstandingAmount: "12.00",
    customerCount: 3,
  },
  charts: {
    from: "2031-01-01T00:00:00.000Z",
    to: "2031-02-01T00:00:00.000Z",
    currency: "USD",
    interval: "day",
    volumeSeries: days,
    invoiceStatusBreakdown: [{ status: "paid", count: 4, amount: "127.75" }],
  },
  customers: [
    {
      customerId: "cus_01kq3v5m8w2f6n9r4t7x0z1c3e",
      name: hostile,
      email: null,
      volume: "127.75",
      paymentCount: 4,
    },
  ],
  wallets: [],
  organizations: [],
};

describe("a month's report", () => {
  const page = renderReport(merchant);

  it("has the figures as the API writes them", () => {
    for (const figure of ["127.75 USD", "0.80", "31.94 USD", "12.00 USD", "January 2031"]) {
      expect(page).to.include(figure);
    }
    expect(page).to.include("<title>2031-01-02: 120.50 USD, 2 payments</title>");
    expect(page.match(/<td class="number">(120\.50|7\.25)<\/td>/g)).to.have.lengthOf(2);
  });

  it("is complete in itself: no script, no reference to another file, no network", () => {
    expect(page).not.to.match(/<script|<link|<img|<iframe|@import|url\(|\son\w+=|src=|href=/i);
    expect(page).to.include(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(page).to.include("@media print").and.to.include("prefers-color-scheme: dark");
  });

  it("escapes names, in the title and in attributes too", () => {
    expect(page).not.to.include("<script>").and.not.to.include(`"x")`);
    expect(page).to.include("&#60;script&#62;alert(&#34;x&#34;)&#60;/script&#62;&#38;&#39;");
  });

  it("draws a month without anything", () => {
    const none = days.map((day) => ({ ...day, volume: "0.00", paymentCount: 0 }));
    const charts = { ...merchant.charts, volumeSeries: none, invoiceStatusBreakdown: [] };
    const empty = renderReport({ ...merchant, charts, customers: [] });
    expect(empty)
      .to.include("None.")
      .and.not.to.match(/NaN|Infinity/);
  });
});
