import { assert } from "../../kernel/errors.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import {
  StoreUnavailable,
  type Database,
  type Reader,
  type Tx,
  type WriteContext,
} from "../../platform/database/index.ts";
import { listed } from "../../platform/database/json-rows.ts";
import {
  invoicesById,
  receivedBy,
  type InvoiceRow,
  type ManagedInvoices,
} from "../invoices/index.ts";
import {
  platformInvoices,
  platformInvoiceTwins,
  subscriptions,
  type PlatformInvoiceRow,
  type SubscriptionRow,
} from "./table.ts";
import { waitForTurn } from "./turns.ts";

/** The columns of a scheduled plan change where none is scheduled. */
export const noPlanChange = {
  pendingPlan: null,
  pendingTerms: null,
  planChangeEffectiveAt: null,
} as const;

const unpaid = "status IN ('open', 'past_due')";

function isUnpaid({ status }: PlatformInvoiceRow): boolean {
  return status === "open" || status === "past_due";
}

/** The subscription that an organization has, or the last that it had; null: none ever. */
export function latestSubscription(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<SubscriptionRow | null> {
  return reader.findOne(subscriptions, "WHERE organization_id = $1 ORDER BY id DESC LIMIT 1", [
    organizationId,
  ]);
}

/** The one that is not canceled. */
export function liveSubscription(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<SubscriptionRow | null> {
  return reader.findOne(subscriptions, "WHERE organization_id = $1 AND status <> 'canceled'", [
    organizationId,
  ]);
}

/** What an organization still owes under any subscription, the oldest first. */
export function debtsOf(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<PlatformInvoiceRow[]> {
  return reader.find(platformInvoices, `WHERE organization_id = $1 AND ${unpaid} ORDER BY id`, [
    organizationId,
  ]);
}

/** The unpaid invoices of several subscriptions, the oldest first. */
export async function unpaidOf(
  reader: Reader,
  subscriptionIds: readonly Id<"subscription">[],
): Promise<PlatformInvoiceRow[]> {
  if (subscriptionIds.length === 0) return [];
  return reader.find(
    platformInvoices,
    `WHERE subscription_id IN ${listed(reader.dialect, 1)} AND ${unpaid} ORDER BY id`,
    [JSON.stringify(subscriptionIds)],
  );
}

/** A subscription with everything that is decided by, locked. */
export interface Scene {
  readonly subscription: SubscriptionRow;
  /** Those that are open or past due, the oldest first. */
  readonly invoices: readonly PlatformInvoiceRow[];
  /** Paid invoices of periods that have not begun: a trial's first invoice. Empty after a payment, which voids nothing. */
  readonly paidAhead: readonly PlatformInvoiceRow[];
  /** The invoices by which each of these is or was payable. */
  readonly twins: ReadonlyMap<Id<"platformInvoice">, readonly InvoiceRow[]>;
}

/**
 * Locks a subscription, what it owes, and by what that is payable, in the order in which payments lock them too. Null:
 * somebody else changed it meanwhile, or it is not there.
 */
export async function lockScene(
  tx: Tx,
  managed: Pick<ManagedInvoices, "lock">,
  subscriptionId: Id<"subscription">,
): Promise<Scene | null> {
  const seen = await tx.findOne(subscriptions, "WHERE id = $1", [subscriptionId]);
  if (seen === null) return null;
  const current = await tx.find(
    platformInvoices,
    `WHERE subscription_id = $1 AND status <> 'void' AND (${unpaid} OR period_start >= $2) ORDER BY id`,
    [subscriptionId, seen.currentPeriodEnd],
  );
  const ids = current.map(({ id }) => id);
  const twins = await lockTwins(tx, managed, ids);
  const locked = ids.length === 0 ? [] : await lockPlatformInvoices(tx, ids);
  const subscription = await tx.lockOne(subscriptions, "WHERE id = $1", [subscriptionId]);
  if (subscription?.version !== seen.version) return null;
  const invoices = locked.filter(isUnpaid);
  const paidAhead = locked.filter((invoice) => !isUnpaid(invoice));
  return { subscription, invoices, paidAhead, twins };
}

/** How often somebody else may change a subscription while it is being worked on. */
const triesMax = 5;

/** It was changed between being read and being locked: to be read again. */
class SceneChanged extends Error {
  override readonly name = "SceneChanged";
}

/**
 * Works on the subscription that an organization has, or had last, locked in a transaction of its own; on null where it
 * never had one. Requests and billing runs take turns; where a payment changes it meanwhile it begins again. Throws
 * `store_unavailable`, which is worth another try, when payments do not stop.
 */
export async function withScene<T>(
  db: Database,
  managed: Pick<ManagedInvoices, "lock">,
  context: WriteContext,
  organizationId: Id<"organization">,
  work: (tx: Tx, scene: Scene | null) => Promise<T>,
): Promise<T> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    try {
      return await db.write(context, async (tx) => {
        const latest = await latestSubscription(tx, organizationId);
        if (latest === null) return work(tx, null);
        await waitForTurn(tx, latest.id);
        const scene = await lockScene(tx, managed, latest.id);
        const isLatest = (await latestSubscription(tx, organizationId))?.id === latest.id;
        if (scene === null || !isLatest) throw new SceneChanged();
        return work(tx, scene);
      });
    } catch (error) {
      if (!(error instanceof SceneChanged)) throw error;
    }
  }
  throw new StoreUnavailable("Payments are changing the subscription. Try again in a moment.", {
    retryAfterSeconds: 1,
  });
}

/** Platform invoices, locked in the order of their ids. */
export function lockPlatformInvoices(
  tx: Tx,
  ids: readonly Id<"platformInvoice">[],
): Promise<PlatformInvoiceRow[]> {
  return tx.lock(platformInvoices, `WHERE id IN ${listed(tx.dialect, 1)} ORDER BY id`, [
    JSON.stringify(ids),
  ]);
}

type TwinsOf = ReadonlyMap<Id<"platformInvoice">, readonly InvoiceRow[]>;

/** The invoices by which platform invoices are or were payable, locked. */
export function lockTwins(
  tx: Tx,
  managed: Pick<ManagedInvoices, "lock">,
  ids: readonly Id<"platformInvoice">[],
): Promise<TwinsOf> {
  return twinsOf(tx, ids, (twinIds) => managed.lock(tx, twinIds));
}

/** The same, only read. */
export function readTwins(reader: Reader, ids: readonly Id<"platformInvoice">[]): Promise<TwinsOf> {
  return twinsOf(reader, ids, (twinIds) => invoicesById(reader, twinIds));
}

async function twinsOf(
  reader: Reader,
  ids: readonly Id<"platformInvoice">[],
  rowsOf: (twinIds: readonly Id<"invoice">[]) => Promise<readonly InvoiceRow[]>,
): Promise<TwinsOf> {
  if (ids.length === 0) return new Map();
  const pairs = await reader.find(
    platformInvoiceTwins,
    `WHERE platform_invoice_id IN ${listed(reader.dialect, 1)} ORDER BY twin_id`,
    [JSON.stringify(ids)],
  );
  const rows = pairs.length === 0 ? [] : await rowsOf(pairs.map(({ twinId }) => twinId));
  const owners = new Map(pairs.map((pair) => [pair.twinId, pair.platformInvoiceId]));
  const twins = new Map<Id<"platformInvoice">, InvoiceRow[]>();
  for (const row of rows) {
    const owner = owners.get(row.id);
    if (owner !== undefined) twins.set(owner, [...(twins.get(owner) ?? []), row]);
  }
  return twins;
}

/**
 * Locks subscriptions alone, in the order of their ids, and reads the rest: for payments, which hold the locks that come
 * before these, and after which only the subscriptions are changed.
 */
export async function scenesAfterPayment(
  tx: Tx,
  subscriptionIds: readonly Id<"subscription">[],
): Promise<Scene[]> {
  const locked = await tx.lock(subscriptions, `WHERE id IN ${listed(tx.dialect, 1)} ORDER BY id`, [
    JSON.stringify(subscriptionIds),
  ]);
  const owed = await unpaidOf(tx, subscriptionIds);
  const twins = await readTwins(
    tx,
    owed.map(({ id }) => id),
  );
  return locked.map((subscription) => {
    const invoices = owed.filter(({ subscriptionId }) => subscriptionId === subscription.id);
    const own = invoices.map(({ id }) => [id, twins.get(id) ?? []] as const);
    return { subscription, invoices, paidAhead: [], twins: new Map(own) };
  });
}

/** What came for a platform invoice at all of its twins, in its smallest unit. */
export function receivedAt(twins: readonly InvoiceRow[]): {
  readonly seen: bigint;
  readonly confirmed: bigint;
} {
  const each = twins.map(receivedBy);
  return {
    seen: each.reduce((sum, { seen }) => sum + seen, 0n),
    confirmed: each.reduce((sum, { confirmed }) => sum + confirmed, 0n),
  };
}

/** Since when all that an invoice asks for has been seen, where it waits for nothing but confirmations. */
export function paymentsInFlight(
  scene: Pick<Scene, "invoices" | "twins">,
): ReadonlyMap<Id<"platformInvoice">, Instant> {
  const inFlight = new Map<Id<"platformInvoice">, Instant>();
  for (const { id, total } of scene.invoices) {
    const twins = scene.twins.get(id) ?? [];
    const { seen, confirmed } = receivedAt(twins);
    if (seen < total || confirmed >= total) continue;
    const moments = twins
      .filter(({ seenAmount }) => seenAmount > 0n)
      .map(({ completedAt, updatedAt }) => completedAt ?? updatedAt);
    inFlight.set(id, Math.max(...moments));
  }
  return inFlight;
}

/** Saves what changed of a locked subscription, on the version that was read. */
export async function saveSubscription(
  tx: Tx,
  at: Instant,
  before: SubscriptionRow,
  set: Partial<SubscriptionRow>,
): Promise<SubscriptionRow> {
  const saved = { ...set, version: before.version + 1, updatedAt: at };
  const changed = await tx.update(subscriptions, saved, "WHERE id = $1 AND version = $2", [
    before.id,
    before.version,
  ]);
  assert(changed === 1, "a locked subscription is changed by nobody else");
  return { ...before, ...saved };
}

/** The same of a platform invoice. */
export async function savePlatformInvoice(
  tx: Tx,
  at: Instant,
  before: PlatformInvoiceRow,
  set: Partial<PlatformInvoiceRow>,
): Promise<PlatformInvoiceRow> {
  const saved = { ...set, version: before.version + 1, updatedAt: at };
  const changed = await tx.update(platformInvoices, saved, "WHERE id = $1 AND version = $2", [
    before.id,
    before.version,
  ]);
  assert(changed === 1, "a locked platform invoice is changed by nobody else");
  return { ...before, ...saved };
}
