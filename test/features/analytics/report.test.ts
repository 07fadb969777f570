import { expect } from "chai";
import {
  columnChart,
  renderReport,
  shareBar,
  type ReportFigures,
} from "../../../src/features/analytics/report.ts";

const days = ["0.00", "120.50", "0.00", "7.25"].map((volume, place) => ({
  periodStart: `2031-01-0${String(place + 1)}T00:00:00.000Z`,
  volume,
  paymentCount: volume === "0.00" ? 0 : 2,
}));
const hostile = `<script>alert("x")</script>&'`;
const merchantSummary = {
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
};
const merchantCharts = {
  from: "2031-01-01T00:00:00.000Z",
  to: "2031-02-01T00:00:00.000Z",
  currency: "USD",
  interval: "day" as const,
  volumeSeries: days,
  invoiceStatusBreakdown: [{ status: "paid" as const, count: 4, amount: "127.75" }],
};
const merchant = {
  name: hostile,
  month: "2031-01",
  madeAt: "2031-02-01T00:00:00.000Z",
  summary: merchantSummary,
  charts: merchantCharts,
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
} satisfies ReportFigures;

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

  it("lists the days with payments, and says how many each had", () => {
    const one = {
      ...merchant.charts,
      volumeSeries: days.map((day) => ({ ...day, paymentCount: 1 })),
    };
    expect(renderReport({ ...merchant, charts: one })).to.include(
      "2031-01-04: 7.25 USD, 1 payment<",
    );
    expect(page).to.include("2031-01-01: 0.00 USD, 0 payments<");
    const rows = (html: string) =>
      [...html.matchAll(/<tr><td>(2031-01-\d\d)</g)].map(([, day]) => day);
    expect(rows(page)).to.deep.equal(["2031-01-02", "2031-01-04"]);
    expect(rows(renderReport({ ...merchant, charts: one }))).to.have.length(4);
    expect(page)
      .to.match(/<text [^>]*>1<\/text>/)
      .and.not.to.match(/<text [^>]*>01<\/text>/);
  });

  it("draws statuses and rankings beside the largest of their column", () => {
    const statuses = [
      { status: "paid" as const, count: 4, amount: "127.75" },
      { status: "partially_paid" as const, count: 1, amount: "9.00" },
    ];
    const charts = { ...merchant.charts, invoiceStatusBreakdown: statuses };
    const [first] = merchant.customers;
    const customers = ["8.00", "2.00", "0.00"].map((volume) => ({
      ...first,
      volume,
    })) as typeof merchant.customers;
    const drawn = renderReport({ ...merchant, charts, customers });
    const widths = [...drawn.matchAll(/class="share".*?width="([^"]+)"/g)].map(
      ([, width]) => width,
    );
    expect(widths).to.deep.equal(["100", "25", "100", "25", "0"]);
    expect(drawn).to.include("<td>partially paid</td>").and.not.to.include("Wallets with");
    expect(drawn).to.include(
      '<th scope="col">Status</th><th scope="col" class="number">Invoices</th>',
    );
    expect(drawn).to.include('<th scope="col"></th></tr>').and.not.to.include("\n\n");
  });

  it("of the platform has its revenue and the days on which organizations came or were approved", () => {
    const { outstandingAmount: _owed, customerCount: _customers, ...summary } = merchantSummary;
    const { invoiceStatusBreakdown: _statuses, ...charts } = merchantCharts;
    const platform: ReportFigures = {
      ...merchant,
      name: null,
      summary: {
        ...summary,
        organizationCount: 11,
        pendingReviewCount: 22,
        activeSubscriptionCount: 33,
        monthlyRecurringRevenue: "44.00",
      },
      charts: {
        ...charts,
        revenueSeries: [
          { periodStart: "2031-01-03T00:00:00.000Z", volume: "5.00", paymentCount: 1 },
        ],
        organizationSeries: [
          [0, 0],
          [1, 0],
          [0, 1],
        ].map(([created = 0, approved = 0], place) => ({
          periodStart: `2031-01-1${String(place)}T00:00:00.000Z`,
          created,
          approved,
        })),
      },
      customers: [],
      organizations: [
        { organizationId: "org_1", name: "Ada & Co", volume: "1.00", paymentCount: 1 },
      ],
    };
    const html = renderReport(platform);
    expect(html).to.include("<h1>All organizations</h1>").and.to.include("Ada &#38; Co");
    expect(html).not.to.include("Outstanding").and.not.to.include("by status");
    for (const figure of ["11", "22", "33", "44.00 USD"])
      expect(html).to.include(`<dd>${figure}</dd>`);
    expect(html).to.include("2031-01-03: 5.00 USD, 1 payment<");
    expect(html).to.include("<title>2031-01-11: 1 new, 0 approved</title>");
    const rows = [...html.matchAll(/<tr><td>(2031-01-1\d)</g)].map(([, day]) => day);
    expect(rows).to.deep.equal(["2031-01-11", "2031-01-12"]);
    expect(page).to.include("Outstanding").and.not.to.include("Awaiting review");
  });
});

describe("a column chart", () => {
  const bars = (...values: readonly string[]) =>
    values.map((value, place) => ({ label: `${String(place)}<`, value, title: `bar ${value}` }));
  /** The numbers of an attribute of all elements that match. */
  const numbers = (svg: string, element: RegExp, attribute: string) =>
    (svg.match(new RegExp(element, "g")) ?? []).map((each) =>
      Number(new RegExp(` ${attribute}="([^"]+)"`).exec(each)?.[1]),
    );
  const columns = (svg: string, attribute: string) =>
    numbers(svg, /<rect class="bar"[^>]*>/, attribute);

  it("has columns as high as their values, on one line", () => {
    const svg = columnChart("Volume", bars("100.00", "25.00", "0.00", "-3.00"));
    // 146 is the space between the line and the text above.
    expect(columns(svg, "height")).to.deep.equal([146, 36.5, 0, 0]);
    const [line] = numbers(svg, /<line [^>]*>/, "y1");
    expect(
      columns(svg, "y").map((y, place) => y + (columns(svg, "height")[place] ?? 0)),
    ).to.deep.equal([line, line, line, line]);
    expect(numbers(svg, /<line [^>]*>/, "y2")).to.deep.equal([line]);
    expect(svg).to.include('aria-label="Volume"').and.to.include("Highest: bar 100.00<");
  });

  it("shows every positive value, however small, and nothing in a chart without values", () => {
    expect(columns(columnChart("", bars("1000000.00", "0.01")), "height")).to.deep.equal([
      146, 1.5,
    ]);
    for (const values of [["0.00", "0.00"], ["-1.00"], []]) {
      const empty = columnChart("", bars(...values));
      expect(columns(empty, "height").filter((height) => height !== 0)).to.deep.equal([]);
      expect(empty)
        .not.to.include("Highest")
        .and.not.to.match(/NaN|Infinity/);
    }
  });

  it("spreads its columns over the whole width, each in the middle of its area with its label", () => {
    const svg = columnChart("", bars("1", "1"));
    const areas = /<rect class="area"[^>]*>/;
    expect(numbers(svg, areas, "x")).to.deep.equal([4, 360]);
    expect(numbers(svg, areas, "width")).to.deep.equal([356, 356]);
    expect(numbers(svg, areas, "height")).to.deep.equal([146, 146]);
    expect(numbers(svg, /<line [^>]*>/, "x1")).to.deep.equal([4]);
    expect(numbers(svg, /<line [^>]*>/, "x2")).to.deep.equal([716]);
    expect(columns(svg, "x")).to.deep.equal([46.72, 402.72]);
    expect(columns(svg, "width")).to.deep.equal([270.56, 270.56]);
    expect(numbers(svg, /<text [^>]*middle[^>]*>/, "x")).to.deep.equal([182, 538]);
    expect(numbers(svg, /<text [^>]*middle[^>]*>/, "y")).to.deep.equal([176, 176]);
    expect(svg).to.include(">0&#60;</text>").and.to.include("<title>bar 1</title>");
  });

  it("writes at most sixteen labels", () => {
    const labels = (count: number) =>
      [
        ...columnChart("", bars(...Array.from({ length: count }, () => "1"))).matchAll(
          /middle">(\d+)&/g,
        ),
      ].map(([, label]) => Number(label));
    expect(labels(16)).to.have.length(16);
    expect(labels(17)).to.deep.equal([0, 2, 4, 6, 8, 10, 12, 14, 16]);
    expect(labels(31)).to.have.length(16);
    expect(labels(33)).to.deep.equal([0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30]);
  });

  it("draws a share of the largest in percent, at least one unless it is nothing", () => {
    const width = (value: string, most: number) =>
      numbers(shareBar(value, most), /<rect [^>]*>/, "width")[0];
    for (const [value, most, expected] of [
      ["4", 4, 100],
      ["1", 4, 25],
      ["1", 3, 33.33],
      ["0.01", 4, 1],
      ["0", 4, 0],
      ["-1", 4, 0],
      ["0", 0, 0],
      ["1", -1, 0],
    ] as const) {
      expect(width(value, most), `${value} of ${String(most)}`).to.equal(expected);
    }
  });
});
