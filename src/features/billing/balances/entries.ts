import * as z from "zod";
import {
  datetime,
  describeFields,
  id,
  line,
  listRecord,
  money,
  moneyText,
  presentRow,
  requestRecord,
  responseRecord,
  signedMoneyText,
} from "../../../http/declare/record.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { invalidField } from "../../../kernel/errors.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import {
  findCurrency,
  formatMoney,
  money as moneyOf,
  parseMoneyField,
  settlementAsset,
  signedMoneyPattern,
  type Money,
} from "../../../kernel/money/money.ts";
import {
  formatPercent,
  magnitude,
  parsePercentField,
  powerOfTen,
} from "../../../kernel/money/ratio.ts";
import type { RowOf } from "../../../platform/database/schema/table.ts";
import type { EventType } from "../../../platform/events/catalogue.ts";
import { BillingAmountTooLarge, CurrencyNotBilled, DiscountCurrencyMismatch } from "../errors.ts";
import { adjustments, credits, discounts, type CreditRow, type DiscountRow } from "../table.ts";

// The three kinds of entries in the balance of an organization, each declared once: what an admin asks for, what is
// stored and announced, and what is shown. Operations, commands, lists and new entries derive from it. `balances.ts` has
// what differs: how invoices use entries up, and give them back.

export type EntryTable = typeof credits | typeof discounts | typeof adjustments;

/** The owner and the giver of an entry. */
export interface Ownership {
  readonly organizationId: Id<"organization">;
  /** The id of a user or API key, the operator's name, or `system`. */
  readonly createdBy: string;
}

/** An entry and the time for which its status is determined: a credit may have expired by then. */
export interface EntryView<T extends EntryTable> {
  readonly row: RowOf<T>;
  readonly at: Instant;
}

/** The field that the terms of every kind have; a percentage has no currency. */
export interface Terms {
  readonly currency: string | null;
}

/** An entry as it is shown. */
export type ShownEntry = Readonly<Record<string, unknown>> & {
  readonly id: string;
  readonly organizationId: string;
};

/** A kind of entry. `Asked` is the request's body, `Given` its parsed form, and `Shown` the API record. */
export interface EntryKind<
  T extends EntryTable,
  Asked,
  Given extends Terms,
  Shown extends ShownEntry = ShownEntry,
> {
  /** The subject of its audit entries. */
  readonly noun: "credit" | "discount" | "adjustment";
  readonly table: T;
  readonly request: z.ZodType<Asked, Asked>;
  readonly record: z.ZodType<unknown, Shown>;
  readonly list: z.ZodType<unknown, { data: Shown[]; nextCursor: string | null }>;
  /** The action of the audit entry about a new one. */
  readonly added: string;
  /** The event about a new one; null: none. */
  readonly event: EventType | null;
  /**
   * Parses a request. Throws a 400 that names the field, `currency_not_billed`, `billing_amount_too_large`, and for
   * discounts `discount_currency_mismatch`.
   */
  readonly parse: (asked: Asked, now: Instant) => Given;
  /** Returns the row of a new one. */
  readonly begin: (terms: Given & Ownership, at: Instant, ids: IdSource) => RowOf<T>;
  readonly present: (view: EntryView<T>) => Shown;
}

/** Declares a kind of entry; its types are inferred. */
function entryKind<T extends EntryTable, Asked, Given extends Terms, Shown extends ShownEntry>(
  kind: EntryKind<T, Asked, Given, Shown>,
): EntryKind<T, Asked, Given, Shown> {
  return kind;
}

const reasonLengthMax = 500;
const currencyLengthMax = 20;
const periodsMax = 1_200;
/** The largest amount of an entry, in whole units of its currency. */
const largestAmount = 10n ** 12n;

/** `readAmount` refuses unknown currencies. */
const currency = () => z.string().min(1).max(currencyLengthMax);
const createdBy = () =>
  z
    .string()
    .meta({ description: "The id of a user or API key, the operator's name, or `system`." });

const CreditRequest = requestRecord("ApplyAdminCreditRequest", {
  amount: money(),
  currency: currency(),
  reason: line(reasonLengthMax),
  expiresAt: datetime().nullish(),
});
describeFields(CreditRequest, {
  amount: "The amount to grant: a decimal string in `currency`.",
  reason: "Why the credit is granted.",
  expiresAt:
    "Time from which the remainder is no longer used: ISO 8601, UTC; null or absent if it does not expire.",
});

const CreditRecord = responseRecord("AdminCredit", {
  id: id("credit"),
  organizationId: id("organization"),
  amount: moneyText(),
  remaining: moneyText(),
  currency: z.string(),
  reason: z.string(),
  status: z.enum(["available", "consumed", "expired"]),
  expiresAt: datetime().nullable(),
  createdBy: createdBy(),
  createdAt: datetime(),
});
describeFields(CreditRecord, {
  amount: "The granted amount: a decimal string in `currency`.",
  remaining: "The part that no platform invoice has used yet: a decimal string in `currency`.",
  reason: "Why the credit was granted, as the operator or Till wrote it.",
  status: "`available`, `consumed` once nothing remains, or `expired` with a remainder.",
  expiresAt:
    "Time from which the remainder is no longer used: ISO 8601, UTC; null if it does not expire.",
});

/** A prepaid amount, which pays invoices until nothing remains or it expires. */
export const credit = entryKind({
  noun: "credit",
  table: credits,
  request: CreditRequest,
  record: CreditRecord,
  list: listRecord("AdminCreditList", CreditRecord),
  added: "credit.granted",
  event: "credit.granted",
  parse(
    asked: z.output<typeof CreditRequest>,
    now,
  ): Omit<CreditRow, keyof Ownership | "id" | "remaining" | "createdAt" | "version"> {
    const { units: amount, asset } = readAmount("/amount", asked.amount, asked.currency);
    const expiresAt = asked.expiresAt == null ? null : Date.parse(asked.expiresAt);
    if (expiresAt !== null && expiresAt <= now) {
      throw invalidField("/expiresAt", "in_the_past", "must be in the future");
    }
    const { code, decimals } = asset;
    const { reason } = asked;
    return { amount, currency: code, decimals, reason, expiresAt, sourceInvoiceId: null };
  },
  begin: (terms, at, ids) => ({
    ...terms,
    id: ids.next("credit", at),
    remaining: terms.amount,
    createdAt: at,
    version: 1,
  }),
  present({ row, at }): z.input<typeof CreditRecord> {
    const asset = settlementAsset(row.currency, row.decimals);
    const hasExpired = row.expiresAt !== null && row.expiresAt <= at;
    return presentRow(CreditRecord, row, {
      amount: formatMoney(moneyOf(row.amount, asset)),
      remaining: formatMoney(moneyOf(row.remaining, asset)),
      status: row.remaining === 0n ? "consumed" : hasExpired ? "expired" : "available",
    });
  },
});

const DiscountRequest = requestRecord("ApplyAdminDiscountRequest", {
  kind: z.enum(["percent", "fixed"]),
  value: z.string().min(1).max(40).meta({
    description: 'A percentage such as "15", or an amount of `currency`.',
  }),
  currency: currency().nullish().meta({ description: "For fixed discounts only." }),
  periods: z.int().min(1).max(periodsMax).nullish().meta({
    description: "How many invoices the discount applies to; all if absent.",
  }),
  reason: line(reasonLengthMax),
});
describeFields(DiscountRequest, {
  kind: "Whether `value` is a percentage (`percent`) or an amount (`fixed`).",
  reason: "Why the discount is granted.",
});

const DiscountRecord = responseRecord("AdminDiscount", {
  id: id("discount"),
  organizationId: id("organization"),
  kind: z.enum(["percent", "fixed"]),
  value: z.string(),
  currency: z.string().nullable(),
  periods: z.int().nullable(),
  periodsUsed: z.int(),
  reason: z.string(),
  status: z.enum(["active", "exhausted"]),
  createdBy: createdBy(),
  createdAt: datetime(),
});
describeFields(DiscountRecord, {
  kind: "Whether `value` is a percentage (`percent`) or an amount (`fixed`).",
  value: "A percentage such as `15`, or a decimal string in `currency`.",
  currency: "The currency of a fixed discount; null for a percentage.",
  periods: "The number of platform invoices that it applies to; null for all.",
  periodsUsed: "The number of platform invoices that it was applied to.",
  reason: "Why the discount was granted, as the operator wrote it.",
  status: "`active`, or `exhausted` once it was applied to `periods` invoices.",
});

/** A percentage or an amount by which the plan and usage charges of some or all invoices are reduced. */
export const discount = entryKind({
  noun: "discount",
  table: discounts,
  request: DiscountRequest,
  record: DiscountRecord,
  list: listRecord("AdminDiscountList", DiscountRecord),
  added: "discount.granted",
  event: null,
  parse(
    asked: z.output<typeof DiscountRequest>,
  ): Omit<DiscountRow, keyof Ownership | "id" | "periodsUsed" | "createdAt"> {
    const { kind, periods = null, reason } = asked;
    return { kind, ...readValue(asked), periods, reason };
  },
  begin: (terms, at, ids) => ({
    ...terms,
    id: ids.next("discount", at),
    periodsUsed: 0,
    createdAt: at,
  }),
  present: ({ row }): z.input<typeof DiscountRecord> =>
    presentRow(DiscountRecord, row, {
      status: row.periods !== null && row.periodsUsed >= row.periods ? "exhausted" : "active",
    }),
});

const AdjustmentRequest = requestRecord("CreateAdminManualAdjustmentRequest", {
  amount: z
    .string()
    .regex(signedMoneyPattern, { error: 'must be decimal text such as "-4.10"' })
    .meta({
      description:
        "A decimal string in `currency`: a positive amount is charged, a negative one is deducted.",
    }),
  currency: currency(),
  description: line(reasonLengthMax),
});
describeFields(AdjustmentRequest, {
  description: "The text of its line on the platform invoice.",
});

const AdjustmentRecord = responseRecord("AdminManualAdjustment", {
  id: id("adjustment"),
  organizationId: id("organization"),
  amount: signedMoneyText(),
  currency: z.string(),
  description: z.string(),
  status: z.enum(["pending", "invoiced"]),
  platformInvoiceId: id("platformInvoice").nullable(),
  createdBy: createdBy(),
  createdAt: datetime(),
});
describeFields(AdjustmentRecord, {
  amount:
    "A decimal string in `currency`: a positive amount is charged, a negative one is deducted.",
  description: "The text of its line on the platform invoice.",
  status: "`pending` until the next platform invoice in its currency takes it, then `invoiced`.",
  platformInvoiceId: "The id of the platform invoice that took it; null while pending.",
});

/** An amount that the next invoice charges, or deducts if it is negative. */
export const adjustment = entryKind({
  noun: "adjustment",
  table: adjustments,
  request: AdjustmentRequest,
  record: AdjustmentRecord,
  list: listRecord("AdminManualAdjustmentList", AdjustmentRecord),
  added: "adjustment.created",
  event: null,
  parse({ amount: text, currency: code, description }: z.output<typeof AdjustmentRequest>) {
    const { units: amount, asset } = readAmount("/amount", text, code, "signed");
    if (amount === 0n) throw invalidField("/amount", "zero", "must not be zero");
    return { amount, currency: asset.code, decimals: asset.decimals, description };
  },
  begin: (terms, at, ids) => ({
    ...terms,
    id: ids.next("adjustment", at),
    status: "pending" as const,
    platformInvoiceId: null,
    createdAt: at,
  }),
  present: ({ row }): z.input<typeof AdjustmentRecord> =>
    presentRow(AdjustmentRecord, row, {
      amount: formatMoney(moneyOf(row.amount, settlementAsset(row.currency, row.decimals))),
    }),
});

/** Parses an amount in a currency in which plans can be billed. */
function readAmount(field: string, text: string, code: string, range?: "signed"): Money {
  const asset = findCurrency(code);
  if (asset === null) {
    throw new CurrencyNotBilled(
      `"${code}" is not a currency in which plans are billed. Give an ISO 4217 code such as USD, in capital letters.`,
    );
  }
  const amount = parseMoneyField(field, text, asset, range);
  if (magnitude(amount.units) <= largestAmount * powerOfTen(asset.decimals)) return amount;
  throw new BillingAmountTooLarge(`The largest amount is ${String(largestAmount)} ${asset.code}.`);
}

/** Parses a discount's value: a percentage, which has no currency, or an amount, which has one. */
function readValue({ kind, value, currency = null }: z.output<typeof DiscountRequest>) {
  if (kind === "percent") {
    if (currency !== null) {
      throw new DiscountCurrencyMismatch(
        "A percentage applies to invoices in every currency: leave out `currency`.",
      );
    }
    const share = parsePercentField("/value", value);
    if (share.numerator === 0n) {
      throw invalidField("/value", "not_positive", "must be more than zero");
    }
    return { value: formatPercent(share), currency: null, decimals: null };
  }
  if (currency === null) {
    throw new DiscountCurrencyMismatch("A fixed discount is an amount: give its `currency`.");
  }
  const amount = readAmount("/value", value, currency);
  const { code, decimals } = amount.asset;
  return { value: formatMoney(amount), currency: code, decimals };
}
