import { z } from "zod";
import { pageParameters } from "../../api/declare/list.ts";
import {
  datetime,
  id,
  listRecord,
  moneyAnswer,
  requestRecord,
  responseRecord,
  signedMoneyAnswer,
} from "../../api/declare/record.ts";
import { lineKinds } from "./charges.ts";
import { subscriptionStatuses } from "./status.ts";

export const SubscriptionOpenInvoiceRecord = responseRecord("SubscriptionOpenInvoice", {
  id: id("platformInvoice"),
  status: z.string(),
  total: moneyAnswer(),
  currency: z.string(),
  checkoutUrl: z.string(),
  merchantInvoicePublicId: z.string(),
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
  price: moneyAnswer(),
  currency: z.string(),
  interval: z.enum(["month", "year"]),
  trialDays: z.int(),
  includedInvoices: z.int().nullable().meta({
    description: "Issued invoices per period that the price includes; null: unlimited.",
  }),
  overagePrice: moneyAnswer().nullable().meta({
    description: "Price of each invoice beyond the included ones; null: the plan allows none.",
  }),
  features: z.array(z.string()),
});

export const PlanCatalogRecord = listRecord("PlanCatalog", PlanRecord);

export const PlatformInvoiceLineRecord = responseRecord("AdminPlatformInvoiceLine", {
  id: z.string(),
  kind: z.enum(lineKinds),
  description: z.string(),
  quantity: z.int(),
  unitAmount: signedMoneyAnswer(),
  amount: signedMoneyAnswer().meta({
    description: "The line's part of the total; negative if it reduces the total.",
  }),
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
  subtotal: signedMoneyAnswer().meta({
    description:
      "The sum of plan, usage and adjustments; negative if adjustments deduct more than the rest.",
  }),
  discountTotal: moneyAnswer(),
  creditTotal: signedMoneyAnswer().meta({
    description:
      "The amount paid by credits; negative if a negative sum becomes a new credit instead.",
  }),
  total: moneyAnswer(),
  currency: z.string(),
  lines: z.array(PlatformInvoiceLineRecord),
  checkoutUrl: z.string().nullable(),
  merchantInvoicePublicId: z.string().nullable(),
  issuedAt: datetime().nullable(),
  dueAt: datetime().nullable(),
  paidAt: datetime().nullable(),
  createdAt: datetime(),
});

export const PlatformInvoiceListRecord = listRecord("PlatformInvoiceList", PlatformInvoiceRecord);

/** Filters of the list of an organization's platform invoices. */
export const platformInvoiceQuery = {
  ...pageParameters,
  status: z.enum(platformInvoiceStatuses).optional(),
};
