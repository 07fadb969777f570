import {
  firstDifference,
  queryCheck,
  violationsMax,
  walkBatch,
  walkCheck,
  type Check,
  type Violation,
} from "../../platform/database/schema/checks.ts";
import type { Reader } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { countUsedOf } from "../invoices/store.ts";
import { computeCharges, thawInputs } from "./charges.ts";
import { limitOf } from "./subscriptions/issuing-gate.ts";
import { numberOf } from "./invoices/issue.ts";
import { linesOf } from "./invoices/platform-invoices.ts";
import { periodAt } from "./periods.ts";
import { groupedBy, readCollectionInvoices, receivedAt } from "./store.ts";
import {
  adjustments,
  billingState,
  creditApplications,
  credits,
  discountUses,
  platformInvoices,
  subscriptions,
  type CreditRow,
  type PlatformInvoiceLineRow,
  type PlatformInvoiceRow,
  type SubscriptionRow,
} from "./table.ts";

const restore = "Compare the row with an earlier backup; the audit log shows who changed it.";

/** Returns the first amount or line of an invoice that differs from the result of its frozen inputs; null: none. */
function computedFault(
  row: PlatformInvoiceRow,
  lines: readonly PlatformInvoiceLineRow[],
): string | null {
  const charges = computeCharges(thawInputs(row.inputs));
  const { subtotal, discountTotal, creditTotal, total } = row;
  const totals = firstDifference(
    { subtotal, discountTotal, creditTotal, total, lines: lines.length },
    {
      subtotal: charges.subtotal,
      discountTotal: charges.discountTotal,
      creditTotal: charges.creditTotal,
      total: charges.total,
      lines: charges.lines.length,
    },
  );
  if (totals !== null) return totals;
  for (const [index, line] of charges.lines.entries()) {
    const stored = lines[index];
    if (stored === undefined) return `line ${String(index)} is missing`;
    const { kind, description, quantity, unitAmount, amount, sourceId } = stored;
    const found = firstDifference(
      { kind, description, quantity, unitAmount, amount, sourceId },
      { ...line },
    );
    if (found !== null) return `line ${String(index)}: ${found}`;
  }
  return null;
}

async function invoiceFaults(
  reader: Reader,
  rows: readonly PlatformInvoiceRow[],
): Promise<readonly Violation[]> {
  const lines = await linesOf(
    reader,
    rows.map(({ id }) => id),
  );
  return rows.flatMap((row) => {
    const fault = computedFault(row, lines.get(row.id) ?? []);
    return fault === null ? [] : [{ row: row.id, fault: `${row.number}: its ${fault}.` }];
  });
}

/** Joins ids and amounts, sorted, to a text that can be compared. */
function sumUp(rows: readonly { readonly id: string | null; readonly amount: bigint }[]): string {
  const parts = rows.map(({ id, amount }) => `${String(id)} ${String(amount)}`);
  return parts.length === 0 ? "nothing" : parts.sort().join(", ");
}

/**
 * Compares the credits, discounts and adjustments that invoices used, and the credits that they granted, with their
 * recomputation.
 */
async function takenFaults(
  reader: Reader,
  rows: readonly PlatformInvoiceRow[],
): Promise<readonly Violation[]> {
  const ids = [JSON.stringify(rows.map(({ id }) => id))];
  const of = `platform_invoice_id IN ${listed(reader.dialect, 1)}`;
  const byInvoice = (row: { readonly platformInvoiceId: string | null }) =>
    row.platformInvoiceId ?? "";
  const applied = groupedBy(
    await reader.find(creditApplications, `WHERE ${of} AND reversed_at IS NULL`, ids),
    byInvoice,
  );
  const used = groupedBy(
    await reader.find(discountUses, `WHERE ${of} AND reversed_at IS NULL`, ids),
    byInvoice,
  );
  const adjusted = groupedBy(await reader.find(adjustments, `WHERE ${of}`, ids), byInvoice);
  const given = groupedBy(
    await reader.find(credits, `WHERE source_invoice_id IN ${listed(reader.dialect, 1)}`, ids),
    ({ sourceInvoiceId }) => sourceInvoiceId ?? "",
  );
  return rows.flatMap((row) => {
    const inputs = thawInputs(row.inputs);
    const charges = computeCharges(inputs);
    const isVoid = row.status === "void";
    const uses = (used.get(row.id) ?? []).map(({ discountId: id, amount }) => ({ id, amount }));
    const taken = (applied.get(row.id) ?? []).map(({ creditId: id, amount }) => ({ id, amount }));
    const granted = (given.get(row.id) ?? []).reduce((sum, { amount }) => sum + amount, 0n);
    const owed = (isVoid ? 0n : charges.newCredit) + row.paidSurplus;
    const fault = firstDifference(
      {
        credits: sumUp(taken),
        discounts: sumUp(uses),
        adjustments: sumUp(adjusted.get(row.id) ?? []),
        usageCount: row.usageCount,
        // If a reorganization removed a payment after its credit was spent, an adjustment takes it back and the credit
        // keeps its amount: a larger amount is correct.
        given: granted < owed ? granted : owed,
      },
      {
        credits: sumUp(isVoid ? [] : charges.creditUses),
        discounts: sumUp(isVoid ? [] : charges.discountUses),
        adjustments: sumUp(isVoid ? [] : inputs.adjustments),
        usageCount: inputs.usage?.count ?? null,
        given: owed,
      },
    );
    return fault === null ? [] : [{ row: row.id, fault: `${row.number}: ${fault}.` }];
  });
}

async function collectionFaults(
  reader: Reader,
  rows: readonly PlatformInvoiceRow[],
): Promise<readonly Violation[]> {
  const collected = rows.filter(({ twinId }) => twinId !== null);
  const collectionInvoices = await readCollectionInvoices(
    reader,
    collected.map(({ id }) => id),
  );
  return collected.flatMap((row) => {
    const { confirmed } = receivedAt(collectionInvoices.get(row.id) ?? []);
    const above = confirmed - (row.status === "void" ? 0n : row.total);
    const isPaid = row.status === "void" ? false : confirmed >= row.total;
    const fault = firstDifference(
      { paid: row.status === "paid", paidSurplus: row.paidSurplus },
      { paid: isPaid, paidSurplus: above > 0n ? above : 0n },
    );
    return fault === null ? [] : [{ row: row.id, fault: `${row.number}: ${fault}.` }];
  });
}

async function creditFaults(
  reader: Reader,
  rows: readonly CreditRow[],
): Promise<readonly Violation[]> {
  const taken = groupedBy(
    await reader.find(
      creditApplications,
      `WHERE credit_id IN ${listed(reader.dialect, 1)} AND reversed_at IS NULL`,
      [JSON.stringify(rows.map(({ id }) => id))],
    ),
    ({ creditId }) => creditId,
  );
  return rows.flatMap((row) => {
    const used = (taken.get(row.id) ?? []).reduce((sum, { amount }) => sum + amount, 0n);
    const fault = firstDifference({ remaining: row.remaining }, { remaining: row.amount - used });
    return fault === null ? [] : [{ row: row.id, fault: `Its ${fault}.` }];
  });
}

async function issuedFaults(
  reader: Reader,
  rows: readonly SubscriptionRow[],
): Promise<readonly Violation[]> {
  const limited = rows.filter((row) => limitOf(row) !== null);
  const counts = await countUsedOf(
    reader,
    limited.map(({ organizationId, currentPeriodStart: from, currentPeriodEnd: to }) => ({
      organizationId,
      from,
      to,
    })),
  );
  return limited.flatMap(({ id, organizationId, issuedCount }) => {
    const issued = counts.get(organizationId) ?? 0;
    const fault = firstDifference({ issuedCount }, { issuedCount: issued });
    return fault === null ? [] : [{ row: id, fault: `Its ${fault}.` }];
  });
}

function periodFault(row: SubscriptionRow): string | null {
  const { periodIndex, anchorAt, terms, currentPeriodStart, currentPeriodEnd } = row;
  if (periodIndex < 0) return null;
  const { start, end } = periodAt(anchorAt, terms.interval, periodIndex);
  return firstDifference(
    { currentPeriodStart, currentPeriodEnd },
    { currentPeriodStart: start, currentPeriodEnd: end },
  );
}

const walkInvoices = (reader: Reader, after: string) =>
  reader.find(platformInvoices, `WHERE id > $1 ORDER BY id LIMIT ${String(walkBatch)}`, [after]);

export const billingChecks: readonly Check[] = [
  walkCheck({
    name: "billing.invoices",
    describe: "The lines and totals of a platform invoice follow from its frozen inputs.",
    advice: restore,
    batch: walkInvoices,
    faultsOf: invoiceFaults,
  }),
  walkCheck({
    name: "billing.taken",
    describe:
      "The credits, discounts and adjustments that a platform invoice used, and the credit that it granted, match its lines.",
    advice: restore,
    batch: walkInvoices,
    faultsOf: takenFaults,
  }),
  {
    name: "billing.numbers",
    describe: "The numbers of platform invoices have no gaps and no duplicates.",
    advice: restore,
    async run(reader) {
      const found: Violation[] = [];
      let next = 1;
      // As text, only numbers of the same length sort correctly.
      let after = { number: "", length: numberOf(1).length };
      while (found.length < violationsMax) {
        const rows = await reader.find(
          platformInvoices,
          `WHERE number > $1 AND LENGTH(number) = $2 ORDER BY number LIMIT ${String(walkBatch)}`,
          [after.number, after.length],
        );
        const last = rows.at(-1);
        if (last === undefined) {
          if (numberOf(next).length === after.length) break;
          after = { number: "", length: after.length + 1 };
          continue;
        }
        for (const { id, number } of rows) {
          const due = numberOf(next);
          if (number !== due)
            found.push({ row: id, fault: `Its number is ${number}; expected ${due}.` });
          next = Number(number.replace(/^\D+/, "")) + 1;
        }
        after = { ...after, number: last.number };
      }
      const state = await reader.findOne(billingState, "");
      if (found.length === 0 && state?.nextNumber !== next) {
        const fault = `The next number is ${String(state?.nextNumber)}; expected ${String(next)}.`;
        found.push({ row: "billing", fault });
      }
      return found.slice(0, violationsMax);
    },
  },
  walkCheck({
    name: "billing.collected",
    describe:
      "A platform invoice is paid if and only if its total is confirmed, and any surplus is a credit.",
    advice: "Read it with GET /admin/billing/invoices/{id} and compare its payments.",
    batch: walkInvoices,
    faultsOf: collectionFaults,
  }),
  walkCheck({
    name: "credits.balance",
    describe: "The remaining amount of a credit is its amount less the amounts that invoices used.",
    advice: restore,
    batch: (reader, after) =>
      reader.find(credits, `WHERE id > $1 ORDER BY id LIMIT ${String(walkBatch)}`, [after]),
    faultsOf: creditFaults,
  }),
  queryCheck({
    name: "discounts.uses",
    describe:
      "The use count of a discount is the number of its uses by invoices that are not void.",
    advice: restore,
    sql: `SELECT id AS "row" FROM discounts WHERE periods_used <> (
        SELECT COUNT(*) FROM discount_uses WHERE discount_id = discounts.id AND reversed_at IS NULL
      ) ORDER BY id`,
  }),
  queryCheck({
    name: "adjustments.invoiced",
    describe: "An adjustment is either pending or on an invoice.",
    advice: restore,
    sql: `SELECT id AS "row" FROM adjustments
      WHERE (status = 'invoiced') <> (platform_invoice_id IS NOT NULL) ORDER BY id`,
  }),
  queryCheck({
    name: "subscriptions.plan_change",
    describe:
      "A scheduled plan change takes effect at the end of the current period; a canceled subscription has none.",
    advice: restore,
    sql: `SELECT id AS "row" FROM subscriptions WHERE
        (pending_plan IS NULL AND (plan_change_effective_at IS NOT NULL OR pending_terms IS NOT NULL)) OR
        (pending_plan IS NOT NULL AND (status = 'canceled' OR plan_change_effective_at IS NULL
          OR plan_change_effective_at <> current_period_end))
      ORDER BY id`,
  }),
  walkCheck({
    name: "subscriptions.issued",
    describe:
      "For a plan with a limit, the stored count is the number of invoices that count in the current period.",
    advice: restore,
    batch: (reader, after) =>
      reader.find(
        subscriptions,
        `WHERE id > $1 AND status <> 'canceled' AND issued_from = current_period_start
         ORDER BY id LIMIT ${String(walkBatch)}`,
        [after],
      ),
    faultsOf: issuedFaults,
  }),
  walkCheck({
    name: "subscriptions.period",
    describe: "The current period of a subscription is counted from its anchor.",
    advice: restore,
    batch: (reader, after) =>
      reader.find(subscriptions, `WHERE id > $1 ORDER BY id LIMIT ${String(walkBatch)}`, [after]),
    faultsOf: (_reader, rows) =>
      Promise.resolve(
        rows.flatMap((row) => {
          const fault = periodFault(row);
          return fault === null ? [] : [{ row: row.id, fault: `Its ${fault}.` }];
        }),
      ),
  }),
];
