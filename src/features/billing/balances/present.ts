import type { z } from "zod";
import { settlementAsset } from "../../../kernel/money/asset.ts";
import { toIso, toIsoOrNull, type Instant } from "../../../kernel/clock.ts";
import { formatMoney, money } from "../../../kernel/money/money.ts";
import type {
  AdminCreditRecord,
  AdminDiscountRecord,
  AdminManualAdjustmentRecord,
} from "../operator/admin-records.ts";
import type { AdjustmentRow, CreditRow, DiscountRow } from "../table.ts";

/** A credit and the time for which its status is determined: it may have expired by then. */
export interface CreditView {
  readonly credit: CreditRow;
  readonly at: Instant;
}

export function presentCredit({ credit, at }: CreditView): z.input<typeof AdminCreditRecord> {
  const asset = settlementAsset(credit.currency, credit.decimals);
  return {
    id: credit.id,
    organizationId: credit.organizationId,
    amount: formatMoney(money(credit.amount, asset)),
    remaining: formatMoney(money(credit.remaining, asset)),
    currency: credit.currency,
    reason: credit.reason,
    status: creditStatus(credit, at),
    expiresAt: toIsoOrNull(credit.expiresAt),
    createdBy: credit.createdBy,
    createdAt: toIso(credit.createdAt),
  };
}

function creditStatus(credit: CreditRow, at: Instant): "available" | "consumed" | "expired" {
  if (credit.remaining === 0n) return "consumed";
  return credit.expiresAt !== null && credit.expiresAt <= at ? "expired" : "available";
}

export function presentDiscount(row: DiscountRow): z.input<typeof AdminDiscountRecord> {
  return {
    id: row.id,
    organizationId: row.organizationId,
    kind: row.kind,
    value: row.value,
    currency: row.currency,
    periods: row.periods,
    periodsUsed: row.periodsUsed,
    reason: row.reason,
    status: row.periods !== null && row.periodsUsed >= row.periods ? "exhausted" : "active",
    createdBy: row.createdBy,
    createdAt: toIso(row.createdAt),
  };
}

export function presentAdjustment(row: AdjustmentRow): z.input<typeof AdminManualAdjustmentRecord> {
  return {
    id: row.id,
    organizationId: row.organizationId,
    amount: formatMoney(money(row.amount, settlementAsset(row.currency, row.decimals))),
    currency: row.currency,
    description: row.description,
    status: row.status,
    platformInvoiceId: row.platformInvoiceId,
    createdBy: row.createdBy,
    createdAt: toIso(row.createdAt),
  };
}
