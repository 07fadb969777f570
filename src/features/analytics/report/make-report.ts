import type { App } from "../../../app.ts";
import { toIso, type Instant } from "../../../kernel/clock.ts";
import { invalidField, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import {
  findOrganizationName,
  getMerchantCharts,
  getMerchantSummary,
  getPlatformCharts,
  getPlatformSummary,
  listTopCustomers,
  listTopOrganizations,
  listTopWallets,
} from "../analytics.ts";
import { monthAt } from "../periods.ts";
import type { FiguresQuery } from "../query.ts";
import {
  presentMerchantCharts,
  presentMerchantSummary,
  presentPlatformCharts,
  presentPlatformSummary,
  presentTopCustomers,
  presentTopOrganizations,
  presentTopWallets,
} from "../records.ts";
import { renderReport, type ReportFigures } from "./page.ts";

export interface ReportQuery {
  /** Null for the platform. */
  readonly organizationId: Id<"organization"> | null;
  /** Such as `2031-01`; the month before this one by default. */
  readonly month: string | undefined;
  readonly currency: string | undefined;
}

export interface MadeReport {
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
