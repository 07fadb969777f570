import type { App } from "../../app.ts";
import { assert } from "../../kernel/errors.ts";
import type { Instant } from "../../kernel/clock.ts";
import type { Id } from "../../kernel/id.ts";
import { StoreUnavailable } from "../../platform/database/errors.ts";
import type { Reader, Tx, WriteContext } from "../../platform/database/database.ts";
import { listed } from "../../platform/database/query/json-rows.ts";
import { holdLock, tryHoldLock } from "../../platform/database/write/locks.ts";
import { invoicesById, lockInvoices, type InvoiceRow } from "../invoices/store.ts";
import { receivedBy } from "../invoices/managed.ts";
import {
  platformInvoices,
  platformInvoiceTwins,
  subscriptions,
  type PlatformInvoiceRow,
  type SubscriptionRow,
} from "./table.ts";

/** The columns of a scheduled plan change, for a subscription without one. */
export const noPlanChange = {
  pendingPlan: null,
  pendingTerms: null,
  planChangeEffectiveAt: null,
} as const;

const unpaid = "status IN ('open', 'past_due')";

function isUnpaid({ status }: PlatformInvoiceRow): boolean {
  return status === "open" || status === "past_due";
}

/** Returns the organization's subscription, or its last one if that is canceled; null if it never had any. */
export function latestSubscription(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<SubscriptionRow | null> {
  return reader.findOne(subscriptions, "WHERE organization_id = $1 ORDER BY id DESC LIMIT 1", [
    organizationId,
  ]);
}

/** Returns the organization's subscription that is not canceled; null without one. */
export function liveSubscription(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<SubscriptionRow | null> {
  return reader.findOne(subscriptions, "WHERE organization_id = $1 AND status <> 'canceled'", [
    organizationId,
  ]);
}

/** Returns an organization's unpaid platform invoices of all its subscriptions, oldest first. */
export function debtsOf(
  reader: Reader,
  organizationId: Id<"organization">,
): Promise<PlatformInvoiceRow[]> {
  return reader.find(platformInvoices, `WHERE organization_id = $1 AND ${unpaid} ORDER BY id`, [
    organizationId,
  ]);
}

/** Returns the unpaid platform invoices of several subscriptions, oldest first. */
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

/** A locked subscription with everything that decides its next step. */
export interface LockedSubscription {
  readonly subscription: SubscriptionRow;
  /** The open and past-due platform invoices, oldest first. */
  readonly invoices: readonly PlatformInvoiceRow[];
  /**
   * Paid invoices of periods that have not begun, such as a trial's first invoice. Empty after a payment, which voids
   * nothing.
   */
  readonly paidAhead: readonly PlatformInvoiceRow[];
  /** All collection invoices, current and former, of each of these platform invoices. */
  readonly collectionInvoices: ReadonlyMap<Id<"platformInvoice">, readonly InvoiceRow[]>;
}

/**
 * Locks a subscription, its unpaid and prepaid platform invoices and their collection invoices, in the order in which
 * payments lock them. Returns null if the subscription does not exist or another transaction changed it meanwhile.
 */
export async function lockSubscription(
  tx: Tx,
  subscriptionId: Id<"subscription">,
): Promise<LockedSubscription | null> {
  const seen = await tx.findOne(subscriptions, "WHERE id = $1", [subscriptionId]);
  if (seen === null) return null;
  const current = await tx.find(
    platformInvoices,
    `WHERE subscription_id = $1 AND status <> 'void' AND (${unpaid} OR period_start >= $2) ORDER BY id`,
    [subscriptionId, seen.currentPeriodEnd],
  );
  const ids = current.map(({ id }) => id);
  const collectionInvoices = await lockCollectionInvoices(tx, ids);
  const locked = ids.length === 0 ? [] : await lockPlatformInvoices(tx, ids);
  const subscription = await tx.lockOne(subscriptions, "WHERE id = $1", [subscriptionId]);
  if (subscription?.version !== seen.version) return null;
  const invoices = locked.filter(isUnpaid);
  const paidAhead = locked.filter((invoice) => !isUnpaid(invoice));
  return { subscription, invoices, paidAhead, collectionInvoices };
}

// Requests and billing runs read a subscription and lock its unpaid invoices before they lock the subscription itself,
// in the order in which payments lock them. An advisory lock keeps them from changing what another one has just read.

/**
 * Takes a subscription's advisory lock until the transaction ends, unless another transaction holds it; returns whether
 * it did.
 */
export function tryPlanChangeTurn(tx: Tx, id: Id<"subscription">): Promise<boolean> {
  return tryHoldLock(tx, id);
}

/** Waits for a subscription's advisory lock and holds it until the transaction ends. */
function waitForPlanChangeTurn(tx: Tx, id: Id<"subscription">): Promise<void> {
  return holdLock(tx, id);
}

/** Maximum number of attempts to lock a subscription that other transactions keep changing. */
const triesMax = 5;

/** The subscription was changed between reading and locking it; `withLockedSubscription` tries again. */
class SubscriptionChanged extends Error {
  override readonly name = "SubscriptionChanged";
}

/**
 * Runs `work` in its own transaction on an organization's locked subscription, or its last one if that is canceled; on
 * null if it never had any. Requests and billing runs take turns. If a payment changes the subscription meanwhile,
 * starts over, with at most `triesMax` attempts; then throws `store_unavailable`, which clients may retry.
 */
export async function withLockedSubscription<T>(
  { db }: App,
  context: WriteContext,
  organizationId: Id<"organization">,
  work: (tx: Tx, locked: LockedSubscription | null) => Promise<T>,
): Promise<T> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    try {
      return await db.write(context, async (tx) => {
        const latest = await latestSubscription(tx, organizationId);
        if (latest === null) return work(tx, null);
        await waitForPlanChangeTurn(tx, latest.id);
        const locked = await lockSubscription(tx, latest.id);
        const isLatest = (await latestSubscription(tx, organizationId))?.id === latest.id;
        if (locked === null || !isLatest) throw new SubscriptionChanged();
        return work(tx, locked);
      });
    } catch (error) {
      if (!(error instanceof SubscriptionChanged)) throw error;
    }
  }
  throw new StoreUnavailable("Payments are changing the subscription. Try again in a moment.", {
    retryAfterSeconds: 1,
  });
}

/** Locks platform invoices in the order of their ids and returns them. */
export function lockPlatformInvoices(
  tx: Tx,
  ids: readonly Id<"platformInvoice">[],
): Promise<PlatformInvoiceRow[]> {
  return tx.lock(platformInvoices, `WHERE id IN ${listed(tx.dialect, 1)} ORDER BY id`, [
    JSON.stringify(ids),
  ]);
}

type CollectionInvoicesOf = ReadonlyMap<Id<"platformInvoice">, readonly InvoiceRow[]>;

/** Locks all collection invoices, current and former, of platform invoices and returns them. */
function lockCollectionInvoices(
  tx: Tx,
  ids: readonly Id<"platformInvoice">[],
): Promise<CollectionInvoicesOf> {
  return twinsOf(tx, ids, (twinIds) => lockInvoices(tx, twinIds));
}

/** Reads all collection invoices, current and former, of platform invoices without locking them. */
export function readCollectionInvoices(
  reader: Reader,
  ids: readonly Id<"platformInvoice">[],
): Promise<CollectionInvoicesOf> {
  return twinsOf(reader, ids, (twinIds) => invoicesById(reader, twinIds));
}

async function twinsOf(
  reader: Reader,
  ids: readonly Id<"platformInvoice">[],
  rowsOf: (twinIds: readonly Id<"invoice">[]) => Promise<readonly InvoiceRow[]>,
): Promise<CollectionInvoicesOf> {
  if (ids.length === 0) return new Map();
  const pairs = await reader.find(
    platformInvoiceTwins,
    `WHERE platform_invoice_id IN ${listed(reader.dialect, 1)} ORDER BY twin_id`,
    [JSON.stringify(ids)],
  );
  const rows = pairs.length === 0 ? [] : await rowsOf(pairs.map(({ twinId }) => twinId));
  const owners = new Map(pairs.map((pair) => [pair.twinId, pair.platformInvoiceId]));
  const collectionInvoices = new Map<Id<"platformInvoice">, InvoiceRow[]>();
  for (const row of rows) {
    const owner = owners.get(row.id);
    if (owner !== undefined)
      collectionInvoices.set(owner, [...(collectionInvoices.get(owner) ?? []), row]);
  }
  return collectionInvoices;
}

/** Groups rows by a key, in their order. */
export function groupedBy<Row, Key>(
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
): Map<Key, Row[]> {
  const groups = new Map<Key, Row[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group === undefined) groups.set(keyOf(row), [row]);
    else group.push(row);
  }
  return groups;
}

/**
 * Locks only the subscriptions, in the order of their ids, and reads the rest. For payments, which already hold the
 * locks that come before these, and then change only the subscriptions.
 */
export async function subscriptionsAfterPayment(
  tx: Tx,
  subscriptionIds: readonly Id<"subscription">[],
): Promise<LockedSubscription[]> {
  const locked = await tx.lock(subscriptions, `WHERE id IN ${listed(tx.dialect, 1)} ORDER BY id`, [
    JSON.stringify(subscriptionIds),
  ]);
  const owed = await unpaidOf(tx, subscriptionIds);
  const collectionInvoices = await readCollectionInvoices(
    tx,
    owed.map(({ id }) => id),
  );
  return locked.map((subscription) => {
    const invoices = owed.filter(({ subscriptionId }) => subscriptionId === subscription.id);
    const own = invoices.map(({ id }) => [id, collectionInvoices.get(id) ?? []] as const);
    return { subscription, invoices, paidAhead: [], collectionInvoices: new Map(own) };
  });
}

/** Sums the payments of all collection invoices of a platform invoice, in its smallest unit. */
export function receivedAt(collectionInvoices: readonly InvoiceRow[]): {
  readonly seen: bigint;
  readonly confirmed: bigint;
} {
  const each = collectionInvoices.map(receivedBy);
  return {
    seen: each.reduce((sum, { seen }) => sum + seen, 0n),
    confirmed: each.reduce((sum, { confirmed }) => sum + confirmed, 0n),
  };
}

/** Returns the invoices whose total has been seen but not yet confirmed, each with the time since when. */
export function paymentsInFlight(
  locked: Pick<LockedSubscription, "invoices" | "collectionInvoices">,
): ReadonlyMap<Id<"platformInvoice">, Instant> {
  const inFlight = new Map<Id<"platformInvoice">, Instant>();
  for (const { id, total } of locked.invoices) {
    const collectionInvoices = locked.collectionInvoices.get(id) ?? [];
    const { seen, confirmed } = receivedAt(collectionInvoices);
    if (seen < total || confirmed >= total) continue;
    const moments = collectionInvoices
      .filter(({ seenAmount }) => seenAmount > 0n)
      .map(({ completedAt, updatedAt }) => completedAt ?? updatedAt);
    inFlight.set(id, Math.max(...moments));
  }
  return inFlight;
}

/** Updates a locked subscription, which must still have the version that was read, and returns the new row. */
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
  assert(changed === 1, "no other transaction changes a locked subscription");
  return { ...before, ...saved };
}

/** Updates a locked platform invoice, which must still have the version that was read, and returns the new row. */
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
  assert(changed === 1, "no other transaction changes a locked platform invoice");
  return { ...before, ...saved };
}
