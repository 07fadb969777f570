import { toIso, toIsoOrNull, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { formatMoney, money, settlementAsset } from "../../../kernel/money/money.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { batchesOf } from "../../../platform/database/query/lists.ts";
import { namesOf } from "../../organizations/store.ts";
import { linesOf } from "../invoices/platform-invoices.ts";
import {
  platformInvoices,
  subscriptions,
  type PlatformInvoiceLineRow,
  type PlatformInvoiceRow,
} from "../table.ts";
import type { RehearsalPlan } from "./rehearsal.ts";

/** Rows that are read at a time. */
const pageSize = 500;

type Scope = Pick<RehearsalPlan, "from" | "organizationId">;

/** True for invoices that were unpaid when the rehearsal began, or that it issued. */
const concerned = `(issued_at >= $1 OR paid_at >= $1 OR voided_at >= $1
  OR status IN ('open', 'past_due'))`;

/**
 * The invoices that were unpaid when the rehearsal began and those that it issued, in the order of their issue, with
 * their state at its end.
 */
export async function* rehearsedInvoices(
  reader: Reader,
  { from, organizationId }: Scope,
): AsyncGenerator<RehearsedInvoice> {
  const own = organizationId === null ? "" : "AND organization_id = $3";
  const values = organizationId === null ? [] : [organizationId];
  const read = (after: string) =>
    reader.find(
      platformInvoices,
      `WHERE ${concerned} AND id > $2 ${own} ORDER BY id LIMIT ${String(pageSize)}`,
      [from, after, ...values],
    );
  for await (const rows of batchesOf(pageSize, read, ({ id }) => id)) {
    const lines = await linesOf(
      reader,
      rows.map(({ id }) => id),
    );
    const names = await namesOf(
      reader,
      rows.map((row) => row.organizationId),
    );
    for (const row of rows) {
      const name = names.get(row.organizationId) ?? "";
      yield { row, shown: presentInvoice(row, name, lines.get(row.id) ?? []) };
    }
  }
}

/** An invoice of a rehearsal, as stored and as shown. */
export interface RehearsedInvoice {
  readonly row: PlatformInvoiceRow;
  readonly shown: ReturnType<typeof presentInvoice>;
}

/** Presents an invoice without the ids and links that a later real invoice will not have. */
function presentInvoice(
  row: PlatformInvoiceRow,
  organizationName: string,
  lines: readonly PlatformInvoiceLineRow[],
) {
  const { number, organizationId, subscriptionId, status, currency } = row;
  const asset = settlementAsset(currency, row.decimals);
  const amount = (units: bigint) => formatMoney(money(units, asset));
  return {
    number,
    organizationId,
    organizationName,
    subscriptionId,
    status,
    periodStart: toIso(row.periodStart),
    periodEnd: toIso(row.periodEnd),
    issuedAt: toIso(row.issuedAt),
    dueAt: toIso(row.dueAt),
    pastDueAt: toIsoOrNull(row.pastDueAt),
    paidAt: toIsoOrNull(row.paidAt),
    voidedAt: toIsoOrNull(row.voidedAt),
    subtotal: amount(row.subtotal),
    discountTotal: amount(row.discountTotal),
    creditTotal: amount(row.creditTotal),
    total: amount(row.total),
    currency,
    lines: lines.map((line) => ({
      kind: line.kind,
      description: line.description,
      quantity: line.quantity,
      unitAmount: amount(line.unitAmount),
      amount: amount(line.amount),
    })),
  };
}

/** A step of a subscription, or a change of an invoice or balance. */
export interface RehearsedEvent {
  readonly at: string;
  readonly organizationId: string;
  readonly organizationName: string;
  /** As in the audit log, such as `subscription.renewed`. */
  readonly event: string;
  readonly changes: Readonly<Record<string, unknown>>;
}

/** The entries of the audit log about billing, and the only event of billing that has none. */
const entries = `
  SELECT substr(id, 5) AS place, created_at AS at, organization_id, action AS event, changes
    FROM audit_logs WHERE id > $1
      AND target_type IN ('subscription', 'platform_invoice', 'credit', 'discount', 'adjustment')
  UNION ALL
  SELECT substr(id, 5), occurred_at, organization_id, type, payload
    FROM events WHERE id > $2 AND type = 'usage.threshold_reached'`;

interface Entry {
  readonly cursor: string;
  readonly at: Instant;
  readonly organizationId: string;
  readonly event: string;
  readonly changes: string;
}

/** Everything that billing recorded during a rehearsal, in order. */
export async function* rehearsedEvents(
  reader: Reader,
  { organizationId }: Scope,
): AsyncGenerator<RehearsedEvent> {
  const own = organizationId === null ? "" : "WHERE organization_id = $3";
  const values = organizationId === null ? [] : [organizationId];
  // All ids have prefixes of equal length; the rest sorts by creation.
  const read = (after: string) =>
    reader.all<Entry>(
      `SELECT place AS "cursor", at AS "at", organization_id AS "organizationId", event AS "event",
         changes AS "changes" FROM (${entries}) AS entries ${own}
       ORDER BY place LIMIT ${String(pageSize)}`,
      [`aud_${after}`, `evt_${after}`, ...values],
    );
  for await (const rows of batchesOf(pageSize, read, ({ cursor }) => cursor)) {
    const names = await namesOf(
      reader,
      rows.map((row) => row.organizationId),
    );
    for (const row of rows) {
      yield {
        at: toIso(row.at),
        organizationId: row.organizationId,
        organizationName: names.get(row.organizationId) ?? "",
        event: row.event,
        changes: JSON.parse(row.changes) as Readonly<Record<string, unknown>>,
      };
    }
  }
}

/** A subscription that could not be billed at the end of a rehearsal. */
export interface RehearsedFailure {
  readonly subscriptionId: Id<"subscription">;
  readonly organizationId: Id<"organization">;
  readonly organizationName: string;
  /** Since when it fails. */
  readonly since: string;
  readonly reason: string;
}

/** The subscriptions that could not be billed at the end of a rehearsal. */
export async function* rehearsedFailures(
  reader: Reader,
  { organizationId }: Scope,
): AsyncGenerator<RehearsedFailure> {
  const own = organizationId === null ? "" : "AND organization_id = $2";
  const values = organizationId === null ? [] : [organizationId];
  const read = (after: string) =>
    reader.find(
      subscriptions,
      `WHERE parked_at IS NOT NULL AND id > $1 ${own} ORDER BY id LIMIT ${String(pageSize)}`,
      [after, ...values],
    );
  for await (const rows of batchesOf(pageSize, read, ({ id }) => id)) {
    const names = await namesOf(
      reader,
      rows.map((row) => row.organizationId),
    );
    for (const row of rows) {
      yield {
        subscriptionId: row.id,
        organizationId: row.organizationId,
        organizationName: names.get(row.organizationId) ?? "",
        since: toIso(row.parkedAt ?? 0),
        reason: row.parkReason ?? "",
      };
    }
  }
}

/** Counts the subscriptions that are not canceled. */
export async function countLive(reader: Reader, { organizationId }: Scope): Promise<number> {
  const own = organizationId === null ? "" : "AND organization_id = $1";
  const [row] = await reader.all<{ live: number }>(
    `SELECT COUNT(*) AS "live" FROM subscriptions WHERE status <> 'canceled' ${own}`,
    organizationId === null ? [] : [organizationId],
  );
  return row?.live ?? 0;
}

type Summed = Pick<
  PlatformInvoiceRow,
  | ("status" | "currency" | "decimals" | "issuedAt" | "twinId")
  | ("subtotal" | "discountTotal" | "creditTotal" | "total")
>;

/**
 * The sums of the platform invoices of one month and currency, as decimal text. Subtotal − discounts − credits = total
 * = paid + carried + unpaid. Void invoices are only counted.
 */
export interface MonthlySum {
  /** The UTC month of the issue, such as `2026-12`; null: all months. */
  readonly month: string | null;
  readonly currency: string;
  readonly invoices: number;
  readonly voided: number;
  readonly subtotal: string;
  readonly discounts: string;
  readonly credits: string;
  readonly total: string;
  readonly paid: string;
  /** Totals too small to be collected, which the next invoice contains again as an adjustment. */
  readonly carried: string;
  readonly unpaid: string;
}

interface Sum {
  readonly decimals: number;
  invoices: number;
  voided: number;
  readonly amounts: Record<Amount, bigint>;
}

const amounts = [
  ...(["subtotal", "discounts", "credits", "total"] as const),
  ...(["paid", "carried", "unpaid"] as const),
] as const;
type Amount = (typeof amounts)[number];

/** Adds platform invoices up by month of issue and by currency. */
interface MonthlySums {
  add(invoice: Summed): void;
  /** Returns the sums by currency and month; `foot` returns those of all months. */
  months(): readonly MonthlySum[];
  foot(): readonly MonthlySum[];
}

export function makeMonthlySums(): MonthlySums {
  const sums = new Map<string, Map<string, Sum>>();
  const feet = new Map<string, Sum>();

  return {
    add(invoice) {
      const { currency, issuedAt, decimals } = invoice;
      const month = toIso(issuedAt).slice(0, "2026-12".length);
      const own = sums.get(currency) ?? new Map<string, Sum>();
      sums.set(currency, own);
      const inMonth = own.get(month) ?? emptySum(decimals);
      own.set(month, inMonth);
      const foot = feet.get(currency) ?? emptySum(decimals);
      feet.set(currency, foot);
      for (const sum of [inMonth, foot]) addTo(sum, invoice);
    },
    months: () =>
      sorted(sums).flatMap(([currency, own]) =>
        sorted(own).map(([month, sum]) => present(month, currency, sum)),
      ),
    foot: () => sorted(feet).map(([currency, sum]) => present(null, currency, sum)),
  };
}

function emptySum(decimals: number): Sum {
  const zeros = Object.fromEntries(amounts.map((name) => [name, 0n])) as Record<Amount, bigint>;
  return { decimals, invoices: 0, voided: 0, amounts: zeros };
}

function addTo(sum: Sum, invoice: Summed): void {
  if (invoice.status === "void") {
    sum.voided += 1;
    return;
  }
  const { total, status, twinId } = invoice;
  sum.invoices += 1;
  sum.amounts.subtotal += invoice.subtotal;
  sum.amounts.discounts += invoice.discountTotal;
  sum.amounts.credits += invoice.creditTotal;
  sum.amounts.total += total;
  // An invoice that nobody is asked to pay counts as paid, but its total is charged again.
  const end = status !== "paid" ? "unpaid" : twinId === null ? "carried" : "paid";
  sum.amounts[end] += total;
}

function present(month: string | null, currency: string, sum: Sum): MonthlySum {
  const { decimals, invoices, voided } = sum;
  const asset = settlementAsset(currency, decimals);
  const shown = amounts.map((name) => [name, formatMoney(money(sum.amounts[name], asset))]);
  return {
    month,
    currency,
    invoices,
    voided,
    ...(Object.fromEntries(shown) as Record<Amount, string>),
  };
}

function sorted<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].sort(([one], [other]) => (one < other ? -1 : 1));
}
