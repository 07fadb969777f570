import { toIso, toIsoOrNull, type Instant } from "../../../kernel/clock.ts";
import type { Id } from "../../../kernel/id.ts";
import { formatMoney, money, settlementAsset } from "../../../kernel/money/money.ts";
import type { Reader } from "../../../platform/database/database.ts";
import { batchesOf } from "../../../platform/database/query/lists.ts";
import { namesOf } from "../../organizations/store.ts";
import { linesOf } from "../invoices/platform-invoices.ts";
import { presentLine, presentTotals } from "../records.ts";
import {
  platformInvoices,
  type PlatformInvoiceLineRow,
  type PlatformInvoiceRow,
} from "../table.ts";
import type { RehearsalPlan } from "./rehearsal.ts";

// The report of a rehearsal, read from its copy of the store, which is SQLite: a parameter that is null leaves a condition
// on the organization out.

/** Rows that are read at a time. */
const pageSize = 500;

type Scope = Pick<RehearsalPlan, "from" | "organizationId">;

/** An invoice of a rehearsal, as stored and as shown. */
export interface RehearsedInvoice {
  readonly row: PlatformInvoiceRow;
  readonly shown: ReturnType<typeof presentRehearsed>;
}

/**
 * The invoices that were unpaid when the rehearsal began and those that it issued, in the order of their issue, with
 * their state at its end.
 */
export async function* rehearsedInvoices(
  reader: Reader,
  { from, organizationId: owner }: Scope,
): AsyncGenerator<RehearsedInvoice> {
  const read = (after: string) =>
    reader.find(
      platformInvoices,
      `WHERE (issued_at >= $1 OR paid_at >= $1 OR voided_at >= $1 OR status IN ('open', 'past_due'))
         AND id > $2 AND ($3 IS NULL OR organization_id = $3) ORDER BY id LIMIT ${String(pageSize)}`,
      [from, after, owner],
    );
  for await (const rows of batchesOf(pageSize, read, (row) => row.id)) {
    const ids = rows.map((row) => row.id);
    const owners = rows.map((row) => row.organizationId);
    const [lines, names] = [await linesOf(reader, ids), await namesOf(reader, owners)];
    for (const row of rows) {
      const organizationName = names.get(row.organizationId) ?? "";
      yield { row, shown: presentRehearsed(row, organizationName, lines.get(row.id) ?? []) };
    }
  }
}

/** Presents an invoice without the ids and links that a later real invoice will not have. */
function presentRehearsed(
  row: PlatformInvoiceRow,
  organizationName: string,
  lines: readonly PlatformInvoiceLineRow[],
) {
  return {
    number: row.number,
    organizationId: row.organizationId,
    organizationName,
    subscriptionId: row.subscriptionId,
    status: row.status,
    periodStart: toIso(row.periodStart),
    periodEnd: toIso(row.periodEnd),
    issuedAt: toIso(row.issuedAt),
    dueAt: toIso(row.dueAt),
    pastDueAt: toIsoOrNull(row.pastDueAt),
    paidAt: toIsoOrNull(row.paidAt),
    voidedAt: toIsoOrNull(row.voidedAt),
    ...presentTotals(row, row),
    currency: row.currency,
    lines: lines.map((line) => presentLine(line, row)),
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

interface Entry extends Omit<RehearsedEvent, "at" | "changes"> {
  readonly at: Instant;
  readonly changes: string;
  readonly place: string;
}

/** Everything that billing recorded during a rehearsal, in order: in the audit log, and the only event that is not in it. */
export async function* rehearsedEvents(
  reader: Reader,
  { organizationId: owner }: Scope,
): AsyncGenerator<RehearsedEvent> {
  // All ids have prefixes of equal length; the rest sorts by creation.
  const read = (after: string) =>
    reader.all<Entry>(
      `SELECT at AS "at", organization_id AS "organizationId",
         (SELECT name FROM organizations o WHERE o.id = e.organization_id) AS "organizationName",
         event AS "event", changes AS "changes", place AS "place"
       FROM (
         SELECT substr(id, 5) AS place, created_at AS at, organization_id, action AS event, changes
           FROM audit_logs WHERE id > $1
             AND target_type IN ('subscription', 'platform_invoice', 'credit', 'discount', 'adjustment')
         UNION ALL
         SELECT substr(id, 5), occurred_at, organization_id, type, payload
           FROM events WHERE id > $2 AND type = 'usage.threshold_reached'
       ) AS e
       WHERE $3 IS NULL OR organization_id = $3 ORDER BY place LIMIT ${String(pageSize)}`,
      [`aud_${after}`, `evt_${after}`, owner],
    );
  for await (const rows of batchesOf(pageSize, read, ({ place }) => place)) {
    for (const { place: _place, at, changes, ...event } of rows) {
      const parsed = JSON.parse(changes) as RehearsedEvent["changes"];
      yield { at: toIso(at), ...event, changes: parsed };
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
  { organizationId: owner }: Scope,
): AsyncGenerator<RehearsedFailure> {
  const read = (after: string) =>
    reader.all<Omit<RehearsedFailure, "since"> & { readonly since: Instant }>(
      `SELECT s.id AS "subscriptionId", o.id AS "organizationId", o.name AS "organizationName",
         s.parked_at AS "since", s.park_reason AS "reason"
       FROM subscriptions s JOIN organizations o ON o.id = s.organization_id
       WHERE s.parked_at IS NOT NULL AND s.id > $1 AND ($2 IS NULL OR o.id = $2)
       ORDER BY s.id LIMIT ${String(pageSize)}`,
      [after, owner],
    );
  for await (const rows of batchesOf(pageSize, read, (row) => row.subscriptionId)) {
    yield* rows.map((row) => ({ ...row, since: toIso(row.since) }));
  }
}

/** Counts the subscriptions that are not canceled. */
export async function countLive(reader: Reader, scope: Scope): Promise<number> {
  const [row] = await reader.all<{ live: number }>(
    `SELECT COUNT(*) AS "live" FROM subscriptions
     WHERE status <> 'canceled' AND ($1 IS NULL OR organization_id = $1)`,
    [scope.organizationId],
  );
  return row?.live ?? 0;
}

type Summed = Pick<
  PlatformInvoiceRow,
  | ("status" | "currency" | "decimals" | "issuedAt" | "twinId")
  | ("subtotal" | "discountTotal" | "creditTotal" | "total")
>;

/** The amounts of a sum: subtotal − discounts − credits = total = paid + carried + unpaid. */
const amounts = [
  ...(["subtotal", "discounts", "credits", "total"] as const),
  // `carried` are totals too small to be collected, which the next invoice contains again as an adjustment.
  ...(["paid", "carried", "unpaid"] as const),
] as const;
type Amount = (typeof amounts)[number];

/** The sums of the platform invoices of one month and currency, as decimal text. Void invoices are only counted. */
export interface MonthlySum extends Readonly<Record<Amount, string>> {
  /** The UTC month of the issue, such as `2026-12`; null: all months. */
  readonly month: string | null;
  readonly currency: string;
  readonly invoices: number;
  readonly voided: number;
}

function amountsOf({ status, twinId, total, ...one }: Summed): Record<Amount, bigint> {
  const { subtotal, discountTotal: discounts, creditTotal: credits } = one;
  // An invoice that nobody is asked to pay counts as paid, but its total is charged again.
  const end = status !== "paid" ? "unpaid" : twinId === null ? "carried" : "paid";
  const ends = { paid: 0n, carried: 0n, unpaid: 0n, [end]: total };
  return { subtotal, discounts, credits, total, ...ends };
}

/** Adds platform invoices up by currency and month of issue. `foot` returns the sums of all months. */
export function makeMonthlySums() {
  const sums = new Map<string, ReturnType<typeof emptySum>>();
  const addTo = (month: string | null, invoice: Summed) => {
    const key = `${invoice.currency} ${month ?? ""}`;
    const sum = sums.get(key) ?? emptySum(month, invoice);
    sums.set(key, sum);
    if (invoice.status === "void") {
      sum.voided += 1;
      return;
    }
    const its = amountsOf(invoice);
    sum.invoices += 1;
    for (const name of amounts) sum.amounts[name] += its[name];
  };
  const shown = (isFoot: boolean) =>
    [...sums]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([, sum]) => ((sum.month === null) === isFoot ? [present(sum)] : []));
  return {
    add(invoice: Summed): void {
      addTo(toIso(invoice.issuedAt).slice(0, "2026-12".length), invoice);
      addTo(null, invoice);
    },
    months: () => shown(false),
    foot: () => shown(true),
  };
}

function emptySum(month: string | null, { currency, decimals }: Summed) {
  const zeros = Object.fromEntries(amounts.map((name) => [name, 0n])) as Record<Amount, bigint>;
  return { month, currency, decimals, invoices: 0, voided: 0, amounts: zeros };
}

function present(sum: ReturnType<typeof emptySum>): MonthlySum {
  const { month, currency, decimals, invoices, voided } = sum;
  const asset = settlementAsset(currency, decimals);
  const shown = amounts.map((name) => [name, formatMoney(money(sum.amounts[name], asset))]);
  const texts = Object.fromEntries(shown) as Record<Amount, string>;
  return { month, currency, invoices, voided, ...texts };
}
