import { hour, type Instant } from "../../kernel/clock.ts";
import type { Id, IdSource } from "../../kernel/id.ts";
import { powerOfTen } from "../../kernel/money/ratio.ts";
import type { Tx } from "../../platform/database/database.ts";
import { amount, integer, table, text, time } from "../../platform/database/schema/table.ts";

/** The counted quantities. The subject subdivides a measure. */
export type Measure =
  /** Issued invoices by issue time, with their amounts; the subject is the status. */
  | "invoices"
  /** Confirmed payments by block time, with their values; the only subject is the empty string. */
  | "volume"
  /** The same payments by receiving wallet. */
  | "wallet"
  /** The same payments by the invoice's customer; payments without a customer are omitted. */
  | "customer"
  /** The same payments by organization; platform figures only. */
  | "organization";

export type Grain = "hour" | "day";

/** The owner of figures across all organizations. */
export const platformScope = "platform";

/** Number of decimals of all amounts in figures, because networks use different units for the same token. */
export const figureDecimals = 36;

/** Changes not yet added to the sums: written in the transaction of the change, deleted when summed. */
export const figureChanges = table(
  "figure_changes",
  {
    organizationId: text<Id<"organization">>(),
    id: text<Id<"figure">>(),
    measure: text<Measure>(),
    /** The start of the hour; in rows of earlier versions a time within it. */
    happenedAt: time(),
    currency: text(),
    subject: text(),
    /** Sign of the amount. */
    sign: integer(),
    amount: amount(),
    /** The added items, less the removed ones. */
    items: integer(),
  },
  { primaryKey: ["organizationId", "id"] },
);

/** Sums of changes by hour and by day, in UTC. A zero sum has no row. */
export const figures = table(
  "figures",
  {
    /** An organization's id, or `platform` for all organizations. */
    organizationId: text(),
    measure: text<Measure>(),
    grain: text<Grain>(),
    startsAt: time(),
    currency: text(),
    subject: text(),
    /** Negative only while a removal is summed before its addition. */
    items: integer(),
    /** Sign of the amount. */
    sign: integer(),
    amount: amount(),
  },
  {
    primaryKey: ["organizationId", "measure", "grain", "startsAt", "currency", "subject"],
  },
);

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
interface PaymentSubjects {
  readonly walletId: Id<"wallet"> | null;
  readonly customerId: Id<"customer"> | null;
  /** `managedBy` of the payment's invoice. */
  readonly managedBy: string | null;
}

/** The figure that an item contributes to. */
interface Figure {
  readonly organizationId: Id<"organization">;
  readonly measure: Measure;
  /** The start of an hour: figures have no shorter period. */
  readonly happenedAt: Instant;
  readonly currency: string;
  readonly subject: string;
}

/** An item's contribution to a figure. */
interface Counted extends Figure {
  readonly amount: bigint;
}

/** The sum of several contributions to a figure; removed items count negatively. */
interface Sum {
  readonly of: Figure;
  items: number;
  total: bigint;
}

/** Sums the changes of a write, so that its rows are as many as the figures that change, and not as its items. */
interface Meter {
  /** Replaces an invoice's contribution; `before` is null for a new invoice. Only issued invoices count. */
  invoice(before: MeteredInvoice | null, after: MeteredInvoice): void;
  /** Replaces a payment's contribution: it counts while confirmed and is removed when reverted. */
  payment(subjects: PaymentSubjects, before: MeteredPayment | null, after: MeteredPayment): void;
  /**
   * Adds the sums to a transaction. They are inserted at its commit, so that issuing waits neither for a statement nor
   * for another invoice.
   */
  append(tx: Tx, at: Instant): void;
}

export function makeMeter(ids: IdSource): Meter {
  const sums = new Map<string, Sum>();

  function add(counted: readonly Counted[], sign: bigint): void {
    for (const { amount, ...of } of counted) {
      const { organizationId, measure, happenedAt, currency, subject } = of;
      const key = [organizationId, measure, happenedAt, currency, subject].join("\n");
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { of, items: Number(sign), total: sign * amount });
      else {
        sum.items += Number(sign);
        sum.total += sign * amount;
      }
    }
  }

  return {
    invoice(before, after) {
      if (before !== null) add(countedInvoice(before), -1n);
      add(countedInvoice(after), 1n);
    },
    payment(subjects, before, after) {
      if (before !== null) add(countedPayment(before, subjects), -1n);
      add(countedPayment(after, subjects), 1n);
    },
    append(tx, at) {
      for (const { of, items, total } of sums.values()) {
        if (items === 0 && total === 0n) continue;
        const [sign, amount] = total < 0n ? [-1, -total] : [1, total];
        tx.append(figureChanges, { ...of, id: ids.next("figure", at), items, sign, amount });
      }
      sums.clear();
    },
  };
}

/** Replaces the contribution of a single invoice. */
export function meterInvoice(
  tx: Tx,
  ids: IdSource,
  at: Instant,
  before: MeteredInvoice | null,
  after: MeteredInvoice,
): void {
  const meter = makeMeter(ids);
  meter.invoice(before, after);
  meter.append(tx, at);
}

function countedInvoice(invoice: MeteredInvoice): Counted[] {
  if (invoice.issuedAt === null || invoice.managedBy !== null) return [];
  return [
    {
      organizationId: invoice.organizationId,
      measure: "invoices",
      happenedAt: hourOf(invoice.issuedAt),
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
            happenedAt: hourOf(payment.blockTime),
            currency: payment.settlementCurrency,
            subject,
            amount: toFigure(payment.settlementAmount, payment.settlementDecimals),
          },
        ],
  );
}

function hourOf(at: Instant): Instant {
  return at - (at % hour);
}

function toFigure(units: bigint, decimals: number): bigint {
  return units * powerOfTen(figureDecimals - decimals);
}
