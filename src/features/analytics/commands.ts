import { intervals } from "./buckets.ts";
import {
  commandsOf,
  anyOrganization,
  neededOrganization,
  section,
  type CommandCall,
  type CommandFlag,
  type Section,
} from "../../api/declare/command.ts";
import type { Id } from "../../kernel/id.ts";
import type * as presentation from "./present.ts";
import type { AnalyticsService } from "./service.ts";

type Presenters = typeof presentation;
type Shown<Name extends keyof Presenters> = ReturnType<Presenters[Name]>;

// An organization's figures and the platform's have different records, so a command returns its result together with
// the way to present it.
type SummaryRecord = Shown<"presentMerchantSummary"> | Shown<"presentPlatformSummary">;
type ChartsRecord = Shown<"presentMerchantCharts"> | Shown<"presentPlatformCharts">;
type TopRecord =
  | Shown<"presentTopCustomers">
  | Shown<"presentTopWallets">
  | Shown<"presentTopOrganizations">;
type TopItem = TopRecord["data"][number];

const command = commandsOf<AnalyticsService>();
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
    async handle(service, call): Promise<() => Promise<SummaryRecord>> {
      const { SummaryQuery } = await import("./query.ts");
      const query = call.parse(SummaryQuery, period(call));
      const organizationId = organizationOf(call);
      if (organizationId === undefined) {
        const summary = await service.platformSummary(query);
        return async () => (await presenters()).presentPlatformSummary(summary);
      }
      const summary = await service.summary(organizationId, query);
      return async () => (await presenters()).presentMerchantSummary(summary);
    },
    present: (shown) => shown(),
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
    async handle(service, call): Promise<() => Promise<ChartsRecord>> {
      const { ChartsQuery } = await import("./query.ts");
      const interval = call.flag("interval");
      const query = call.parse(ChartsQuery, { ...period(call), interval });
      const organizationId = organizationOf(call);
      if (organizationId === undefined) {
        const charts = await service.platformCharts(query);
        return async () => (await presenters()).presentPlatformCharts(charts);
      }
      const charts = await service.charts(organizationId, query);
      return async () => (await presenters()).presentMerchantCharts(charts);
    },
    present: (shown) => shown(),
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
    async handle(service, call): Promise<() => Promise<TopRecord>> {
      const { TopQuery } = await import("./query.ts");
      const query = call.parse(TopQuery, { ...period(call), limit: call.flag("limit") });
      const organizationId = organizationOf(call);
      const ranking = await rankingOf(call, organizationId);
      if (ranking === "organizations" || organizationId === undefined) {
        const top = await service.topOrganizations(query);
        return async () => (await presenters()).presentTopOrganizations(top);
      }
      if (ranking === "customers") {
        const top = await service.topCustomers(organizationId, query);
        return async () => (await presenters()).presentTopCustomers(top);
      }
      const top = await service.topWallets(organizationId, query);
      return async () => (await presenters()).presentTopWallets(top);
    },
    present: async (shown): Promise<{ data: TopItem[]; nextCursor: string | null }> => shown(),
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
    async handle(service, call) {
      const { makeReport } = await import("./report/make-report.ts");
      const { systemClock } = await import("../../kernel/clock.ts");
      const query = {
        organizationId: organizationOf(call) ?? null,
        month: call.flag("month"),
        currency: call.flag("currency"),
      };
      const file = call.flag("html") ?? "";
      const { figures, html } = await makeReport(service, query, systemClock.now());
      await call.writeFile(file, html);
      return { file, name: figures.name, summary: figures.summary };
    },
    present({ file, name, summary }) {
      const { from, to, currency, processedVolume, paymentCount } = summary;
      return Promise.resolve({
        file,
        organizationName: name,
        from,
        to,
        currency,
        processedVolume,
        paymentCount,
      });
    },
    columns: ["file", "organizationName", "from", "to", "processedVolume currency", "paymentCount"],
    identify: ({ file }) => file,
  }),
];

function presenters(): Promise<Presenters> {
  return import("./present.ts");
}

function organizationOf(call: CommandCall): Id<"organization"> | undefined {
  return call.flag("organization") as Id<"organization"> | undefined;
}

function period(call: CommandCall) {
  return { from: call.flag("from"), to: call.flag("to"), currency: call.flag("currency") };
}

/** Returns the ranked kind. Customers and wallets belong to an organization, which must be named. */
async function rankingOf(
  call: CommandCall,
  organizationId: string | undefined,
): Promise<(typeof rankings)[number]> {
  const { InvalidRequest, invalidField } = await import("../../kernel/errors.ts");
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

function merchantSections(charts: Shown<"presentMerchantCharts">): Section[] {
  return [
    section({
      title: "Invoices",
      items: charts.invoiceStatusBreakdown,
      columns: ["status", "count", "amount", { bar: "count" }],
    }),
  ];
}

function platformSections(charts: Shown<"presentPlatformCharts">): Section[] {
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
