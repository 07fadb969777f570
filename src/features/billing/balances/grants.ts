import type { App, InTx } from "../../../app.ts";
import type { Instant } from "../../../kernel/clock.ts";
import { invalidField, notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import {
  findCurrency,
  formatMoney,
  money,
  parseMoneyField,
  sum,
  type Asset,
  type Money,
} from "../../../kernel/money/money.ts";
import {
  formatPercent,
  magnitude,
  parsePercentField,
  powerOfTen,
} from "../../../kernel/money/ratio.ts";
import { mapPage, parsePage, toPage, type Page, type PageQuery } from "../../../kernel/page.ts";
import { encodeAmount } from "../../../platform/database/schema/table.ts";
import type { Reader, WriteContext } from "../../../platform/database/database.ts";
import { findOrganization } from "../../organizations/store.ts";
import {
  BillingAmountTooLarge,
  BillingCurrencyDiffers,
  CurrencyNotBilled,
  DiscountCurrencyMismatch,
} from "../errors.ts";
import type {
  CreditView,
  GiveAdjustmentInput,
  GiveCreditInput,
  GiveDiscountInput,
} from "../operator/admin-records.ts";
import { addAdjustment, creatorOf, grantCredit, grantDiscount, listEntries } from "./balances.ts";
import { liveSubscription } from "../store.ts";
import { adjustments, credits, discounts, type AdjustmentRow, type DiscountRow } from "../table.ts";

// Credits, discounts and adjustments that platform admins give to organizations. An unknown organization is a 404, a
// currency in which it is not billed a 422.

type OrganizationId = Id<"organization">;

/** The largest amount of a credit, a discount or an adjustment, in whole units of its currency. */
const largestAmount = 10n ** 12n;

/** Returns a page of an organization's credits, newest first, with the time for which their status is shown. */
export async function listCredits(
  app: App,
  organizationId: OrganizationId,
  query: PageQuery,
): Promise<Page<CreditView>> {
  const at = app.clock.now();
  return mapPage(await pageOf(app, credits, organizationId, query), (credit) => ({ credit, at }));
}

/** Returns the sum of an organization's credits in a currency that are neither used up nor expired. */
export async function sumUsableCredits(
  { db, clock }: App,
  organizationId: OrganizationId,
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

/** Adds a credit that was asked for to an organization. @throws the errors of `readCredit` */
export function addCredit(
  app: App,
  context: WriteContext,
  organizationId: OrganizationId,
  input: GiveCreditInput,
): Promise<CreditView> {
  return app.db.write(context, async (tx) => {
    const at = app.clock.now();
    const { amount, expiresAt } = readCredit(input, at);
    await requireOrganization(tx, organizationId);
    await requireBilled(tx, app, organizationId, amount.asset.code);
    const credit = await grantCredit(tx, app, at, {
      organizationId,
      amount: amount.units,
      currency: amount.asset.code,
      decimals: amount.asset.decimals,
      reason: input.reason,
      expiresAt,
      createdBy: creatorOf(context.actor),
      sourceInvoiceId: null,
    });
    return { credit, at };
  });
}

/** Returns a page of an organization's discounts, newest first. */
export function listDiscounts(
  app: App,
  organizationId: OrganizationId,
  query: PageQuery,
): Promise<Page<DiscountRow>> {
  return pageOf(app, discounts, organizationId, query);
}

/** Gives an organization a discount. @throws the errors of `readDiscount` */
export function giveDiscount(
  app: App,
  context: WriteContext,
  organizationId: OrganizationId,
  input: GiveDiscountInput,
): Promise<DiscountRow> {
  return app.db.write(context, async (tx) => {
    const terms = readDiscount(input);
    await requireOrganization(tx, organizationId);
    if (terms.currency !== null) await requireBilled(tx, app, organizationId, terms.currency);
    return grantDiscount(tx, app, app.clock.now(), {
      organizationId,
      kind: input.kind,
      ...terms,
      periods: input.periods ?? null,
      reason: input.reason,
      createdBy: creatorOf(context.actor),
    });
  });
}

/** Returns a page of an organization's adjustments, newest first. */
export function listAdjustments(
  app: App,
  organizationId: OrganizationId,
  query: PageQuery,
): Promise<Page<AdjustmentRow>> {
  return pageOf(app, adjustments, organizationId, query);
}

/** Adds a charge or a deduction to an organization's next platform invoice. @throws the errors of `readAdjustment` */
export function giveAdjustment(
  app: App,
  context: WriteContext,
  organizationId: OrganizationId,
  input: GiveAdjustmentInput,
): Promise<AdjustmentRow> {
  return app.db.write(context, async (tx) => {
    const amount = readAdjustment(input);
    await requireOrganization(tx, organizationId);
    await requireBilled(tx, app, organizationId, amount.asset.code);
    return addAdjustment(tx, app, app.clock.now(), {
      organizationId,
      amount: amount.units,
      currency: amount.asset.code,
      decimals: amount.asset.decimals,
      description: input.description,
      createdBy: creatorOf(context.actor),
    });
  });
}

/** Refuses a currency in which the organization gets no invoices: the entry would stay unused forever. */
async function requireBilled(
  reader: Reader,
  { config }: InTx,
  organizationId: OrganizationId,
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

async function pageOf<T extends typeof credits | typeof discounts | typeof adjustments>(
  { db }: App,
  table: T,
  organizationId: OrganizationId,
  query: PageQuery,
) {
  const page = parsePage(query, table.name, { organizationId });
  await requireOrganization(db, organizationId);
  return toPage(await listEntries(db, table, organizationId, page), page);
}

async function requireOrganization(reader: Reader, organizationId: OrganizationId): Promise<void> {
  if ((await findOrganization(reader, organizationId)) === null) throw notFound();
}

/**
 * Parses a credit's amount and expiry time. A malformed amount or an expiry time in the past is a 400 that names the
 * field. Also throws `currency_not_billed` and `billing_amount_too_large`.
 */
export function readCredit(
  input: GiveCreditInput,
  now: Instant,
): { readonly amount: Money; readonly expiresAt: Instant | null } {
  const amount = parseMoneyField("/amount", input.amount, readCurrency(input.currency));
  refuseTooLarge(amount);
  const expiresAt = input.expiresAt == null ? null : Date.parse(input.expiresAt);
  if (expiresAt !== null && expiresAt <= now) {
    throw invalidField("/expiresAt", "in_the_past", "must be in the future");
  }
  return { amount, expiresAt };
}

/**
 * Parses a discount's value and currency. Throws a 422, `discount_currency_mismatch`, if a fixed discount has no
 * currency or a percentage has one.
 */
export function readDiscount({
  kind,
  value,
  currency = null,
}: GiveDiscountInput): Pick<DiscountRow, "value" | "currency" | "decimals"> {
  if (kind === "percent") {
    if (currency !== null) {
      throw new DiscountCurrencyMismatch(
        "A percentage applies to invoices in every currency: leave out `currency`.",
      );
    }
    const share = parsePercentField("/value", value);
    if (share.numerator === 0n) throw notPositive("/value");
    return { value: formatPercent(share), currency: null, decimals: null };
  }
  if (currency === null) {
    throw new DiscountCurrencyMismatch("A fixed discount is an amount: give its `currency`.");
  }
  const asset = readCurrency(currency);
  const amount = parseMoneyField("/value", value, asset);
  refuseTooLarge(amount);
  return { value: formatMoney(amount), currency: asset.code, decimals: asset.decimals };
}

/** Parses an adjustment's amount, which may be negative but not zero. */
export function readAdjustment(input: GiveAdjustmentInput): Money {
  const amount = parseMoneyField("/amount", input.amount, readCurrency(input.currency), "signed");
  if (amount.units === 0n) throw invalidField("/amount", "zero", "must not be zero");
  refuseTooLarge(amount);
  return amount;
}

function notPositive(pointer: string): Error {
  return invalidField(pointer, "not_positive", "must be more than zero");
}

function readCurrency(code: string): Asset {
  const asset = findCurrency(code);
  if (asset !== null) return asset;
  throw new CurrencyNotBilled(
    `"${code}" is not a currency in which plans are billed. Give an ISO 4217 code such as USD, in capital letters.`,
  );
}

function refuseTooLarge({ units, asset }: Money): void {
  if (magnitude(units) <= largestAmount * powerOfTen(asset.decimals)) return;
  throw new BillingAmountTooLarge(`The largest amount is ${String(largestAmount)} ${asset.code}.`);
}
