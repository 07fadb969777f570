import type { Instant } from "../../kernel/clock.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import { powerOfTen } from "../../kernel/money/ratio.ts";
import type { Tx } from "../../platform/database/index.ts";
import { figureChanges, figureDecimals, type Measure } from "./table.ts";

/** Fields of an invoice that the figures use. */
export interface MeteredInvoice {
  readonly organizationId: Id<"organization">;
  /** Set for an invoice that another feature manages; it is not part of its organization's figures. */
  readonly managedBy: string | null;
  readonly status: string;
  readonly issuedAt: Instant | null;
  readonly amount: bigint;
  readonly settlementCurrency: string;
  readonly settlementDecimals: number;
}

/** Fields of a payment that the figures use. */
export interface MeteredPayment {
  readonly organizationId: Id<"organization">;
  readonly status: string;
  readonly blockTime: Instant;
  readonly settlementAmount: bigint;
  readonly settlementCurrency: string;
  readonly settlementDecimals: number;
}

/** Wallet and customer of a payment. */
export interface PaymentSubjects {
  readonly walletId: Id<"wallet"> | null;
  readonly customerId: Id<"customer"> | null;
  /** `managedBy` of the payment's invoice. */
  readonly managedBy: string | null;
}

/** An item's contribution to the figures. */
interface Counted {
  readonly organizationId: Id<"organization">;
  readonly measure: Measure;
  readonly happenedAt: Instant;
  readonly currency: string;
  readonly subject: string;
  readonly amount: bigint;
}

/**
 * Replaces an invoice's contribution to the figures; `before` is null for a new invoice. Only issued invoices count.
 * The change is appended at the commit, so that issuing waits neither for a statement nor for another invoice.
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

/** Replaces a payment's contribution: it counts while confirmed and is removed when reverted. */
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
