import type { z } from "zod";
import { presentRow } from "../../../api/declare/present.ts";
import { settlementAsset } from "../../../kernel/money/asset.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { formatMoney, money } from "../../../kernel/money/money.ts";
import {
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
  return presentRow(AdminCreditRecord, credit, {
    amount: formatMoney(money(credit.amount, asset)),
    remaining: formatMoney(money(credit.remaining, asset)),
    status: creditStatus(credit, at),
  });
}

function creditStatus(credit: CreditRow, at: Instant): "available" | "consumed" | "expired" {
  if (credit.remaining === 0n) return "consumed";
  return credit.expiresAt !== null && credit.expiresAt <= at ? "expired" : "available";
}

export function presentDiscount(row: DiscountRow): z.input<typeof AdminDiscountRecord> {
  return presentRow(AdminDiscountRecord, row, {
    status: row.periods !== null && row.periodsUsed >= row.periods ? "exhausted" : "active",
  });
}

export function presentAdjustment(row: AdjustmentRow): z.input<typeof AdminManualAdjustmentRecord> {
  return presentRow(AdminManualAdjustmentRecord, row, {
    amount: formatMoney(money(row.amount, settlementAsset(row.currency, row.decimals))),
  });
}
