import {
  command,
  anyOrganization,
  neededOrganization,
  section,
  type CommandCall,
  type CommandFlag,
  type Section,
} from "../../http/declare/command.ts";
import { InvalidRequest, invalidField } from "../../kernel/errors.ts";
import type { Id } from "../../kernel/id.ts";
import {
  getMerchantCharts,
  getMerchantSummary,
  getPlatformCharts,
  getPlatformSummary,
  listTopCustomers,
  listTopOrganizations,
  listTopWallets,
} from "./analytics.ts";
import { ChartsQuery, intervals, SummaryQuery, TopQuery } from "./query.ts";
import {
  presentMerchantCharts,
  presentMerchantSummary,
  presentPlatformCharts,
  presentPlatformSummary,
  presentTopCustomers,
  presentTopOrganizations,
  presentTopWallets,
} from "./records.ts";

// An organization's figures and the platform's have different records, so a command handles its result as a record.
type MerchantChartsShown = ReturnType<typeof presentMerchantCharts>;
type PlatformChartsShown = ReturnType<typeof presentPlatformCharts>;
type SummaryRecord = ReturnType<typeof presentMerchantSummary | typeof presentPlatformSummary>;
type ChartsRecord = MerchantChartsShown | PlatformChartsShown;
type TopRecord = ReturnType<
  typeof presentTopCustomers | typeof presentTopWallets | typeof presentTopOrganizations
>;
type TopItem = TopRecord["data"][number];

const rankings = ["customers", "wallets", "organizations"] as const;

const periodFlags: readonly CommandFlag[] = [
  {
    flags: "--from <time>",
    description: "start of the period, inclusive (default: 30 days before its end)",
  },
  {
    flags: "--to <time>",
    description: "end of the period, exclusive, such as 2031-01-31T00:00:00.000Z (default: now)",
  },
  { flags: "--currency <code>", description: "settlement currency (default USD)" },
];

export const analyticsCommands = [
  command({
    name: "analytics summary",
    summary: "Show statistics for a period",
    flags: [anyOrganization, ...periodFlags],
    examples: [
      "till analytics summary",
      "till analytics summary --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --currency EUR --json",
    ],
    effect: "read",
    async handle(app, call): Promise<SummaryRecord> {
      const query = call.parse(SummaryQuery, period(call));
      const organizationId = organizationOf(call);
      if (organizationId === undefined) {
        return presentPlatformSummary(await getPlatformSummary(app, query));
      }
      return presentMerchantSummary(await getMerchantSummary(app, organizationId, query));
    },
    present: (shown) => shown,
    columns: [
      "from",
      "to",
      "processedVolume currency",
      "paymentCount",
      "invoiceCount",
      "paidInvoiceCount",
      "conversionRate",
      "averageInvoiceAmount currency",
    ],
    sections: (one) => [stateSection(one)],
  }),
  command({
    name: "analytics charts",
    summary: "Chart a period by day, week or month",
    flags: [
      anyOrganization,
      ...periodFlags,
      {
        flags: "--interval <length>",
        description: "day, week or month (default day)",
        choices: intervals,
      },
    ],
    examples: [
      "till analytics charts --interval week",
      "till analytics charts --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    async handle(app, call): Promise<ChartsRecord> {
      const interval = call.flag("interval");
      const query = call.parse(ChartsQuery, { ...period(call), interval });
      const organizationId = organizationOf(call);
      if (organizationId === undefined) {
        return presentPlatformCharts(await getPlatformCharts(app, query));
      }
      return presentMerchantCharts(await getMerchantCharts(app, organizationId, query));
    },
    present: (shown) => shown,
    columns: ["from", "to", "currency", "interval"],
    sections: (one) => [
      volumeSection("Volume", one.volumeSeries),
      ...("invoiceStatusBreakdown" in one ? merchantSections(one) : platformSections(one)),
    ],
  }),
  command({
    name: "analytics top",
    summary: "Rank customers, wallets or organizations by payment volume",
    arguments: [{ name: "of", description: rankings.join(", "), choices: rankings }],
    flags: [
      {
        ...neededOrganization,
        description: `with customers and wallets: ${neededOrganization.description}`,
        isNeededIf: (call) => /^(customers|wallets)$/.test(call.optionalArgument("of") ?? ""),
      },
      ...periodFlags,
      { flags: "--limit <number>", description: "number of items to show, 1 to 100 (default 20)" },
    ],
    examples: [
      "till analytics top organizations --limit 10",
      "till analytics top customers --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --json",
    ],
    effect: "read",
    async handle(app, call): Promise<TopRecord> {
      const query = call.parse(TopQuery, { ...period(call), limit: call.flag("limit") });
      const organizationId = organizationOf(call);
      const ranking = rankingOf(call, organizationId);
      if (ranking === "organizations" || organizationId === undefined) {
        return presentTopOrganizations(await listTopOrganizations(app, query));
      }
      if (ranking === "customers") {
        return presentTopCustomers(await listTopCustomers(app, organizationId, query));
      }
      return presentTopWallets(await listTopWallets(app, organizationId, query));
    },
    present: (shown): { data: TopItem[]; nextCursor: string | null } => shown,
    columns: [
      { title: "ID", value: idOf },
      { title: "Name", value: (one) => ("label" in one ? one.label : one.name) },
      "paymentCount",
      "volume",
      { bar: "volume" },
    ],
    identify: idOf,
  }),
  command({
    name: "analytics report",
    summary: "Write a month's statistics as one HTML page with charts, for reading and printing",
    flags: [
      anyOrganization,
      {
        flags: "--html <file>",
        description: "the new file, or - for standard output",
        ask: "The file to write",
      },
      { flags: "--month <month>", description: "such as 2031-01, in UTC (default: the last one)" },
      { flags: "--currency <code>", description: "settlement currency (default USD)" },
    ],
    examples: [
      "till analytics report --html report.html",
      "till analytics report --html shop.html --organization org_01kq3v5m8w2f6n9r4t7x0z1c3e --month 2031-01 --currency EUR",
    ],
    effect: "read",
    async handle(app, call) {
      const { makeReport } = await import("./report.ts");
      const query = {
        organizationId: organizationOf(call) ?? null,
        month: call.flag("month"),
        currency: call.flag("currency"),
      };
      const file = call.flag("html") ?? "";
      const { figures, html } = await makeReport(app, query, app.clock.now());
      await call.writeFile(file, html);
      return { file, name: figures.name, summary: figures.summary };
    },
    present({ file, name, summary }) {
      const { from, to, currency, processedVolume, paymentCount } = summary;
      return { file, organizationName: name, from, to, currency, processedVolume, paymentCount };
    },
    columns: ["file", "organizationName", "from", "to", "processedVolume currency", "paymentCount"],
    identify: ({ file }) => file,
  }),
];

function organizationOf(call: CommandCall): Id<"organization"> | undefined {
  return call.flag("organization") as Id<"organization"> | undefined;
}

function period(call: CommandCall) {
  return { from: call.flag("from"), to: call.flag("to"), currency: call.flag("currency") };
}

/** Returns the ranked kind. Customers and wallets belong to an organization, which must be named. */
function rankingOf(
  call: CommandCall,
  organizationId: string | undefined,
): (typeof rankings)[number] {
  const ranking = rankings.find((known) => known === call.argument("of"));
  if (ranking === undefined) {
    throw new InvalidRequest(`Choose what to rank: ${rankings.join(", ")}.`);
  }
  if (ranking === "organizations" && organizationId !== undefined) {
    throw invalidField(
      "/organizationId",
      "not_allowed",
      "cannot be combined with the ranking of organizations",
    );
  }
  return ranking;
}

function idOf(one: TopItem): string {
  if ("customerId" in one) return one.customerId;
  return "walletId" in one ? one.walletId : one.organizationId;
}

/** Current values, independent of the period. */
function stateSection(one: SummaryRecord): Section {
  if ("customerCount" in one) {
    return section({
      title: "Now",
      items: [one],
      columns: ["outstandingAmount currency", "customerCount"],
    });
  }
  return section({
    title: "Now",
    items: [one],
    columns: [
      "organizationCount",
      "pendingReviewCount",
      "activeSubscriptionCount",
      "monthlyRecurringRevenue currency",
    ],
  });
}

function volumeSection(title: string, series: ChartsRecord["volumeSeries"]): Section {
  return section({
    title,
    trend: series.map(({ volume }) => volume),
    items: series,
    columns: [
      { title: "From", value: (point) => dayOf(point.periodStart) },
      "paymentCount",
      "volume",
      { bar: "volume" },
    ],
  });
}

function merchantSections(charts: MerchantChartsShown): Section[] {
  return [
    section({
      title: "Invoices",
      items: charts.invoiceStatusBreakdown,
      columns: ["status", "count", "amount", { bar: "count" }],
    }),
  ];
}

function platformSections(charts: PlatformChartsShown): Section[] {
  return [
    volumeSection("Revenue", charts.revenueSeries),
    section({
      title: "Organizations",
      trend: charts.organizationSeries.map(({ created }) => String(created)),
      items: charts.organizationSeries,
      columns: [
        { title: "From", value: (point) => dayOf(point.periodStart) },
        "approved",
        "created",
        { bar: "created" },
      ],
    }),
  ];
}

/** Returns the date of a bucket, which always starts at the beginning of a day. */
function dayOf(periodStart: string): string {
  return periodStart.slice(0, "2031-01-31".length);
}
