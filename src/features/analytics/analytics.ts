import type { App } from "../../app.ts";
import { day, type Instant } from "../../kernel/clock.ts";
import { money, type Asset, type Money } from "../../kernel/money/money.ts";
import { idFloor, type Id } from "../../kernel/id.ts";
import { powerOfTen } from "../../kernel/money/ratio.ts";
import type { Reader } from "../../platform/database/database.ts";
import { signedSums } from "../../platform/database/query/sum-amounts.ts";
import { decodeAmount } from "../../platform/database/schema/table.ts";
import { platformRevenue, recurringRevenue } from "../billing/operator/revenue.ts";
import { settlementOf } from "../invoices/options/quotes.ts";
import { invoiceStatuses, type InvoiceStatus } from "../invoices/rules.ts";
import { figureDecimals, platformScope } from "../usage/meter.ts";
import {
  chartsOf,
  inFigureDecimals,
  intoBuckets,
  invoicesOf,
  queryOf,
  sumBySubject,
  summaryOf,
  toMoney,
  top,
  type Bucket,
  type Charts,
  type FigureOwner,
  type Sum,
  type Summary,
  type Top,
  type Volume,
} from "./figures.ts";
import type { ChartsInput, FiguresQuery, Period, TopInput } from "./query.ts";

export interface MerchantSummary extends Summary {
  readonly outstandingAmount: Money;
  readonly customerCount: number;
}

export interface PlatformSummary extends Summary {
  readonly organizationCount: number;
  readonly pendingReviewCount: number;
  /** Active and past due subscriptions, now. */
  readonly activeSubscriptionCount: number;
  /** Monthly price of those subscriptions' plans. */
  readonly monthlyRecurringRevenue: Money;
}

export interface MerchantCharts extends Charts {
  readonly statuses: readonly {
    readonly status: InvoiceStatus;
    readonly count: number;
    readonly amount: Money;
  }[];
}

export interface PlatformCharts extends Charts {
  /** Payments of platform invoices. */
  readonly revenue: readonly Bucket<Volume>[];
  readonly organizations: readonly Bucket<{
    readonly created: number;
    readonly approved: number;
  }>[];
}

export type TopCustomer = Top<NamedCustomer>;
export type TopWallet = Top<NamedWallet>;
export type TopOrganization = Top<NamedOrganization>;

/** The whole range of a JavaScript date from 1970 on. */
const always: Period = { from: 0, to: 8_640_000_000_000_000 };

/** Counts payments by block time and invoices by issue time; the outstanding amount and customers are current. */
export async function getMerchantSummary(
  app: App,
  organizationId: Id<"organization">,
  query: FiguresQuery,
): Promise<MerchantSummary> {
  const { db } = app;
  const question = queryOf(app, query);
  const [summary, outstandingAmount, customerCount] = await Promise.all([
    summaryOf(app, organizationId, question),
    outstanding(app, organizationId, question.currency),
    countCustomers(db, organizationId),
  ]);
  return { ...summary, outstandingAmount, customerCount };
}

/** Returns the series of a period, and its invoices by status. */
export async function getMerchantCharts(
  app: App,
  organizationId: Id<"organization">,
  query: ChartsInput,
): Promise<MerchantCharts> {
  const { db } = app;
  const question = queryOf(app, query);
  const { period, currency } = question;
  const charts = await chartsOf(app, organizationId, query);
  const [byStatus, drafts] = await Promise.all([
    invoicesOf(app, organizationId, question),
    draftsOf(db, organizationId, currency.code, period),
  ]);
  const sums = new Map<string, Pick<Sum<string>, "items" | "total">>([
    ...byStatus.map((sum) => [sum.key, sum] as const),
    ["draft", drafts],
  ]);
  const statuses = invoiceStatuses.map((status) => {
    const { items, total } = sums.get(status) ?? { items: 0, total: 0n };
    return { status, count: items, amount: toMoney(total, currency) };
  });
  return { ...charts, statuses };
}

/** Ranks an organization's customers, largest volume first. */
export function listTopCustomers(
  app: App,
  organizationId: Id<"organization">,
  query: TopInput,
): Promise<TopCustomer[]> {
  const { db } = app;
  return top(app, organizationId, "customer", query, (ids) =>
    customersById(db, organizationId, ids),
  );
}

/** Ranks an organization's wallets, largest volume first. */
export function listTopWallets(
  app: App,
  organizationId: Id<"organization">,
  query: TopInput,
): Promise<TopWallet[]> {
  const { db } = app;
  return top(app, organizationId, "wallet", query, (ids) => walletsById(db, organizationId, ids));
}

/** Counts as `getMerchantSummary` does, for all organizations. */
export async function getPlatformSummary(app: App, query: FiguresQuery): Promise<PlatformSummary> {
  const { db } = app;
  const question = queryOf(app, query);
  const { currency } = question;
  const [summary, organizationCount, pendingReviewCount, recurring] = await Promise.all([
    summaryOf(app, platformScope, question),
    countOrganizations(db),
    countPendingReviews(db),
    recurringRevenue(db, currency.code),
  ]);
  return {
    ...summary,
    organizationCount,
    pendingReviewCount,
    activeSubscriptionCount: recurring.subscriptions,
    monthlyRecurringRevenue: money(recurring.monthly, currency),
  };
}

/** Returns the series of a period for all organizations. */
export async function getPlatformCharts(app: App, query: ChartsInput): Promise<PlatformCharts> {
  const { db } = app;
  const charts = await chartsOf(app, platformScope, query);
  const { period, interval, starts, currency } = charts;
  const [created, approved, paid] = await Promise.all([
    organizationsPerDay(db, period),
    approvalsPerDay(db, period),
    platformRevenue(db, currency.code, period),
  ]);
  const paidIn = intoBuckets(paid, interval);
  const revenue = starts.map((start) => {
    const { items, total } = paidIn.get(start) ?? { items: 0, total: 0n };
    return { start, volume: money(total, currency), paymentCount: items };
  });
  const [createdIn, approvedIn] = [created, approved].map((days) =>
    intoBuckets(
      days.map((each) => ({ ...each, total: 0n })),
      interval,
    ),
  );
  const organizations = starts.map((start) => ({
    start,
    created: createdIn?.get(start)?.items ?? 0,
    approved: approvedIn?.get(start)?.items ?? 0,
  }));
  return { ...charts, revenue, organizations };
}

/** Ranks organizations, largest volume first. */
export function listTopOrganizations(app: App, query: TopInput): Promise<TopOrganization[]> {
  const { db } = app;
  return top(app, platformScope, "organization", query, (ids) => organizationsById(db, ids));
}

/** Returns an organization's name; null if it does not exist. */
export async function findOrganizationName(
  { db }: App,
  organizationId: Id<"organization">,
): Promise<string | null> {
  const [found] = await organizationsById(db, [organizationId]);
  return found?.name ?? null;
}

async function outstanding(
  { db, clock }: App,
  organizationId: Id<"organization">,
  currency: Asset,
): Promise<Money> {
  const query = {
    scope: organizationId,
    measure: "invoices",
    period: always,
    currency: currency.code,
  } as const;
  const [byStatus, partly] = await Promise.all([
    sumBySubject(db, query, clock.now()),
    askedByPartlyPaid(db, organizationId, currency.code),
  ]);
  const open = byStatus.find(({ key }) => key === "open");
  return toMoney((open?.total ?? 0n) + partly, currency);
}

/** Sums an organization's drafts by creation time. Drafts are not part of the figures. */
async function draftsOf(
  reader: Reader,
  organizationId: FigureOwner,
  currency: string,
  { from, to }: Period,
): Promise<Omit<Sum<string>, "key">> {
  const rows = `SELECT '' AS key, 1 AS items, 1 AS sign,
      ${inFigureDecimals("amount", "settlement_decimals")} AS amount
    FROM invoices WHERE organization_id = $1 AND status = 'draft' AND id >= $2 AND id < $3
      AND settlement_currency = $4`;
  const [sum] = await reader.all<{ items: number; total: string }>(
    signedSums(reader.dialect, rows),
    [organizationId, idFloor("invoice", from), idFloor("invoice", to), currency],
  );
  if (sum === undefined) return { items: 0, total: 0n };
  return { items: sum.items, total: decodeAmount(sum.total) };
}

/** Sums the amounts still owed on an organization's partially paid invoices, each rounded as the invoice shows it. */
async function askedByPartlyPaid(
  reader: Reader,
  organizationId: Id<"organization">,
  currency: string,
): Promise<bigint> {
  const rows = await reader.all<{
    amount: string;
    payable: string;
    seen: string;
    paid: string | null;
    decimals: number;
  }>(
    `SELECT amount, payable_amount AS "payable", seen_amount AS "seen", paid_amount AS "paid",
       settlement_decimals AS "decimals"
     FROM invoices WHERE organization_id = $1 AND status = 'partially_paid' AND settlement_currency = $2`,
    [organizationId, currency],
  );
  return rows.reduce((total, row) => {
    const amount = decodeAmount(row.amount);
    const paid =
      row.paid === null
        ? settlementOf(decodeAmount(row.seen), {
            amount,
            payableAmount: decodeAmount(row.payable),
            // Nothing of a partially paid invoice is rounded.
            dustAmount: null,
          })
        : decodeAmount(row.paid);
    return total + (amount - paid) * powerOfTen(figureDecimals - row.decimals);
  }, 0n);
}

async function countCustomers(reader: Reader, organizationId: Id<"organization">): Promise<number> {
  return count(reader, "customers WHERE organization_id = $1", [organizationId]);
}

async function countOrganizations(reader: Reader): Promise<number> {
  return count(reader, "organizations", []);
}

async function countPendingReviews(reader: Reader): Promise<number> {
  return count(reader, "organizations WHERE verification_status = 'pending_review'", []);
}

async function count(reader: Reader, of: string, values: readonly string[]): Promise<number> {
  const [row] = await reader.all<{ items: number }>(
    `SELECT CAST(COUNT(*) AS INTEGER) AS items FROM ${of}`,
    values,
  );
  return row?.items ?? 0;
}

/** Number of items per UTC day; `key` is the start of the day. */
type PerDay = { readonly key: Instant; readonly items: number }[];

const dayOfCreation = `created_at - created_at % ${String(day)}`;

function organizationsPerDay(reader: Reader, { from, to }: Period): Promise<PerDay> {
  return reader.all(
    `SELECT ${dayOfCreation} AS key, CAST(COUNT(*) AS INTEGER) AS items FROM organizations
     WHERE id >= $1 AND id < $2 GROUP BY ${dayOfCreation}`,
    [idFloor("organization", from), idFloor("organization", to)],
  );
}

/** Counts approvals per day; repeated approvals of an organization count each time. */
function approvalsPerDay(reader: Reader, { from, to }: Period): Promise<PerDay> {
  return reader.all(
    `SELECT ${dayOfCreation} AS key, CAST(COUNT(*) AS INTEGER) AS items FROM organization_reviews
     WHERE id >= $1 AND id < $2 AND decision = 'approve' GROUP BY ${dayOfCreation}`,
    [idFloor("review", from), idFloor("review", to)],
  );
}

interface NamedCustomer {
  readonly id: Id<"customer">;
  readonly name: string;
  readonly email: string | null;
}

function customersById(
  reader: Reader,
  organizationId: Id<"organization">,
  ids: readonly string[],
): Promise<NamedCustomer[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return reader.all(
    `SELECT id, name, email FROM customers WHERE organization_id = $1 AND id IN (${parameters(ids, 2)})`,
    [organizationId, ...ids],
  );
}

interface NamedWallet {
  readonly id: Id<"wallet">;
  readonly label: string;
  readonly network: string;
  readonly address: string;
}

function walletsById(
  reader: Reader,
  organizationId: Id<"organization">,
  ids: readonly string[],
): Promise<NamedWallet[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return reader.all(
    `SELECT id, label, network, shown_address AS "address" FROM wallets
     WHERE organization_id = $1 AND id IN (${parameters(ids, 2)})`,
    [organizationId, ...ids],
  );
}

interface NamedOrganization {
  readonly id: Id<"organization">;
  readonly name: string;
}

function organizationsById(reader: Reader, ids: readonly string[]): Promise<NamedOrganization[]> {
  if (ids.length === 0) return Promise.resolve([]);
  return reader.all(
    `SELECT id, display_name AS "name" FROM organizations WHERE id IN (${parameters(ids, 1)})`,
    ids,
  );
}

function parameters(values: readonly string[], first: number): string {
  return values.map((_value, index) => `$${String(first + index)}`).join(", ");
}
