import type { Instant } from "../../kernel/clock.ts";
import { decodeAmount, decodeSignedAmount } from "../../platform/database/schema/table.ts";
import { moment, settled, exportOf } from "./table-export.ts";

interface Row {
  readonly id: string;
  readonly number: string;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly status: string;
  readonly periodStart: Instant;
  readonly periodEnd: Instant;
  readonly subtotal: string;
  readonly discountTotal: string;
  readonly creditTotal: string;
  readonly total: string;
  readonly currency: string;
  readonly decimals: number;
  readonly issuedAt: Instant;
  readonly dueAt: Instant;
  readonly paidAt: Instant | null;
  readonly voidedAt: Instant | null;
}

export const platformInvoiceExport = exportOf<Row>()({
  kind: "platformInvoice",
  columns: {
    id: "The platform invoice's id.",
    number: "Its number; the numbers of an instance have no gaps.",
    organizationId: "The merchant.",
    organizationName: "The merchant's name.",
    status: "The status now.",
    periodStart: "Start of the billing period.",
    periodEnd: "End of the billing period.",
    subtotal: "The sum before discounts and credits; negative if deductions exceed the charges.",
    discountTotal: "The sum of the discounts.",
    creditTotal: "The sum of the credits; negative if the invoice granted one.",
    total: "The amount to pay.",
    currency: "The unit of all amounts.",
    issuedAt: "Time of issue.",
    dueAt: "Time at which it is due.",
    paidAt: "Time at which it was paid; empty unless it is.",
    voidedAt: "Time at which it was voided; empty unless it was.",
  },
  select: `SELECT its.id AS "id", its.number AS "number", its.organization_id AS "organizationId",
      owner.name AS "organizationName", its.status AS "status",
      its.period_start AS "periodStart", its.period_end AS "periodEnd",
      its.subtotal AS "subtotal", its.discount_total AS "discountTotal",
      its.credit_total AS "creditTotal", its.total AS "total", its.currency AS "currency",
      its.decimals AS "decimals", its.issued_at AS "issuedAt", its.due_at AS "dueAt",
      its.paid_at AS "paidAt", its.voided_at AS "voidedAt"
    FROM platform_invoices AS its JOIN organizations AS owner ON owner.id = its.organization_id`,
  cells(row) {
    const shown = (units: bigint) => settled(units, row.currency, row.decimals);
    return {
      id: row.id,
      number: row.number,
      organizationId: row.organizationId,
      organizationName: row.organizationName,
      status: row.status,
      periodStart: moment(row.periodStart),
      periodEnd: moment(row.periodEnd),
      subtotal: shown(decodeSignedAmount(row.subtotal)),
      discountTotal: shown(decodeAmount(row.discountTotal)),
      creditTotal: shown(decodeSignedAmount(row.creditTotal)),
      total: shown(decodeAmount(row.total)),
      currency: row.currency,
      issuedAt: moment(row.issuedAt),
      dueAt: moment(row.dueAt),
      paidAt: moment(row.paidAt),
      voidedAt: moment(row.voidedAt),
    };
  },
});
