import { bind, type Bound } from "../../../kernel/bind.ts";
import type { Clock } from "../../../kernel/clock.ts";
import { notFound } from "../../../kernel/errors.ts";
import type { Id } from "../../../kernel/id.ts";
import { findCurrency } from "../../../kernel/money/asset.ts";
import { money, sum, type Money } from "../../../kernel/money/money.ts";
import { mapPage, parsePage, toPage, type Page, type PageQuery } from "../../../kernel/page.ts";
import type { PlanCatalog } from "../../../platform/config/plans.ts";
import { encodeAmount } from "../../../platform/database/schema/table.ts";
import type { Database, Reader, WriteContext } from "../../../platform/database/database.ts";
import { findOrganization } from "../../organizations/store.ts";
import { BillingCurrencyDiffers, CurrencyNotBilled } from "../errors.ts";
import {
  readAdjustment,
  readCredit,
  readDiscount,
  type AdjustmentInput,
  type CreditInput,
  type DiscountInput,
} from "./input.ts";
import type { CreditView } from "./present.ts";
import { listEntries } from "./store.ts";
import { creatorOf, type Balances } from "./balances.ts";
import { liveSubscription } from "../store.ts";
import { adjustments, credits, discounts, type AdjustmentRow, type DiscountRow } from "../table.ts";

type OrganizationId = Id<"organization">;

/**
 * Credits, discounts and adjustments that platform admins give to organizations. An unknown organization is a 404, a
 * currency in which it is not billed a 422.
 */
export type BalanceService = Bound<typeof methods>;

interface Deps {
  readonly db: Database;
  readonly clock: Clock;
  readonly catalog: PlanCatalog;
  readonly balances: Balances;
}

const methods = {
  listCredits,
  openCredit,
  grantCredit,
  listDiscounts,
  grantDiscount,
  listAdjustments,
  addAdjustment,
};

export function makeBalanceService(deps: Deps): BalanceService {
  return bind(deps, methods);
}

async function listCredits(
  deps: Deps,
  organizationId: OrganizationId,
  query: PageQuery,
): Promise<Page<CreditView>> {
  const { clock } = deps;
  const at = clock.now();
  return mapPage(await list(deps, credits, organizationId, query), (credit) => ({ credit, at }));
}

/** Returns the sum of an organization's credits in a currency that are neither used up nor expired. */
async function openCredit(
  { db, clock }: Deps,
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

function grantCredit(
  deps: Deps,
  context: WriteContext,
  organizationId: OrganizationId,
  input: CreditInput,
): Promise<CreditView> {
  const { db, clock, balances } = deps;
  return db.write(context, async (tx) => {
    const at = clock.now();
    const { amount, expiresAt } = readCredit(input, at);
    await requireOrganization(tx, organizationId);
    await requireBilled(deps, tx, organizationId, amount.asset.code);
    const credit = await balances.grantCredit(tx, at, {
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

function listDiscounts(
  deps: Deps,
  organizationId: OrganizationId,
  query: PageQuery,
): Promise<Page<DiscountRow>> {
  return list(deps, discounts, organizationId, query);
}

function grantDiscount(
  deps: Deps,
  context: WriteContext,
  organizationId: OrganizationId,
  input: DiscountInput,
): Promise<DiscountRow> {
  const { db, clock, balances } = deps;
  return db.write(context, async (tx) => {
    const terms = readDiscount(input);
    await requireOrganization(tx, organizationId);
    if (terms.currency !== null) await requireBilled(deps, tx, organizationId, terms.currency);
    return balances.grantDiscount(tx, clock.now(), {
      organizationId,
      kind: input.kind,
      ...terms,
      periods: input.periods ?? null,
      reason: input.reason,
      createdBy: creatorOf(context.actor),
    });
  });
}

function listAdjustments(
  deps: Deps,
  organizationId: OrganizationId,
  query: PageQuery,
): Promise<Page<AdjustmentRow>> {
  return list(deps, adjustments, organizationId, query);
}

function addAdjustment(
  deps: Deps,
  context: WriteContext,
  organizationId: OrganizationId,
  input: AdjustmentInput,
): Promise<AdjustmentRow> {
  const { db, clock, balances } = deps;
  return db.write(context, async (tx) => {
    const amount = readAdjustment(input);
    await requireOrganization(tx, organizationId);
    await requireBilled(deps, tx, organizationId, amount.asset.code);
    return balances.addAdjustment(tx, clock.now(), {
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
  { catalog }: Deps,
  reader: Reader,
  organizationId: OrganizationId,
  currency: string,
): Promise<void> {
  const live = await liveSubscription(reader, organizationId);
  if (live !== null && live.terms.currency !== currency) {
    throw new BillingCurrencyDiffers(
      `The organization's subscription is billed in ${live.terms.currency}. Give the amount in that currency.`,
    );
  }
  const known = new Set(catalog.plans.map((plan) => plan.currency));
  if (live !== null || known.has(currency)) return;
  throw new CurrencyNotBilled(
    `No plan is billed in ${currency}. Choose one of: ${[...known].join(", ")}.`,
  );
}

async function list<T extends typeof credits | typeof discounts | typeof adjustments>(
  { db }: Deps,
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
