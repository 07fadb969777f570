import type { App, InTx } from "../../../app.ts";
import type { Actor } from "../../../kernel/actor.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { assert, Defect, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import {
  findCurrency,
  formatMoney,
  money,
  parseMoney,
  settlementAsset,
  sum,
  type Money,
} from "../../../kernel/money/money.ts";
import { parsePercent } from "../../../kernel/money/ratio.ts";
import { mapPage, parsePage, toPage, type Page, type PageQuery } from "../../../kernel/page.ts";
import type { Reader, Tx, WriteContext } from "../../../platform/database/database.ts";
import { listed } from "../../../platform/database/query/json-rows.ts";
import { pageQuery } from "../../../platform/database/query/lists.ts";
import { encodeAmount, type RowOf } from "../../../platform/database/schema/table.ts";
import type { InvoiceRow } from "../../invoices/store.ts";
import { findOrganization } from "../../organizations/store.ts";
import { readPaymentsOf } from "../../payments/payments.ts";
import { presentPayment } from "../../payments/records.ts";
import type { ChargeInputs, Charges, DiscountInput } from "../charges.ts";
import { BillingCurrencyDiffers, CurrencyNotBilled } from "../errors.ts";
import { liveSubscription, savePlatformInvoice } from "../store.ts";
import {
  adjustments,
  creditApplications,
  credits,
  discounts,
  discountUses,
  type CreditRow,
  type DiscountRow,
  type PlatformInvoiceRow,
} from "../table.ts";
import {
  adjustment,
  credit,
  type EntryKind,
  type EntryTable,
  type EntryView,
  type Ownership,
  type Terms,
} from "./entries.ts";

// The balances of organizations: all that reads, locks, spends and restores credits, discounts and adjustments.
//
// - An invoice is computed from entries that its transaction has locked, and spends them in the same transaction. So no
//   entry is used twice, and the locks are always taken in the same order: credits, discounts, adjustments.
// - It takes from a credit what it needs, uses a discount once, and takes an adjustment as a whole. Each use of a credit
//   or a discount is a row that names the invoice: the amount of a credit is always its rest plus the amounts of its rows
//   that are not reversed.
// - A void gives everything back: the rows are marked as reversed, and a credit that expired meanwhile lives longer.
// - A credit that came from an invoice names it. Its cause may vanish, by a void or a reorganization: then it is taken
//   back from what remains, and the part that was spent is charged as an adjustment.
// - Every new entry has an audit entry, and a credit has an event too.

/** The `createdBy` of entries that Till creates without an actor. */
const system = "system";

/** The fields of a platform invoice by which its entries are stored. */
type BilledInvoice = Pick<
  PlatformInvoiceRow,
  "id" | "number" | "organizationId" | "currency" | "decimals"
>;

/** Returns a page of an organization's entries, newest first. An unknown organization is a 404. */
export async function listEntries<T extends EntryTable>(
  { db, clock }: App,
  { table }: { readonly table: T },
  organizationId: Id<"organization">,
  query: PageQuery,
): Promise<Page<EntryView<T>>> {
  const at = clock.now();
  const page = parsePage(query, table.name, { organizationId });
  await requireOrganization(db, organizationId);
  const { rest, values } = pageQuery(page, [["organization_id =", organizationId]]);
  return mapPage(toPage(await db.find(table, rest, values), page), (row) => ({ row, at }));
}

/** Returns the sum of an organization's credits in a currency that are neither used up nor expired. */
export async function sumUsableCredits(
  { db, clock }: App,
  organizationId: Id<"organization">,
  currency: string,
): Promise<Money | null> {
  const asset = findCurrency(currency);
  if (asset === null) return null;
  const open = await db.find(
    credits,
    `WHERE organization_id = $1 AND currency = $2 AND remaining > $3
     AND (expires_at IS NULL OR expires_at > $4)`,
    [organizationId, currency, encodeAmount(0n), clock.now()],
  );
  return sum(
    open.map(({ remaining }) => money(remaining, asset)),
    asset,
  );
}

/**
 * Gives an organization the entry that a platform admin asks for. An unknown organization is a 404, a currency in which
 * it is not billed a 422. @throws the errors of the kind's `parse`
 */
export function giveEntry<T extends EntryTable, Asked, Given extends Terms>(
  app: App,
  context: WriteContext,
  kind: EntryKind<T, Asked, Given>,
  organizationId: Id<"organization">,
  asked: Asked,
): Promise<EntryView<T>> {
  return app.db.write(context, async (tx) => {
    const at = app.clock.now();
    const terms = kind.parse(asked, at);
    await requireOrganization(tx, organizationId);
    if (terms.currency !== null) await requireBilled(tx, app, organizationId, terms.currency);
    const createdBy = creatorOf(context.actor);
    const row = await addEntry(tx, app, at, kind, { ...terms, organizationId, createdBy });
    return { row, at };
  });
}

async function requireOrganization(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<void> {
  if ((await findOrganization(reader, organizationId)) === null) throw notFound();
}

/** Refuses a currency in which the organization gets no invoices: the entry would stay unused forever. */
async function requireBilled(
  reader: Reader,
  { config }: InTx,
  organizationId: Id<"organization">,
  currency: string,
): Promise<void> {
  const live = await liveSubscription(reader, organizationId);
  if (live !== null && live.terms.currency !== currency) {
    throw new BillingCurrencyDiffers(
      `The organization's subscription is billed in ${live.terms.currency}. Give the amount in that currency.`,
    );
  }
  const known = new Set(config.plans.plans.map((plan) => plan.currency));
  if (live !== null || known.has(currency)) return;
  throw new CurrencyNotBilled(
    `No plan is billed in ${currency}. Choose one of: ${[...known].join(", ")}.`,
  );
}

/** Returns the `createdBy` for an actor. */
function creatorOf(actor: Actor): string {
  return actor.type === "system" ? system : (actor.id ?? actor.label);
}

/** Adds an entry in the caller's transaction, with its audit entry and event. */
export async function addEntry<T extends EntryTable, Asked, Given extends Terms>(
  tx: Tx,
  { ids, journal }: InTx,
  at: Instant,
  kind: EntryKind<T, Asked, Given>,
  terms: Given & Ownership,
): Promise<RowOf<T>> {
  const row = kind.begin(terms, at, ids);
  await tx.insert(kind.table, row);
  const shown = kind.present({ row, at });
  const { id, organizationId, ...changes } = shown;
  journal.record(tx, at, {
    action: kind.added,
    organizationId,
    subjectType: kind.noun,
    subjectId: id,
    changes,
    events: kind.event === null ? undefined : { types: [kind.event], version: 1, data: shown },
  });
  return row;
}

/** The fields that every entry has that Till adds on account of an invoice. */
export function madeFor({
  organizationId,
  currency,
  decimals,
}: Pick<BilledInvoice, "organizationId" | "currency" | "decimals">) {
  return { organizationId, currency, decimals, createdBy: system };
}

/** Locks the entries that an invoice in the currency may use, and returns them for `computeCharges`. */
export async function lockBalances(
  tx: Tx,
  organizationId: Id<"organization">,
  currency: string,
): Promise<Pick<ChargeInputs, "adjustments" | "discounts" | "credits">> {
  const left = await lockCredits(tx, organizationId, currency);
  const usable = await tx.lock(
    discounts,
    "WHERE organization_id = $1 AND (periods IS NULL OR periods_used < periods) ORDER BY id",
    [organizationId],
  );
  const pending = await tx.lock(
    adjustments,
    "WHERE organization_id = $1 AND currency = $2 AND status = 'pending' ORDER BY id",
    [organizationId, currency],
  );
  return {
    credits: left.map(({ id, remaining, expiresAt, reason }) => ({
      id,
      remaining,
      currency,
      expiresAt,
      reason,
    })),
    discounts: usable.map(discountInput),
    adjustments: pending.map(({ id, amount, description }) => ({ id, amount, description })),
  };
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
  const { id: platformInvoiceId, organizationId, currency, number } = invoice;
  const { creditUses, adjustmentIds, newCredit, carried } = charges;
  const taken = new Map(creditUses.map(({ id, amount }) => [id, amount]));
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
    creditUses.map(({ id, amount }) => ({ creditId: id, amount, ...unreversed })),
  );
  await countUses(tx, charges.discountUses, 1);
  await tx.insertMany(
    discountUses,
    charges.discountUses.map(({ id, amount }) => ({ discountId: id, amount, ...unreversed })),
  );
  if (adjustmentIds.length > 0) {
    const invoiced = await tx.run(
      `UPDATE adjustments SET status = 'invoiced', platform_invoice_id = $2
       WHERE id IN ${listed(tx.dialect, 1)} AND status = 'pending'`,
      [JSON.stringify(adjustmentIds), platformInvoiceId],
    );
    assert(invoiced === adjustmentIds.length, "each adjustment is invoiced once");
  }
  if (newCredit > 0n) {
    await addCreditFrom(tx, app, at, invoice, newCredit, `Balance of ${number}`);
  }
  if (carried > 0n) {
    const description = `Carried forward from ${number}`;
    await addEntry(tx, app, at, adjustment, { ...madeFor(invoice), amount: carried, description });
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
  const { id, number, issuedAt } = invoice;
  const unreversed = "WHERE platform_invoice_id = $1 AND reversed_at IS NULL";
  const held = await tx.lock(
    credits,
    `WHERE id IN (SELECT credit_id FROM credit_applications ${unreversed}) ORDER BY id`,
    [id],
  );
  const applications = await tx.find(creditApplications, unreversed, [id]);
  const taken = new Map(applications.map(({ creditId, amount }) => [creditId, amount]));
  await setRemaining(
    tx,
    held.map((from) => {
      const { remaining, expiresAt } = from;
      const hasExpired = expiresAt !== null && expiresAt <= at;
      return change(from, {
        remaining: remaining + (taken.get(from.id) ?? 0n),
        expiresAt: hasExpired ? expiresAt + (at - issuedAt) : expiresAt,
      });
    }),
  );
  const used = await tx.lock(
    discounts,
    `WHERE id IN (SELECT discount_id FROM discount_uses ${unreversed}) ORDER BY id`,
    [id],
  );
  await countUses(tx, used, -1);
  await tx.run(
    `UPDATE adjustments SET status = 'pending', platform_invoice_id = NULL
     WHERE platform_invoice_id = $1 AND status = 'invoiced'`,
    [id],
  );
  for (const table of [creditApplications, discountUses]) {
    await tx.update(table, { reversedAt: at }, unreversed, [id]);
  }
  if (newCredit > 0n) await takeBackCredits(tx, app, at, invoice, newCredit);
  if (carried > 0n) {
    const description = `Carried forward from ${number}, which is void`;
    const made = { ...madeFor(invoice), amount: -carried, description };
    await addEntry(tx, app, at, adjustment, made);
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
  const { id, total, status, paidSurplus, number } = invoice;
  const above = confirmed - (status === "void" ? 0n : total);
  const surplus = above > 0n ? above : 0n;
  if (surplus === paidSurplus) return invoice;
  const saved = await savePlatformInvoice(tx, at, invoice, { paidSurplus: surplus });
  if (surplus < paidSurplus) {
    await takeBackCredits(tx, app, at, saved, paidSurplus - surplus);
    return saved;
  }
  const hash = await newestTransaction(tx, app, collectionInvoices, id);
  const cause = status === "void" ? "Payment of void invoice" : "Overpayment of";
  const by = hash === null ? "" : ` by transaction ${hash}`;
  const reason = `${cause} ${number}${by}`;
  await addCreditFrom(tx, app, at, invoice, surplus - paidSurplus, reason);
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

/** Adds the credit that comes from an invoice, and that `takeBackCredits` takes back. */
async function addCreditFrom(
  tx: Tx,
  app: InTx,
  at: Instant,
  invoice: BilledInvoice,
  amount: bigint,
  reason: string,
): Promise<void> {
  const terms = { amount, reason, expiresAt: null, sourceInvoiceId: invoice.id };
  await addEntry(tx, app, at, credit, { ...madeFor(invoice), ...terms });
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
  const given = await tx.lock(credits, "WHERE source_invoice_id = $1 ORDER BY id DESC", [
    invoice.id,
  ]);
  let left = amount;
  const changes = given.flatMap((from) => {
    const taken = from.remaining < left ? from.remaining : left;
    left -= taken;
    const less = { amount: from.amount - taken, remaining: from.remaining - taken };
    return taken === 0n ? [] : [change(from, less)];
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
  await addEntry(tx, app, at, adjustment, { ...madeFor(invoice), amount: left, description });
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

/** A credit as it was locked, and as it is to be stored. */
interface CreditChange {
  readonly from: CreditRow;
  readonly to: CreditRow;
}

function change(
  from: CreditRow,
  set: Partial<Pick<CreditRow, "amount" | "remaining" | "expiresAt">>,
): CreditChange {
  return { from, to: { ...from, ...set, version: from.version + 1 } };
}

/** Stores changes of credits, each of which must still have the version that was read. */
async function setRemaining(tx: Tx, changes: readonly CreditChange[]): Promise<void> {
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
async function countUses(
  tx: Tx,
  used: readonly { readonly id: Id<"discount"> }[],
  change: 1 | -1,
): Promise<void> {
  if (used.length === 0) return;
  const isPossible =
    change === 1 ? "(periods IS NULL OR periods_used < periods)" : "periods_used > 0";
  const changed = await tx.run(
    `UPDATE discounts SET periods_used = periods_used + $2
     WHERE id IN ${listed(tx.dialect, 1)} AND ${isPossible}`,
    [JSON.stringify(used.map(({ id }) => id)), change],
  );
  assert(changed === used.length, "each discount is counted once");
}
