import { z } from "zod";
import { datetime, id, moneyAnswer, responseRecord } from "../../api/record.ts";

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
  status: z.enum(["trialing", "active", "past_due", "suspended", "canceled"]),
  currentPeriodStart: datetime(),
  currentPeriodEnd: datetime(),
  trialEndsAt: datetime().nullable(),
  pendingPlan: z.string().nullable(),
  planChangeEffectiveAt: datetime().nullable(),
  openInvoice: SubscriptionOpenInvoiceRecord.nullable(),
});
