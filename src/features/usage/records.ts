import { z } from "zod";
import { datetime, id, moneyAnswer, responseRecord } from "../../api/declare/record.ts";

export const UsageSummaryRecord = responseRecord("UsageSummary", {
  organizationId: id("organization"),
  /** Null without a subscription, as is `invoicesIncluded`. */
  plan: z.string().nullable(),
  periodStart: datetime(),
  periodEnd: datetime(),
  /** Invoices issued in the period, including canceled ones. Never decreases. */
  invoicesCreated: z.int().min(0),
  invoicesIncluded: z.int().min(0).nullable(),
  /** Payments in every currency. */
  paymentsConfirmed: z.int().min(0),
  /** Volume in `currency` only. */
  processedVolume: moneyAnswer(),
  currency: z.string(),
  overageAmount: moneyAnswer(),
});
