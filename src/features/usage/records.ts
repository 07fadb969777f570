import { z } from "zod";
import { datetime, id, moneyAnswer, responseRecord } from "../../api/record.ts";

export const UsageSummaryRecord = responseRecord("UsageSummary", {
  organizationId: id("organization"),
  /** Null without a subscription, like what a plan includes. */
  plan: z.string().nullable(),
  periodStart: datetime(),
  periodEnd: datetime(),
  /** Issued in the period, canceled ones too. It never goes down. */
  invoicesCreated: z.int().min(0),
  invoicesIncluded: z.int().min(0).nullable(),
  /** In every currency. */
  paymentsConfirmed: z.int().min(0),
  /** In `currency` alone. */
  processedVolume: moneyAnswer(),
  currency: z.string(),
  overageAmount: moneyAnswer(),
});
