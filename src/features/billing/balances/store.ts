import { assert } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import type { PageRequest } from "../../../kernel/page.ts";
import { encodeAmount, type RowOf, type Table } from "../../../platform/database/schema/table.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import { pageQuery } from "../../../platform/database/query/page.ts";
import {
  adjustments,
  creditApplications,
  credits,
  discounts,
  discountUses,
  type AdjustmentRow,
  type CreditRow,
  type DiscountRow,
} from "../table.ts";

/** Returns a page of an organization's credits, discounts or adjustments, newest first. */
export function listEntries<T extends typeof credits | typeof discounts | typeof adjustments>(
  reader: Reader,
  table: T & Table,
  organizationId: Id<"organization">,
  page: PageRequest,
): Promise<RowOf<T>[]> {
  const { rest, values } = pageQuery(page, [["organization_id =", organizationId]]);
  return reader.find(table, rest, values);
}

/** Locks and returns the organization's credits in a currency that are not used up, oldest first. */
export function lockCredits(
  tx: Tx,
  organizationId: Id<"organization">,
  currency: string,
): Promise<CreditRow[]> {
  return tx.lock(
    credits,
    "WHERE organization_id = $1 AND currency = $2 AND remaining > $3 ORDER BY id",
    [organizationId, currency, encodeAmount(0n)],
  );
}

/** Locks and returns the organization's discounts that can still be used, oldest first. */
export function lockDiscounts(tx: Tx, organizationId: Id<"organization">): Promise<DiscountRow[]> {
  return tx.lock(
    discounts,
    "WHERE organization_id = $1 AND (periods IS NULL OR periods_used < periods) ORDER BY id",
    [organizationId],
  );
}

/** Locks and returns the organization's pending adjustments in a currency, oldest first. */
export function lockAdjustments(
  tx: Tx,
  organizationId: Id<"organization">,
  currency: string,
): Promise<AdjustmentRow[]> {
  return tx.lock(
    adjustments,
    "WHERE organization_id = $1 AND currency = $2 AND status = 'pending' ORDER BY id",
    [organizationId, currency],
  );
}

/**
 * Updates the amount, the remaining amount and the expiry time of credits; each must still have the version that was
 * read.
 */
export async function setRemaining(
  tx: Tx,
  changes: readonly { readonly from: CreditRow; readonly to: CreditRow }[],
): Promise<void> {
  const changed = await tx.updateMany(
    credits,
    changes.map(({ from, to: { amount, remaining, expiresAt, version } }) => ({
      where: { id: from.id, version: from.version },
      set: { amount, remaining, expiresAt, version },
    })),
  );
  assert(changed === changes.length, "each credit is changed once");
}

/** Adds one use to the count of each discount, or subtracts one. */
export async function countUses(
  tx: Tx,
  ids: readonly Id<"discount">[],
  change: 1 | -1,
): Promise<void> {
  if (ids.length === 0) return;
  const isPossible =
    change === 1 ? "(periods IS NULL OR periods_used < periods)" : "periods_used > 0";
  const changed = await tx.run(
    `UPDATE discounts SET periods_used = periods_used + $2
     WHERE id IN ${listed(tx.dialect, 1)} AND ${isPossible}`,
    [JSON.stringify(ids), change],
  );
  assert(changed === ids.length, "each discount is counted once");
}

/** Assigns pending adjustments to an invoice. */
export async function takeAdjustments(
  tx: Tx,
  ids: readonly Id<"adjustment">[],
  platformInvoiceId: Id<"platformInvoice">,
): Promise<void> {
  if (ids.length === 0) return;
  const changed = await tx.run(
    `UPDATE adjustments SET status = 'invoiced', platform_invoice_id = $2
     WHERE id IN ${listed(tx.dialect, 1)} AND status = 'pending'`,
    [JSON.stringify(ids), platformInvoiceId],
  );
  assert(changed === ids.length, "each adjustment is invoiced once");
}

/** Makes an invoice's adjustments pending again, for the next invoice. */
export async function releaseAdjustments(
  tx: Tx,
  platformInvoiceId: Id<"platformInvoice">,
): Promise<void> {
  await tx.run(
    `UPDATE adjustments SET status = 'pending', platform_invoice_id = NULL
     WHERE platform_invoice_id = $1 AND status = 'invoiced'`,
    [platformInvoiceId],
  );
}

/** Locks the credits that an invoice used and that were not restored yet; returns them with the amounts used. */
export async function lockApplications(
  tx: Tx,
  platformInvoiceId: Id<"platformInvoice">,
): Promise<{ readonly credit: CreditRow; readonly amount: bigint }[]> {
  const locked = await tx.lock(
    credits,
    `WHERE id IN (SELECT credit_id FROM credit_applications
       WHERE platform_invoice_id = $1 AND reversed_at IS NULL) ORDER BY id`,
    [platformInvoiceId],
  );
  const taken = await tx.find(
    creditApplications,
    "WHERE platform_invoice_id = $1 AND reversed_at IS NULL",
    [platformInvoiceId],
  );
  const amounts = new Map(taken.map(({ creditId, amount }) => [creditId, amount]));
  return locked.map((credit) => ({ credit, amount: amounts.get(credit.id) ?? 0n }));
}

/** Locks the discounts that an invoice used and that were not restored yet; returns their ids. */
export async function lockUses(
  tx: Tx,
  platformInvoiceId: Id<"platformInvoice">,
): Promise<Id<"discount">[]> {
  const rows = await tx.lock(
    discounts,
    `WHERE id IN (SELECT discount_id FROM discount_uses
       WHERE platform_invoice_id = $1 AND reversed_at IS NULL) ORDER BY id`,
    [platformInvoiceId],
  );
  return rows.map(({ id }) => id);
}

/** Marks an invoice's uses of credits and discounts as reversed. */
export async function markReversed(
  tx: Tx,
  platformInvoiceId: Id<"platformInvoice">,
  at: number,
): Promise<void> {
  for (const table of [creditApplications, discountUses]) {
    await tx.update(
      table,
      { reversedAt: at },
      "WHERE platform_invoice_id = $1 AND reversed_at IS NULL",
      [platformInvoiceId],
    );
  }
}

/** Locks and returns the credits that came from an invoice, newest first. */
export function lockCreditsFrom(
  tx: Tx,
  platformInvoiceId: Id<"platformInvoice">,
): Promise<CreditRow[]> {
  return tx.lock(credits, "WHERE source_invoice_id = $1 ORDER BY id DESC", [platformInvoiceId]);
}
