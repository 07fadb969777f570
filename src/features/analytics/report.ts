import type { App } from "../../app.ts";
import { toIso, type Instant } from "../../kernel/clock.ts";
import { invalidField, notFound } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import { escapeHtml } from "../../kernel/text.ts";
import {
  findOrganizationName,
  getMerchantCharts,
  getMerchantSummary,
  getPlatformCharts,
  getPlatformSummary,
  listTopCustomers,
  listTopOrganizations,
  listTopWallets,
} from "./analytics.ts";
import { monthAt, type FiguresQuery } from "./query.ts";
import {
  presentMerchantCharts,
  presentMerchantSummary,
  presentPlatformCharts,
  presentPlatformSummary,
  presentTopCustomers,
  presentTopOrganizations,
  presentTopWallets,
} from "./records.ts";

/** The look of a report: light or dark as the reader prefers, and black on white in print. */
const reportStyle = `
:root { color-scheme: light dark; --ink: #17211e; --quiet: #55635e; --line: #d5ddd9; --paper: #fff; --tile: #f4f7f5; --bar: #0b6b57; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8efec; --quiet: #9fb0a9; --line: #33413c; --paper: #121a17; --tile: #1b2622; --bar: #4fc3a1; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 2rem 1.25rem 3rem; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.7rem; line-height: 1.2; }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; }
p { margin: .3rem 0; }
.quiet { color: var(--quiet); }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(11.5rem, 1fr)); gap: .6rem; margin: 1.2rem 0; }
dl div { background: var(--tile); border-radius: .5rem; padding: .7rem .9rem; }
dt { color: var(--quiet); font-size: .85rem; }
dd { margin: 0; font-size: 1.2rem; font-weight: 600; font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: auto; font: 11px system-ui, sans-serif; }
svg text { fill: var(--quiet); }
svg line { stroke: var(--line); }
.bar { fill: var(--bar); }
.area { fill: transparent; }
.area:hover { fill: var(--tile); }
.share { height: .6rem; min-width: 4rem; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--quiet); font-weight: 500; font-size: .85rem; }
.number { text-align: right; white-space: nowrap; }
td.draw { width: 30%; vertical-align: middle; padding-right: 0; }
@media print {
  :root { color-scheme: light; --ink: #000; --quiet: #444; --line: #bbb; --paper: #fff; --tile: #fff; --bar: #0b6b57; }
  @page { margin: 16mm; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  dl div { border: 1px solid var(--line); }
  .bar { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  h2 { break-after: avoid; }
  section, svg, tr, dl div { break-inside: avoid; }
  section.long { break-inside: auto; }
}`;

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
  const titles = head.map((name, index) =>
    index === 0 || name === ""
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

/** A column of a chart. */
interface Bar {
  /** Below the column, if it is labelled. */
  readonly label: string;
  /** A decimal number. */
  readonly value: string;
  /** The whole text for a pointer that rests on the column, and for screen readers. */
  readonly title: string;
}

const size = { width: 720, height: 180, left: 4, bottom: 18, top: 16 };
/** Every so many columns have a label, so that at most about 16 are written. */
const labelsMost = 16;

/**
 * Draws a column chart as inline SVG, without a script. The lengths are drawn from rounded numbers; the titles have the
 * exact ones. Positive values are always visible.
 */
export function columnChart(name: string, bars: readonly Bar[]): string {
  const { width, height, left, bottom, top } = size;
  const values = bars.map(({ value }) => Math.max(0, Number(value)));
  const most = Math.max(...values, 0);
  const largest = bars[values.indexOf(most)];
  const step = (width - 2 * left) / Math.max(1, bars.length);
  const space = height - bottom - top;
  const every = Math.ceil(bars.length / labelsMost);
  const columns = bars.map(({ label, title }, index) => {
    const value = values[index] ?? 0;
    const length = most === 0 || value === 0 ? 0 : Math.max(1.5, (value / most) * space);
    const x = left + index * step;
    const text =
      index % every === 0
        ? `<text x="${round(x + step / 2)}" y="${String(height - 4)}" text-anchor="middle">${escapeHtml(label)}</text>`
        : "";
    return `<g><title>${escapeHtml(title)}</title><rect class="area" x="${round(x)}" y="${String(top)}" width="${round(step)}" height="${String(space)}"/><rect class="bar" x="${round(x + step * 0.12)}" y="${round(top + space - length)}" width="${round(step * 0.76)}" height="${round(length)}" rx="1.5"/></g>${text}`;
  });
  const peak =
    most === 0
      ? ""
      : `<text x="${String(left)}" y="11">Highest: ${escapeHtml(largest?.title ?? "")}</text>`;
  return `<svg viewBox="0 0 ${String(width)} ${String(height)}" role="img" aria-label="${escapeHtml(name)}">
<line x1="${String(left)}" x2="${String(width - left)}" y1="${String(height - bottom)}" y2="${String(height - bottom)}"/>
${columns.join("\n")}
${peak}
</svg>`;
}

/** Draws the share of a number in the largest of its column as a bar in a table. */
export function shareBar(value: string, most: number): string {
  const share = most <= 0 ? 0 : Math.max(0, Number(value)) / most;
  const width = share === 0 ? 0 : Math.max(1, share * 100);
  return `<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="bar" width="${round(width)}" height="10"/></svg>`;
}

function round(value: number): string {
  return String(Math.round(value * 100) / 100);
}

interface ReportQuery {
  /** Null for the platform. */
  readonly organizationId: Id<"organization"> | null;
  /** Such as `2031-01`; the month before this one by default. */
  readonly month: string | undefined;
  readonly currency: string | undefined;
}

interface MadeReport {
  readonly figures: ReportFigures;
  readonly html: string;
}

const monthPattern = /^[12]\d{3}-(0[1-9]|1[0-2])$/;
/** Items of each ranking. */
const rankingLength = "10";

/** Makes the report of a month from the same figures as the API gives. 400 for a wrong month or currency. */
export async function makeReport(
  app: App,
  { organizationId, month: given, currency }: ReportQuery,
  now: Instant,
): Promise<MadeReport> {
  const month = given ?? toIso(monthAt(now).from - 1).slice(0, "2031-01".length);
  if (!monthPattern.test(month)) {
    throw invalidField("/month", "invalid_month", "must be a month such as 2031-01");
  }
  const period = monthAt(Date.parse(`${month}-01T00:00:00.000Z`));
  const query = { from: toIso(period.from), to: toIso(period.to), currency };
  const head = { month, madeAt: toIso(now) };
  const figures =
    organizationId === null
      ? { ...head, ...(await platformFigures(app, query)) }
      : { ...head, ...(await merchantFigures(app, organizationId, query)) };
  return { figures, html: renderReport(figures) };
}

async function merchantFigures(
  app: App,
  organizationId: Id<"organization">,
  query: FiguresQuery,
): Promise<Omit<ReportFigures, "month" | "madeAt">> {
  const top = { ...query, limit: rankingLength };
  const [name, summary, charts, customers, wallets] = await Promise.all([
    findOrganizationName(app, organizationId),
    getMerchantSummary(app, organizationId, query),
    getMerchantCharts(app, organizationId, query),
    listTopCustomers(app, organizationId, top),
    listTopWallets(app, organizationId, top),
  ]);
  if (name === null) throw notFound();
  return {
    name,
    summary: presentMerchantSummary(summary),
    charts: presentMerchantCharts(charts),
    customers: presentTopCustomers(customers).data,
    wallets: presentTopWallets(wallets).data,
    organizations: [],
  };
}

async function platformFigures(
  app: App,
  query: FiguresQuery,
): Promise<Omit<ReportFigures, "month" | "madeAt">> {
  const top = { ...query, limit: rankingLength };
  const [summary, charts, organizations] = await Promise.all([
    getPlatformSummary(app, query),
    getPlatformCharts(app, query),
    listTopOrganizations(app, top),
  ]);
  return {
    name: null,
    summary: presentPlatformSummary(summary),
    charts: presentPlatformCharts(charts),
    customers: [],
    wallets: [],
    organizations: presentTopOrganizations(organizations).data,
  };
}
