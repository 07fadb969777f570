import * as z from "zod";
import { describeFields } from "../../api/declare/field-descriptions.ts";
import { datetime, id, moneyAnswer, responseRecord } from "../../api/declare/record.ts";

export const UsageSummaryRecord = responseRecord("UsageSummary", {
  organizationId: id("organization"),
  plan: z.string().nullable(),
  periodStart: datetime(),
  periodEnd: datetime(),
  invoicesCreated: z.int().min(0),
  invoicesCounted: z.int().min(0),
  invoicesIncluded: z.int().min(0).nullable(),
  paymentsConfirmed: z.int().min(0),
  processedVolume: moneyAnswer(),
  currency: z.string(),
  overageAmount: moneyAnswer(),
});
describeFields(UsageSummaryRecord, {
  plan: "The id of the plan; null without a subscription.",
  periodStart:
    "Start of the current period, inclusive: the subscription's or, without one, the calendar month in UTC: ISO 8601, UTC.",
  periodEnd: "End of the current period, exclusive: ISO 8601, UTC.",
  invoicesCreated:
    "Number of invoices issued in the period, including canceled ones. Never decreases.",
  invoicesCounted:
    "Number of invoices that count against the plan in the period: an invoice that a payer started at a payment link counts once money for it is seen, another one at its issue.",
  invoicesIncluded:
    "Number of invoices that the plan's price includes; null if unlimited, or without a subscription.",
  paymentsConfirmed: "Number of payments confirmed in the period, in every currency.",
  processedVolume:
    "The value of the confirmed payments of invoices in `currency`: a decimal string.",
  currency: "The currency of the plan; `USD` without one.",
  overageAmount:
    "The price of the invoices beyond the included ones: a decimal string in `currency`.",
});
