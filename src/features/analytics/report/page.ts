import { escapeHtml } from "../../../kernel/html.ts";
import type {
  presentMerchantCharts,
  presentMerchantSummary,
  presentPlatformCharts,
  presentPlatformSummary,
  presentTopCustomers,
  presentTopOrganizations,
  presentTopWallets,
} from "../records.ts";
import { columnChart, shareBar } from "./chart.ts";
import { reportStyle } from "./style.ts";

/** The figures of a month as the API gives them. */
export interface ReportFigures {
  /** The organization's name; null for the platform. */
  readonly name: string | null;
  /** Such as `2031-01`. */
  readonly month: string;
  /** Time of the report: ISO 8601. */
  readonly madeAt: string;
  readonly summary: ReturnType<typeof presentMerchantSummary | typeof presentPlatformSummary>;
  readonly charts: ReturnType<typeof presentMerchantCharts | typeof presentPlatformCharts>;
  readonly customers: ReturnType<typeof presentTopCustomers>["data"];
  readonly wallets: ReturnType<typeof presentTopWallets>["data"];
  readonly organizations: ReturnType<typeof presentTopOrganizations>["data"];
}

/** Renders a month as one HTML page, complete in itself: no script, no other file, and nothing from the network. */
export function renderReport(figures: ReportFigures): string {
  const { name, month, madeAt, summary, charts } = figures;
  const { currency, from, to } = summary;
  const owner = name ?? "All organizations";
  const title = `${owner}, ${monthName(month)}`;
  const body = [
    `<header><h1>${escapeHtml(owner)}</h1>
<p>${escapeHtml(monthName(month))}, amounts in ${escapeHtml(currency)}</p>
<p class="quiet">From ${from} to before ${to}; days are in UTC. Made at ${escapeHtml(madeAt)}.</p></header>`,
    tiles(periodTiles(summary)),
    volumeSection("Confirmed payments by day", currency, charts.volumeSeries),
    ...("invoiceStatusBreakdown" in charts ? [statusSection(charts.invoiceStatusBreakdown)] : []),
    ...("revenueSeries" in charts
      ? [
          volumeSection("Paid platform invoices by day", currency, charts.revenueSeries),
          organizationSection(charts.organizationSeries),
        ]
      : []),
    ranking(
      "Customers with the highest volume",
      figures.customers.map((one) => ({ ...one, label: one.name })),
    ),
    ranking("Wallets with the highest volume", figures.wallets),
    ranking(
      "Organizations with the highest volume",
      figures.organizations.map((one) => ({ ...one, label: one.name })),
    ),
    `<section><h2>When this report was made</h2>${tiles(currentTiles(summary))}</section>`,
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${reportStyle}</style>
</head>
<body>
${body.filter((part) => part !== "").join("\n")}
</body>
</html>
`;
}

type Tile = readonly [name: string, value: string];

function periodTiles(summary: ReportFigures["summary"]): Tile[] {
  const { currency } = summary;
  return [
    ["Confirmed payments", `${summary.processedVolume} ${currency}`],
    ["Number of payments", String(summary.paymentCount)],
    ["Invoices issued", String(summary.invoiceCount)],
    ["Paid of these", String(summary.paidInvoiceCount)],
    ["Paid share", summary.conversionRate],
    ["Average invoice", `${summary.averageInvoiceAmount} ${currency}`],
  ];
}

/** Values that do not depend on the month. */
function currentTiles(summary: ReportFigures["summary"]): Tile[] {
  const { currency } = summary;
  if ("customerCount" in summary) {
    return [
      ["Outstanding", `${summary.outstandingAmount} ${currency}`],
      ["Customers", String(summary.customerCount)],
    ];
  }
  return [
    ["Organizations", String(summary.organizationCount)],
    ["Awaiting review", String(summary.pendingReviewCount)],
    ["Active subscriptions", String(summary.activeSubscriptionCount)],
    ["Monthly recurring revenue", `${summary.monthlyRecurringRevenue} ${currency}`],
  ];
}

function tiles(values: readonly Tile[]): string {
  const items = values.map(
    ([name, value]) => `<div><dt>${name}</dt><dd>${escapeHtml(value)}</dd></div>`,
  );
  return `<dl>${items.join("")}</dl>`;
}

function volumeSection(
  title: string,
  currency: string,
  series: ReportFigures["charts"]["volumeSeries"],
): string {
  const bars = series.map(({ periodStart, volume, paymentCount }) => ({
    label: dayOfMonth(periodStart),
    value: volume,
    title: `${dayOf(periodStart)}: ${volume} ${currency}, ${count(paymentCount, "payment")}`,
  }));
  const rows = series
    .filter(({ paymentCount }) => paymentCount > 0)
    .map(({ periodStart, volume, paymentCount }) => [
      text(dayOf(periodStart)),
      number(String(paymentCount)),
      number(volume),
    ]);
  const days = rows.length === 0 ? quiet("None.") : table(["Day", "Payments", currency], rows);
  return `<section class="long"><h2>${title}</h2>${columnChart(title, bars)}${days}</section>`;
}

function organizationSection(
  series: Extract<ReportFigures["charts"], { organizationSeries: unknown }>["organizationSeries"],
): string {
  const title = "New organizations by day";
  const bars = series.map(({ periodStart, created, approved }) => ({
    label: dayOfMonth(periodStart),
    value: String(created),
    title: `${dayOf(periodStart)}: ${String(created)} new, ${String(approved)} approved`,
  }));
  const rows = series
    .filter(({ created, approved }) => created + approved > 0)
    .map(({ periodStart, created, approved }) => [
      text(dayOf(periodStart)),
      number(String(created)),
      number(String(approved)),
    ]);
  const days = rows.length === 0 ? quiet("None.") : table(["Day", "New", "Approved"], rows);
  return `<section class="long"><h2>${title}</h2>${columnChart(title, bars)}${days}</section>`;
}

function statusSection(
  statuses: Extract<
    ReportFigures["charts"],
    { invoiceStatusBreakdown: unknown }
  >["invoiceStatusBreakdown"],
): string {
  const most = Math.max(...statuses.map((one) => one.count));
  const rows = statuses.map((one) => [
    text(one.status.replaceAll("_", " ")),
    number(String(one.count)),
    number(one.amount),
    `<td class="draw">${shareBar(String(one.count), most)}</td>`,
  ]);
  return `<section><h2>Invoices of the month by status</h2>${table(["Status", "Invoices", "Amount", ""], rows)}</section>`;
}

function ranking(
  title: string,
  items: readonly {
    readonly label: string;
    readonly volume: string;
    readonly paymentCount: number;
  }[],
): string {
  if (items.length === 0) return "";
  const most = Math.max(...items.map(({ volume }) => Number(volume)));
  const rows = items.map(({ label, volume, paymentCount }) => [
    text(label),
    number(String(paymentCount)),
    number(volume),
    `<td class="draw">${shareBar(volume, most)}</td>`,
  ]);
  return `<section><h2>${title}</h2>${table(["Name", "Payments", "Volume", ""], rows)}</section>`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const titles = head.map((name, place) =>
    place === 0 || name === ""
      ? `<th scope="col">${escapeHtml(name)}</th>`
      : `<th scope="col" class="number">${escapeHtml(name)}</th>`,
  );
  const lines = rows.map((cells) => `<tr>${cells.join("")}</tr>`);
  return `<table><thead><tr>${titles.join("")}</tr></thead><tbody>${lines.join("\n")}</tbody></table>`;
}

const text = (value: string) => `<td>${escapeHtml(value)}</td>`;
const number = (value: string) => `<td class="number">${escapeHtml(value)}</td>`;
const quiet = (value: string) => `<p class="quiet">${value}</p>`;

function count(items: number, noun: string): string {
  return `${String(items)} ${noun}${items === 1 ? "" : "s"}`;
}

function dayOf(iso: string): string {
  return iso.slice(0, "2031-01-31".length);
}

function dayOfMonth(iso: string): string {
  return String(Number(iso.slice("2031-01-".length, "2031-01-31".length)));
}

/** Returns `January 2031` for `2031-01`. */
function monthName(month: string): string {
  const options = { month: "long", year: "numeric", timeZone: "UTC" } as const;
  return new Intl.DateTimeFormat("en", options).format(Date.parse(`${month}-01T00:00:00.000Z`));
}
