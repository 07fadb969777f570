import { day, type Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { decodeAmount, type SqlValue } from "../../platform/database/schema/table.ts";
import { signedSums } from "../../platform/database/query/sum-amounts.ts";
import type { Reader } from "../../platform/database/database.ts";
import { figureDecimals, platformScope, type Measure } from "../usage/table.ts";
import type { Period } from "./periods.ts";
import { planReading } from "./periods.ts";

/** An organization's figures, or those of the whole platform. */
export type FigureOwner = Id<"organization"> | typeof platformScope;

/** A sum of figures. */
export interface Sum<Key> {
  readonly key: Key;
  readonly items: number;
  /** Amount with `figureDecimals` decimals. */
  readonly total: bigint;
}

export interface Reading {
  readonly scope: FigureOwner;
  readonly measure: Measure;
  readonly period: Period;
  /** Null for every currency; then only `items` is meaningful. */
  readonly currency: string | null;
}

/** Sums the figures of a period by subject, in no particular order. */
export function sumBySubject(
  reader: Reader,
  reading: Reading,
  now: Instant,
): Promise<Sum<string>[]> {
  return readSums<string>(reader, reading, now, "subject", "", []);
}

/** Returns the subjects with the largest totals, largest first. */
export function largestSubjects(
  reader: Reader,
  reading: Reading,
  now: Instant,
  limit: number,
): Promise<Sum<string>[]> {
  const rest = `WHERE items > 0 ORDER BY total DESC, items DESC, key LIMIT $${String(plannedValues + 1)}`;
  return readSums<string>(reader, reading, now, "subject", rest, [limit]);
}

/** Sums the figures of a period by UTC day; days without figures are omitted. `key` is the start of the day. */
export function sumByDay(reader: Reader, reading: Reading, now: Instant): Promise<Sum<Instant>[]> {
  return readSums<Instant>(reader, reading, now, "day", "", []);
}

async function readSums<Key>(
  reader: Reader,
  { scope, measure, period, currency }: Reading,
  now: Instant,
  by: "subject" | "day",
  rest: string,
  more: readonly SqlValue[],
): Promise<Sum<Key>[]> {
  const { borders, edges } = planReading(period, now);
  const rows = rowsOf(scope === platformScope, measure, by);
  const sums = signedSums(reader.dialect, rows);
  const found = await reader.all<{ key: Key; items: number; total: string }>(
    `SELECT key, items, total FROM (${sums}) AS summed ${rest}`,
    [
      scope,
      measure,
      currency ?? everyCurrency,
      ...borders,
      ...edges.flatMap((edge) => [edge.from, edge.to, edge.sign]),
      ...more,
    ],
  );
  return found.map(({ key, items, total }) => ({ key, items, total: decodeAmount(total) }));
}

const everyCurrency = "*";
/** Number of values that every statement binds. */
const plannedValues = 13;

const dayOf = (column: string) => `${column} - ${column} % ${String(day)}`;

/**
 * Builds the query of a period's figures. One statement, so that a concurrent change counts exactly once. It adds sums
 * of whole days and hours, changes that are not summed yet, and the invoices or payments themselves where the period
 * starts or ends within an hour.
 */
function rowsOf(isPlatform: boolean, measure: Measure, by: "subject" | "day"): string {
  const stored = (grain: string, from: number, to: number) =>
    `SELECT ${by === "day" ? dayOf("starts_at") : "subject"} AS key, items, sign, amount FROM figures
     WHERE organization_id = $1 AND measure = $2 AND grain = '${grain}'
       AND starts_at >= $${String(from)} AND starts_at < $${String(to)} AND ${isCurrency("currency")}`;
  // Platform-wide changes are stored only once, under the organization they belong to.
  const written = measure === "organization" ? "volume" : measure;
  const subject = measure === "organization" ? "organization_id" : "subject";
  const changes = `SELECT ${by === "day" ? dayOf("happened_at") : subject} AS key, items, sign, amount
     FROM figure_changes
     WHERE ${isPlatform ? "$1 = $1" : "organization_id = $1"} AND measure = '${written}'
       AND happened_at >= $4 AND happened_at < $7 AND ${isCurrency("currency")}`;
  return [
    stored("hour", 4, 5),
    stored("day", 5, 6),
    stored("hour", 6, 7),
    changes,
    edgeRows(isPlatform, measure, by, 8),
    edgeRows(isPlatform, measure, by, 11),
  ].join(" UNION ALL ");
}

const isCurrency = (column: string) => `($3 = '${everyCurrency}' OR ${column} = $3)`;

/** The SQL source of single items, for parts of an hour. */
interface Source {
  readonly from: string;
  readonly organization: string;
  readonly time: string;
  readonly currency: string;
  readonly amount: string;
  readonly subject: string;
  readonly condition: string;
}

const paymentSource: Omit<Source, "subject"> = {
  from: "payments p",
  organization: "p.organization_id",
  time: "p.block_time",
  currency: "p.settlement_currency",
  amount: inFigureDecimals("p.settlement_amount", "p.settlement_decimals"),
  condition: "p.status = 'confirmed'",
};
const invoiceOfPayment = "payments p JOIN invoices i ON i.id = p.invoice_id";

const sources: Readonly<Record<Measure, Source>> = {
  invoices: {
    from: "invoices i",
    organization: "i.organization_id",
    time: "i.issued_at",
    currency: "i.settlement_currency",
    amount: inFigureDecimals("i.amount", "i.settlement_decimals"),
    subject: "i.status",
    condition: "i.issued_at IS NOT NULL",
  },
  volume: { ...paymentSource, subject: "''" },
  organization: { ...paymentSource, subject: "p.organization_id" },
  wallet: {
    ...paymentSource,
    from: invoiceOfPayment,
    subject: "COALESCE(p.wallet_id, i.wallet_id)",
    condition: `${paymentSource.condition} AND COALESCE(p.wallet_id, i.wallet_id) IS NOT NULL`,
  },
  customer: {
    ...paymentSource,
    from: invoiceOfPayment,
    subject: "i.customer_id",
    condition: `${paymentSource.condition} AND i.customer_id IS NOT NULL`,
  },
};

function edgeRows(
  isPlatform: boolean,
  measure: Measure,
  by: "subject" | "day",
  at: number,
): string {
  const source = sources[measure];
  const [from, to, sign] = [at, at + 1, at + 2].map(
    (place) => `CAST($${String(place)} AS BIGINT)`,
  ) as [string, string, string];
  // The index starts with the organization, so the platform looks up each organization in it.
  const owner = isPlatform ? "IN (SELECT id FROM organizations)" : "= $1";
  return `SELECT ${by === "day" ? dayOf(from) : source.subject} AS key, ${sign} AS items, ${sign} AS sign,
      ${source.amount} AS amount
    FROM ${source.from}
    WHERE ${source.organization} ${owner} AND ${source.condition}
      AND ${source.time} >= ${from} AND ${source.time} < ${to} AND ${isCurrency(source.currency)}`;
}

/** SQL that converts a stored amount to the figures' number of decimals: again 78 digits. */
export function inFigureDecimals(amount: string, decimals: string): string {
  const zeros = "0".repeat(figureDecimals);
  return `SUBSTR(${amount} || '${zeros}', CAST(${String(figureDecimals + 1)} - ${decimals} AS INTEGER), 78)`;
}
