import * as z from "zod";
import {
  findCurrency,
  formatMoney,
  moneyPattern,
  MoneyTextError,
  parseMoney,
  type Asset,
} from "../../kernel/money/money.ts";
import { parseYaml, type ParsedFile, type Report } from "./files/parse-yaml.ts";

/** The deadlines of platform invoices, and the smallest total that is collected. */
export interface BillingPolicy {
  /** Days from issue until a platform invoice is due. */
  readonly dueDays: number;
  /** Days from the due date until the subscription is suspended. */
  readonly graceDays: number;
  /** Days from suspension until the subscription is canceled. */
  readonly cancelAfterSuspendedDays: number;
  /** Hours for which a payment that was detected and is not confirmed yet delays all dunning. */
  readonly paymentInFlightHours: number;
  /** Days relative to the due date on which reminders are sent, ascending; negative: before it. */
  readonly reminderDays: readonly number[];
  /** Decimal text in whole units of the invoice's currency. A smaller total is carried over to the next invoice. */
  readonly minCollectable: string;
}

/** A plan that organizations can subscribe to. Amounts are canonical decimal text. */
export interface Plan {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly price: string;
  /** An ISO 4217 code. */
  readonly currency: string;
  readonly interval: "month" | "year";
  readonly trialDays: number;
  /** Invoices per period that the price includes; null: unlimited. */
  readonly includedInvoices: number | null;
  /** The price of each further invoice; null: no further invoices can be issued. */
  readonly overagePrice: string | null;
  readonly features: readonly string[];
  /** The general policy with this plan's changes. */
  readonly policy: BillingPolicy;
}

export interface PlanCatalog {
  /** The general policy; it also applies to subscriptions whose plan is no longer in the catalog. */
  readonly policy: BillingPolicy;
  /** The plans in the order of the file, which is also the order of display. */
  readonly plans: readonly Plan[];
}

const daysMax = 366;
const hoursMax = 24 * 14;
const invoicesMax = 1_000_000_000;
const remindersMax = 10;

const amountText = z
  .string({ error: 'must be an amount as text: write it in quotes, "49.00"' })
  .regex(moneyPattern, { error: 'must be an amount such as "49.00"' });
const days = z.int().min(0).max(daysMax);

const policyFields = {
  dueDays: days.min(1),
  graceDays: days,
  cancelAfterSuspendedDays: days.min(1),
  paymentInFlightHours: z.int().min(0).max(hoursMax),
  reminderDays: z
    .array(z.int().min(-daysMax).max(daysMax))
    .max(remindersMax)
    .refine((list) => list.every((day, index) => day > (list[index - 1] ?? -Infinity)), {
      error: "must be days in ascending order, each once",
    }),
  minCollectable: amountText.regex(/^(0|[1-9]\d{0,8})(\.\d{1,2})?$/, {
    error: 'must be an amount such as "1.00"',
  }),
};

const planSchema = z.strictObject({
  name: z.string().trim().min(1).max(60),
  description: z.string().trim().min(1).max(500),
  price: amountText,
  currency: z.string().refine((code) => findCurrency(code) !== null, {
    error: "must be a currency's ISO 4217 code such as USD",
  }),
  interval: z.enum(["month", "year"]),
  trialDays: days,
  includedInvoices: z.int().min(0).max(invoicesMax).nullable(),
  overagePrice: amountText.nullable(),
  features: z.array(z.string().trim().min(1).max(200)).max(50),
  billing: z.strictObject(policyFields).partial().default({}),
});

const fileSchema = z.strictObject({
  billing: z.strictObject(policyFields),
  plans: z.record(
    z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, {
      error: "a plan's id starts with a lower-case letter; letters, digits, - and _ follow",
    }),
    planSchema,
  ),
});

type PlanEntry = z.infer<typeof planSchema>;

/** Parses the plans file. */
export function parsePlans(text: string): ParsedFile<PlanCatalog> {
  return parseYaml(text, fileSchema, ({ billing: policy, plans: entries }, report) => {
    const plans = Object.entries(entries).map(([id, entry]) => readPlan(id, entry, policy, report));
    if (plans.length === 0) report(["plans"], "must contain at least one plan");
    return { policy, plans };
  });
}

function readPlan(id: string, entry: PlanEntry, policy: BillingPolicy, report: Report): Plan {
  const { billing, ...terms } = entry;
  const path = ["plans", id];
  const asset = findCurrency(entry.currency);
  const read = (field: string, text: string) =>
    asset === null ? text : readAmount([...path, field], text, asset, report);
  if (entry.includedInvoices === null && entry.overagePrice !== null) {
    report(
      [...path, "overagePrice"],
      "must be null if includedInvoices is null: with unlimited invoices there is no overage",
    );
  }
  const changes = Object.entries(billing).filter(([, value]) => value !== undefined);
  return {
    id,
    ...terms,
    price: read("price", entry.price),
    overagePrice: entry.overagePrice === null ? null : read("overagePrice", entry.overagePrice),
    policy: { ...policy, ...(Object.fromEntries(changes) as Partial<BillingPolicy>) },
  };
}

function readAmount(path: readonly string[], text: string, asset: Asset, report: Report): string {
  try {
    return formatMoney(parseMoney(text, asset));
  } catch (error) {
    if (!(error instanceof MoneyTextError)) throw error;
    report(path, error.message);
    return text;
  }
}
