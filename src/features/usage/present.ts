import type { z } from "zod";
import { toIso } from "../../kernel/clock.ts";
import { formatMoney } from "../../kernel/money/money.ts";
import type { UsageSummaryRecord } from "./records.ts";
import type { Usage } from "./service.ts";

export function presentUsage(usage: Usage): z.input<typeof UsageSummaryRecord> {
  const { asset } = usage.processedVolume;
  return {
    organizationId: usage.organizationId,
    plan: usage.plan?.id ?? null,
    periodStart: toIso(usage.period.from),
    periodEnd: toIso(usage.period.to),
    invoicesCreated: usage.invoicesCreated,
    invoicesCounted: usage.invoicesCounted,
    invoicesIncluded: usage.plan?.invoicesIncluded ?? null,
    paymentsConfirmed: usage.paymentsConfirmed,
    processedVolume: formatMoney(usage.processedVolume),
    currency: asset.code,
    overageAmount: formatMoney(usage.overage),
  };
}
