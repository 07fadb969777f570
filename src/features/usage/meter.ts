import type { Instant } from "../../kernel/clock.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import { powerOfTen } from "../../kernel/ratio.ts";
import type { Tx } from "../../platform/database/index.ts";
import { figureChanges, figureDecimals, type Measure } from "./table.ts";

/** What the figures know of an invoice. */
export interface MeteredInvoice {
  readonly organizationId: Id<"organization">;
  /** An invoice that somebody else manages is in their figures: it is no business of its organization. */
  readonly managedBy: string | null;
  readonly status: string;
  readonly issuedAt: Instant | null;
  readonly amount: bigint;
  readonly settlementCurrency: string;
  readonly settlementDecimals: number;
}

/** What the figures know of a payment. */
export interface MeteredPayment {
  readonly organizationId: Id<"organization">;
  readonly status: string;
  readonly blockTime: Instant;
  readonly settlementAmount: bigint;
  readonly settlementCurrency: string;
  readonly settlementDecimals: number;
}

/** Whose money a payment is, beside its organization. */
export interface PaymentSubjects {
  readonly walletId: Id<"wallet"> | null;
  readonly customerId: Id<"customer"> | null;
  /** As of the payment's invoice. */
  readonly managedBy: string | null;
}

/** One item as it stands in the figures. */
interface Counted {
  readonly organizationId: Id<"organization">;
  readonly measure: Measure;
  readonly happenedAt: Instant;
  readonly currency: string;
  readonly subject: string;
  readonly amount: bigint;
}

/**
 * Takes an invoice out of the figures as it was and puts it in as it is now; `before` is null for a new one. Only what
 * was issued counts. The row joins those that are written at the commit, so that issuing waits for no statement and
 * for no other invoice.
 */
export function meterInvoice(
  tx: Tx,
  ids: IdSource,
  at: Instant,
  before: MeteredInvoice | null,
  after: MeteredInvoice,
): void {
  change(tx, ids, at, before === null ? [] : countedInvoice(before), countedInvoice(after));
}

/** The same for a payment: it counts while it is confirmed, and a reverted one is taken out again. */
export function meterPayment(
  tx: Tx,
  ids: IdSource,
  at: Instant,
  subjects: PaymentSubjects,
  before: MeteredPayment | null,
  after: MeteredPayment,
): void {
  change(
    tx,
    ids,
    at,
    before === null ? [] : countedPayment(before, subjects),
    countedPayment(after, subjects),
  );
}

function countedInvoice(invoice: MeteredInvoice): Counted[] {
  if (invoice.issuedAt === null || invoice.managedBy !== null) return [];
  return [
    {
      organizationId: invoice.organizationId,
      measure: "invoices",
      happenedAt: invoice.issuedAt,
      currency: invoice.settlementCurrency,
      subject: invoice.status,
      amount: toFigure(invoice.amount, invoice.settlementDecimals),
    },
  ];
}

function countedPayment(payment: MeteredPayment, subjects: PaymentSubjects): Counted[] {
  if (payment.status !== "confirmed" || subjects.managedBy !== null) return [];
  const measures: [Measure, string | null][] = [
    ["volume", ""],
    ["wallet", subjects.walletId],
    ["customer", subjects.customerId],
  ];
  return measures.flatMap(([measure, subject]) =>
    subject === null
      ? []
      : [
          {
            organizationId: payment.organizationId,
            measure,
            happenedAt: payment.blockTime,
            currency: payment.settlementCurrency,
            subject,
            amount: toFigure(payment.settlementAmount, payment.settlementDecimals),
          },
        ],
  );
}

function toFigure(units: bigint, decimals: number): bigint {
  return units * powerOfTen(figureDecimals - decimals);
}

function change(
  tx: Tx,
  ids: IdSource,
  at: Instant,
  before: readonly Counted[],
  after: readonly Counted[],
): void {
  const gone = before.filter((item) => !after.some((other) => isSame(item, other)));
  const added = after.filter((item) => !before.some((other) => isSame(item, other)));
  for (const [items, sign] of [
    [gone, -1],
    [added, 1],
  ] as const) {
    for (const item of items)
      tx.append(figureChanges, { ...item, id: ids.next("figure", at), sign });
  }
}

function isSame(one: Counted, other: Counted): boolean {
  const names = Object.keys(one) as (keyof Counted)[];
  return names.every((name) => one[name] === other[name]);
}
