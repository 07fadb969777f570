import type { InTx } from "../../../app.ts";
import {
  findCurrency,
  formatMoney,
  money,
  parseMoney,
  settlementAsset,
} from "../../../kernel/money/money.ts";
import type { Actor } from "../../../kernel/actor.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { assert, Defect } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { parsePercent } from "../../../kernel/money/ratio.ts";
import type { PageRequest } from "../../../kernel/page.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import { pageQuery } from "../../../platform/database/query/lists.ts";
import { encodeAmount, type RowOf, type Table } from "../../../platform/database/schema/table.ts";
import type { InvoiceRow } from "../../invoices/store.ts";
import { readPaymentsOf } from "../../payments/payments.ts";
import { presentPayment } from "../../payments/records.ts";
import type { ChargeInputs, Charges, DiscountInput } from "../charges.ts";
import { savePlatformInvoice } from "../store.ts";
import { presentAdjustment, presentCredit, presentDiscount } from "../operator/admin-records.ts";
import {
  adjustments,
  creditApplications,
  credits,
  discounts,
  discountUses,
  type AdjustmentRow,
  type CreditRow,
  type DiscountRow,
  type PlatformInvoiceRow,
} from "../table.ts";

/** The `createdBy` of credits and adjustments that Till creates without an actor. */
const system = "system";

/** Returns the `createdBy` for an actor: the id of a user or API key, the operator's name, or `system`. */
export function creatorOf(actor: Actor): string {
  return actor.type === "system" ? system : (actor.id ?? actor.label);
}

type NewCredit = Pick<
  CreditRow,
  "organizationId" | "amount" | "currency" | "decimals" | "reason" | "expiresAt" | "createdBy"
> & { readonly sourceInvoiceId: CreditRow["sourceInvoiceId"] };
type NewDiscount = Omit<DiscountRow, "id" | "periodsUsed" | "createdAt">;
type NewAdjustment = Omit<AdjustmentRow, "id" | "status" | "platformInvoiceId" | "createdAt">;

/** The fields of a platform invoice by which its use of credits, discounts and adjustments is stored. */
type BilledInvoice = Pick<
  PlatformInvoiceRow,
  "id" | "number" | "organizationId" | "currency" | "decimals"
>;

/** The inputs of an organization's next invoice besides its plan and usage. */
type BalanceInputs = Pick<ChargeInputs, "adjustments" | "discounts" | "credits">;

// Credits, discounts and adjustments of organizations, in their caller's transaction.

/** Grants a credit, with its audit entry and event. */
export async function grantCredit(
  tx: Tx,
  { ids, journal }: InTx,
  at: Instant,
  given: NewCredit,
): Promise<CreditRow> {
  const credit: CreditRow = {
    ...given,
    id: ids.next("credit", at),
    remaining: given.amount,
    createdAt: at,
    version: 1,
  };
  await tx.insert(credits, credit);
  const shown = presentCredit({ credit, at });
  const { id, organizationId, ...changes } = shown;
  journal.record(tx, at, {
    action: "credit.granted",
    organizationId,
    subjectType: "credit",
    subjectId: id,
    changes,
    events: { types: ["credit.granted"], version: credit.version, data: shown },
  });
  return credit;
}

/** Adds a pending adjustment, with its audit entry. */
export async function addAdjustment(
  tx: Tx,
  { ids, journal }: InTx,
  at: Instant,
  given: NewAdjustment,
): Promise<AdjustmentRow> {
  const row: AdjustmentRow = {
    ...given,
    id: ids.next("adjustment", at),
    status: "pending",
    platformInvoiceId: null,
    createdAt: at,
  };
  await tx.insert(adjustments, row);
  const { id, organizationId, ...changes } = presentAdjustment(row);
  journal.record(tx, at, {
    action: "adjustment.created",
    organizationId,
    subjectType: "adjustment",
    subjectId: id,
    changes,
  });
  return row;
}

/**
 * Takes back up to `amount` of the credits that came from an invoice: first from their remaining amounts, then as a
 * pending adjustment for the part that was already spent. For payments that a reorganization removed, and for voided
 * invoices.
 */
export async function takeBackCredits(
  tx: Tx,
  app: InTx,
  at: Instant,
  invoice: BilledInvoice,
  amount: bigint,
): Promise<void> {
  const { organizationId, currency, decimals, number } = invoice;
  let left = amount;
  const changes = (await lockCreditsFrom(tx, invoice.id)).flatMap((credit) => {
    const taken = credit.remaining < left ? credit.remaining : left;
    left -= taken;
    const less = { amount: credit.amount - taken, remaining: credit.remaining - taken };
    return taken === 0n ? [] : [change(credit, less)];
  });
  await setRemaining(tx, changes);
  for (const { from, to } of changes) {
    const asset = settlementAsset(currency, decimals);
    const [before, after] = [from, to].map((row) => formatMoney(money(row.amount, asset)));
    app.journal.record(tx, at, {
      action: "credit.reduced",
      organizationId,
      subjectType: "credit",
      subjectId: from.id,
      changes: { amount: { from: before, to: after }, invoice: number },
    });
  }
  if (left === 0n) return;
  const description = `Credit from ${number}, taken back after it was spent`;
  const made = { organizationId, currency, decimals, createdBy: system };
  await addAdjustment(tx, app, at, { ...made, amount: left, description });
}

/** Grants a discount, with its audit entry. */
export async function grantDiscount(
  tx: Tx,
  { ids, journal }: InTx,
  at: Instant,
  given: NewDiscount,
): Promise<DiscountRow> {
  const row: DiscountRow = {
    ...given,
    id: ids.next("discount", at),
    periodsUsed: 0,
    createdAt: at,
  };
  await tx.insert(discounts, row);
  const { id, organizationId, ...changes } = presentDiscount(row);
  journal.record(tx, at, {
    action: "discount.granted",
    organizationId,
    subjectType: "discount",
    subjectId: id,
    changes,
  });
  return row;
}

/** Locks the entries that an invoice in the currency may use, and returns them for `computeCharges`. */
export async function lockBalances(
  tx: Tx,
  organizationId: Id<"organization">,
  currency: string,
): Promise<BalanceInputs> {
  const lockedCredits = await lockCredits(tx, organizationId, currency);
  const lockedDiscounts = await lockDiscounts(tx, organizationId);
  const waiting = await lockAdjustments(tx, organizationId, currency);
  return {
    credits: lockedCredits.map(({ id, remaining, expiresAt, reason }) => ({
      id,
      remaining,
      currency,
      expiresAt,
      reason,
    })),
    discounts: lockedDiscounts.map(discountInput),
    adjustments: waiting.map(({ id, amount, description }) => ({ id, amount, description })),
  };
}

/**
 * Uses the credits, discounts and adjustments in the charges of an invoice that was just inserted, and creates their
 * new credit and carried adjustment. Call it once, in the transaction that called `lockBalances`.
 */
export async function consumeBalances(
  tx: Tx,
  app: InTx,
  at: Instant,
  invoice: BilledInvoice,
  charges: Charges,
): Promise<void> {
  const { id: platformInvoiceId, organizationId, currency, decimals, number } = invoice;
  const taken = new Map(charges.creditUses.map(({ id, amount }) => [id, amount]));
  const held = taken.size === 0 ? [] : await lockCredits(tx, organizationId, currency);
  const used = held.filter(({ id }) => taken.has(id));
  assert(used.length === taken.size, "every credit that is used has something left");
  await setRemaining(
    tx,
    used.map((from) => change(from, { remaining: from.remaining - (taken.get(from.id) ?? 0n) })),
  );
  const unreversed = { platformInvoiceId, reversedAt: null };
  await tx.insertMany(
    creditApplications,
    charges.creditUses.map(({ id, amount }) => ({ creditId: id, amount, ...unreversed })),
  );
  await countUses(
    tx,
    charges.discountUses.map(({ id }) => id),
    1,
  );
  await tx.insertMany(
    discountUses,
    charges.discountUses.map(({ id, amount }) => ({ discountId: id, amount, ...unreversed })),
  );
  await takeAdjustments(tx, charges.adjustmentIds, platformInvoiceId);
  const made = { organizationId, currency, decimals, createdBy: system };
  if (charges.newCredit > 0n) {
    await grantCredit(tx, app, at, {
      ...made,
      amount: charges.newCredit,
      reason: `Balance of ${number}`,
      expiresAt: null,
      sourceInvoiceId: platformInvoiceId,
    });
  }
  if (charges.carried > 0n) {
    const description = `Carried forward from ${number}`;
    await addAdjustment(tx, app, at, { ...made, amount: charges.carried, description });
  }
}

/**
 * Undoes `consumeBalances` for an invoice that is voided. The used amounts return to their credits; a credit that expired
 * meanwhile is extended by the time since the issue. Adjustments become pending again, the uses of discounts are
 * uncounted, and the credit or carried adjustment that the invoice created is taken back. Call it once.
 */
export async function restoreBalances(
  tx: Tx,
  app: InTx,
  at: Instant,
  invoice: BilledInvoice & { issuedAt: Instant },
  { newCredit, carried }: Pick<Charges, "newCredit" | "carried">,
): Promise<void> {
  const applications = await lockApplications(tx, invoice.id);
  await setRemaining(
    tx,
    applications.map(({ credit, amount }) => {
      const { expiresAt } = credit;
      const hasExpired = expiresAt !== null && expiresAt <= at;
      return change(credit, {
        remaining: credit.remaining + amount,
        expiresAt: hasExpired ? expiresAt + (at - invoice.issuedAt) : expiresAt,
      });
    }),
  );
  await countUses(tx, await lockUses(tx, invoice.id), -1);
  await releaseAdjustments(tx, invoice.id);
  await markReversed(tx, invoice.id, at);
  if (newCredit > 0n) await takeBackCredits(tx, app, at, invoice, newCredit);
  if (carried > 0n) {
    const { organizationId, currency, decimals, number } = invoice;
    const made = { organizationId, currency, decimals, createdBy: system };
    const description = `Carried forward from ${number}, which is void`;
    await addAdjustment(tx, app, at, { ...made, amount: -carried, description });
  }
}

/**
 * Grants the surplus of a locked platform invoice as a credit: the amount confirmed above its total, or all of it if
 * the invoice is void. Takes the credit back if a reorganization removed the payment. `collectionInvoices` are the collection
 * invoices that were paid. Returns the updated platform invoice; repeating the call changes nothing.
 */
export async function creditSurplus(
  tx: Tx,
  app: InTx,
  at: Instant,
  invoice: PlatformInvoiceRow,
  collectionInvoices: readonly InvoiceRow[],
  confirmed: bigint,
): Promise<PlatformInvoiceRow> {
  const { total, status, paidSurplus, number } = invoice;
  const above = confirmed - (status === "void" ? 0n : total);
  const surplus = above > 0n ? above : 0n;
  if (surplus === paidSurplus) return invoice;
  const saved = await savePlatformInvoice(tx, at, invoice, { paidSurplus: surplus });
  if (surplus < paidSurplus) {
    await takeBackCredits(tx, app, at, saved, paidSurplus - surplus);
    return saved;
  }
  const { organizationId, currency, decimals, id } = invoice;
  const hash = await newestTransaction(tx, app, collectionInvoices, id);
  const by = hash === null ? "" : ` by transaction ${hash}`;
  await grantCredit(tx, app, at, {
    organizationId,
    currency,
    decimals,
    amount: surplus - paidSurplus,
    reason:
      status === "void"
        ? `Payment of void invoice ${number}${by}`
        : `Overpayment of ${number}${by}`,
    expiresAt: null,
    createdBy: system,
    sourceInvoiceId: id,
  });
  return saved;
}

/** Returns the hash of the newest confirmed payment of a platform invoice; null if none of `collectionInvoices` has one. */
async function newestTransaction(
  tx: Tx,
  app: InTx,
  collectionInvoices: readonly InvoiceRow[],
  platformInvoiceId: string,
): Promise<string | null> {
  const collectionInvoice = collectionInvoices.find(
    ({ metadata }) => metadata["platformInvoiceId"] === platformInvoiceId,
  );
  if (collectionInvoice === undefined) return null;
  const counted = (await readPaymentsOf(tx, app, collectionInvoice.id)).map(presentPayment);
  const confirmed = counted.filter(({ status }) => status === "confirmed");
  return confirmed.at(-1)?.transactionHash ?? null;
}

function change(
  from: CreditRow,
  set: Partial<Pick<CreditRow, "amount" | "remaining" | "expiresAt">>,
): { readonly from: CreditRow; readonly to: CreditRow } {
  return { from, to: { ...from, ...set, version: from.version + 1 } };
}

function discountInput(row: DiscountRow): DiscountInput {
  const { id, reason, periods, periodsUsed, value, currency } = row;
  const terms = { id, reason, periods, periodsUsed };
  if (row.kind === "percent") {
    const share = parsePercent(value);
    if (share === null) throw new Defect(`the value of ${id} is not a percentage`);
    return { ...terms, kind: "percent", share };
  }
  const asset = currency === null ? null : findCurrency(currency);
  if (asset === null) throw new Defect(`${id} has no known currency`);
  return { ...terms, kind: "fixed", amount: parseMoney(value, asset).units, currency: asset.code };
}

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
function lockCredits(
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
function lockDiscounts(tx: Tx, organizationId: Id<"organization">): Promise<DiscountRow[]> {
  return tx.lock(
    discounts,
    "WHERE organization_id = $1 AND (periods IS NULL OR periods_used < periods) ORDER BY id",
    [organizationId],
  );
}

/** Locks and returns the organization's pending adjustments in a currency, oldest first. */
function lockAdjustments(
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
async function setRemaining(
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
async function countUses(tx: Tx, ids: readonly Id<"discount">[], change: 1 | -1): Promise<void> {
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
async function takeAdjustments(
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
async function releaseAdjustments(tx: Tx, platformInvoiceId: Id<"platformInvoice">): Promise<void> {
  await tx.run(
    `UPDATE adjustments SET status = 'pending', platform_invoice_id = NULL
     WHERE platform_invoice_id = $1 AND status = 'invoiced'`,
    [platformInvoiceId],
  );
}

/** Locks the credits that an invoice used and that were not restored yet; returns them with the amounts used. */
async function lockApplications(
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
async function lockUses(
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
async function markReversed(
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
function lockCreditsFrom(tx: Tx, platformInvoiceId: Id<"platformInvoice">): Promise<CreditRow[]> {
  return tx.lock(credits, "WHERE source_invoice_id = $1 ORDER BY id DESC", [platformInvoiceId]);
}
