import * as z from "zod";
import { pageParameters } from "../../http/declare/list.ts";
import {
  datetime,
  describeFields,
  id,
  listRecord,
  moneyText,
  presentRow,
  requestRecord,
  responseRecord,
  signedMoneyText,
} from "../../http/declare/record.ts";
import { formatMoney, money, settlementAsset } from "../../kernel/money/money.ts";
import type { Plan } from "../../platform/config/plans.ts";
import { lineKinds } from "./charges.ts";
import { subscriptionStatuses } from "./status.ts";
import type { PlatformInvoiceLineRow, PlatformInvoiceRow, SubscriptionRow } from "./table.ts";

const SubscriptionOpenInvoiceRecord = responseRecord("SubscriptionOpenInvoice", {
  id: id("platformInvoice"),
  status: z.string(),
  total: moneyText(),
  currency: z.string(),
  checkoutUrl: z.string(),
  merchantInvoicePublicId: z.string(),
});
describeFields(SubscriptionOpenInvoiceRecord, {
  status: "The status of the platform invoice.",
  total: "The amount to pay: a decimal string in `currency`.",
  checkoutUrl: "The URL of the page on which it is paid.",
  merchantInvoicePublicId: "The `publicId` of the invoice by which it is paid.",
});

export const SubscriptionRecord = responseRecord("Subscription", {
  id: id("subscription"),
  plan: z.string(),
  planName: z.string(),
  status: z.enum(subscriptionStatuses),
  currentPeriodStart: datetime(),
  currentPeriodEnd: datetime(),
  trialEndsAt: datetime().nullable(),
  pendingPlan: z.string().nullable(),
  planChangeEffectiveAt: datetime().nullable(),
  openInvoice: SubscriptionOpenInvoiceRecord.nullable(),
});
describeFields(SubscriptionRecord, {
  plan: "The id of the plan.",
  planName: "The plan's name when it was selected.",
  status:
    "While `suspended`, no invoices can be issued. `past_due`: a platform invoice is overdue.",
  currentPeriodStart: "Start of the current period, inclusive: ISO 8601, UTC.",
  currentPeriodEnd: "End of the current period, exclusive: ISO 8601, UTC.",
  trialEndsAt: "End of the trial: ISO 8601, UTC; null without one.",
  pendingPlan:
    "The id of the plan to which it changes at `planChangeEffectiveAt`; null without a scheduled change.",
  planChangeEffectiveAt: "Time of the scheduled change: ISO 8601, UTC; null without one.",
  openInvoice:
    "The oldest unpaid platform invoice; null without one, and to a key that only reads.",
});

/** A subscription with its oldest unpaid platform invoice. */
export interface SubscriptionView {
  readonly subscription: SubscriptionRow;
  readonly openInvoice: PlatformInvoiceRow | null;
  /** The URL of the page on which the open invoice is paid; null without one. */
  readonly checkoutUrl: string | null;
}

export function presentSubscription({
  subscription,
  openInvoice,
  checkoutUrl,
}: SubscriptionView): z.input<typeof SubscriptionRecord> {
  const { terms } = subscription;
  return presentRow(SubscriptionRecord, subscription, {
    plan: terms.id,
    planName: terms.name,
    openInvoice: openInvoice === null ? null : presentOpenInvoice(openInvoice, checkoutUrl ?? ""),
  });
}

function presentOpenInvoice(invoice: PlatformInvoiceRow, checkoutUrl: string) {
  const asset = settlementAsset(invoice.currency, invoice.decimals);
  return {
    id: invoice.id,
    status: invoice.status,
    total: formatMoney(money(invoice.total, asset)),
    currency: invoice.currency,
    checkoutUrl,
    merchantInvoicePublicId: invoice.twinPublicId ?? "",
  };
}

/** The data of `usage.threshold_reached`. */
export const UsageThresholdRecord = responseRecord("UsageThreshold", {
  organizationId: id("organization"),
  subscriptionId: id("subscription"),
  plan: z.string(),
  percent: z.int().meta({
    description: "The threshold that was reached, in percent of the included invoices: 80 or 100.",
  }),
  invoicesCreated: z.int(),
  invoicesIncluded: z.int(),
  periodStart: datetime(),
  periodEnd: datetime(),
});
describeFields(UsageThresholdRecord, {
  plan: "The id of the plan.",
  invoicesCreated:
    "Number of invoices that count against the plan in the period: those of payment links once money for them is seen.",
  invoicesIncluded: "Number of invoices that the plan's price includes.",
  periodStart: "Start of the period, inclusive: ISO 8601, UTC.",
  periodEnd: "End of the period, exclusive: ISO 8601, UTC.",
});

const planIdLengthMax = 40;

export const SelectPlanRequest = requestRecord("SelectPlanRequest", {
  plan: z.string().min(1).max(planIdLengthMax).meta({ description: "The id of a plan." }),
});

export const ChangePlanRequest = requestRecord("ChangePlanRequest", {
  plan: z.string().min(1).max(planIdLengthMax).meta({ description: "The id of a plan." }),
});

const PlanRecord = responseRecord("Plan", {
  id: z.string(),
  name: z.string(),
  description: z.string(),
  price: moneyText(),
  currency: z.string(),
  interval: z.enum(["month", "year"]),
  trialDays: z.int(),
  includedInvoices: z.int().nullable().meta({
    description: "Issued invoices per period that the price includes; null: unlimited.",
  }),
  overagePrice: moneyText().nullable().meta({
    description:
      "Price of each invoice beyond the included ones: a decimal string in `currency`; null: the plan allows none.",
  }),
  features: z.array(z.string()),
});
describeFields(PlanRecord, {
  id: "The plan's id in the catalog.",
  name: "The plan's name.",
  description: "The plan in a sentence.",
  price: "The price of one period: a decimal string in `currency`.",
  interval: "The length of a period.",
  trialDays: "The length of the free trial, in days; 0 without one.",
  features: "The plan's features, as the operator describes them.",
});

export const PlanCatalogRecord = listRecord("PlanCatalog", PlanRecord);

/** Presents the catalog as a single page. */
export function presentPlans(plans: readonly Plan[]): z.input<typeof PlanCatalogRecord> {
  return {
    data: plans.map(({ policy: _policy, features, ...plan }) => ({
      ...plan,
      features: [...features],
    })),
    nextCursor: null,
  };
}

const PlatformInvoiceLineRecord = responseRecord("AdminPlatformInvoiceLine", {
  id: z.string(),
  kind: z.enum(lineKinds),
  description: z.string(),
  quantity: z.int(),
  unitAmount: signedMoneyText(),
  amount: signedMoneyText().meta({
    description:
      "The line's part of the total: a decimal string in the platform invoice's `currency`; negative if it reduces the total.",
  }),
});
describeFields(PlatformInvoiceLineRecord, {
  id: "Unique id of the line.",
  kind: "The kind of charge or deduction.",
  description: "The line's text.",
  quantity: "The number of units, such as invoices beyond the included ones.",
  unitAmount:
    "The amount of one unit: a decimal string in the platform invoice's `currency`; negative if it reduces the total.",
});

/** The statuses of the API record; an issued invoice is never a draft. */
export const platformInvoiceStatuses = ["draft", "open", "paid", "past_due", "void"] as const;

export const PlatformInvoiceRecord = responseRecord("PlatformInvoice", {
  id: id("platformInvoice"),
  number: z.string(),
  organizationId: id("organization"),
  status: z.enum(platformInvoiceStatuses),
  periodStart: datetime(),
  periodEnd: datetime(),
  subtotal: signedMoneyText().meta({
    description:
      "The sum of plan, usage and adjustments: a decimal string in `currency`; negative if adjustments deduct more than the rest.",
  }),
  discountTotal: moneyText(),
  creditTotal: signedMoneyText().meta({
    description:
      "The amount paid by credits: a decimal string in `currency`; negative if a negative sum becomes a new credit instead.",
  }),
  total: moneyText(),
  currency: z.string(),
  lines: z.array(PlatformInvoiceLineRecord),
  checkoutUrl: z.string().nullable(),
  merchantInvoicePublicId: z.string().nullable(),
  issuedAt: datetime().nullable(),
  dueAt: datetime().nullable(),
  paidAt: datetime().nullable(),
  createdAt: datetime(),
});
describeFields(PlatformInvoiceRecord, {
  number: "The invoice's number, such as `TILL-000001`; the numbers have no gaps.",
  status:
    "The status: `open` until it is paid, `past_due` after `dueAt`, `void` if it was withdrawn.",
  periodStart: "Start of the billed period, inclusive: ISO 8601, UTC.",
  periodEnd: "End of the billed period, exclusive: ISO 8601, UTC.",
  discountTotal: "The sum of the discounts: a decimal string in `currency`.",
  total: "The amount to pay: a decimal string in `currency`.",
  lines: "The lines, in the order of the computation.",
  checkoutUrl:
    "The URL of the page on which it is paid; null if nothing is to be paid, and to a key that only reads.",
  merchantInvoicePublicId:
    "The `publicId` of the invoice by which it is paid; null if nothing is to be paid.",
  issuedAt: "Time of the issue: ISO 8601, UTC.",
  dueAt: "Time until which it must be paid: ISO 8601, UTC.",
  paidAt: "Time when it was paid: ISO 8601, UTC; null until then.",
});

/** A platform invoice with its lines and checkout URL. */
export interface PlatformInvoiceView {
  readonly invoice: PlatformInvoiceRow;
  /** Ordered by position. */
  readonly lines: readonly PlatformInvoiceLineRow[];
  /** Null if nothing is to be paid. */
  readonly checkoutUrl: string | null;
}

export function presentPlatformInvoice(
  view: PlatformInvoiceView,
): z.input<typeof PlatformInvoiceRecord> {
  const { invoice, lines, checkoutUrl } = view;
  return presentRow(PlatformInvoiceRecord, invoice, {
    ...presentTotals(invoice, invoice),
    lines: lines.map((line) => ({ id: line.id, ...presentLine(line, invoice) })),
    checkoutUrl,
    merchantInvoicePublicId: invoice.twinPublicId,
  });
}

/** A currency, with the decimals in which amounts of it are stored. */
type Billed = Pick<PlatformInvoiceRow, "currency" | "decimals">;

const shownIn = ({ currency, decimals }: Billed, units: bigint) =>
  formatMoney(money(units, settlementAsset(currency, decimals)));

/** Presents the totals of a platform invoice, or of one that was only computed. */
export function presentTotals(
  totals: Pick<PlatformInvoiceRow, "subtotal" | "discountTotal" | "creditTotal" | "total">,
  billed: Billed,
) {
  return {
    subtotal: shownIn(billed, totals.subtotal),
    discountTotal: shownIn(billed, totals.discountTotal),
    creditTotal: shownIn(billed, totals.creditTotal),
    total: shownIn(billed, totals.total),
  };
}

/** Presents a line of a platform invoice without its id, which one that was only computed does not have. */
export function presentLine(
  line: Omit<PlatformInvoiceLineRow, "id" | "platformInvoiceId" | "position">,
  billed: Billed,
) {
  const { kind, description, quantity } = line;
  const [unitAmount, amount] = [shownIn(billed, line.unitAmount), shownIn(billed, line.amount)];
  return { kind, description, quantity, unitAmount, amount };
}

export const PlatformInvoiceListRecord = listRecord("PlatformInvoiceList", PlatformInvoiceRecord);

/** Filters of the list of an organization's platform invoices. */
export const platformInvoiceQuery = {
  ...pageParameters,
  status: z.enum(platformInvoiceStatuses).optional(),
};
