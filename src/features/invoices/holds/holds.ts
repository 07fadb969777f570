import type { Instant } from "../../../kernel/clock.ts";
import type { Id, IdSource, RandomBytes } from "../../../kernel/id.ts";
import { columnName, type RowOf, type Tx } from "../../../platform/database/index.ts";
import { givenRows } from "../../../platform/database/query/json-rows.ts";
import { holds } from "../table.ts";
import { findGap, recycledMax, recycleHolds } from "./full-bands.ts";
import {
  heldAmounts,
  nearColumns,
  nearHold,
  nearValues,
  searchFurther,
  type AmountSearch,
  type HeldAmounts,
  type HoldPlace,
} from "./amount-search.ts";
import { unstoredHolds, type UnstoredHolds } from "./unstored-holds.ts";

/** Number of draws of candidates before the search for a gap. */
const roundsMax = 3;
/** Number of times that a gap may be lost to a concurrent writer. Each time, another writer made progress. */
const gapTriesMax = 100;

/** The hold of an invoice, without the amount or address that it distinguishes. */
export interface HoldTerms {
  readonly invoiceId: Id<"invoice">;
  readonly startsAt: Instant;
  readonly endsAt: Instant;
}

export interface AmountRequest extends HoldTerms {
  readonly search: AmountSearch;
  /** Returns the smallest payment that settles the given amount in full. */
  readonly leastOf: (amount: bigint) => bigint;
}

/** The token of a hold on an exclusive address. */
export const anyToken = "*";

export interface HoldDependencies {
  readonly ids: IdSource;
  readonly randomBytes: RandomBytes;
}

type HoldRow = RowOf<typeof holds>;

/** Holds an address exclusively for one invoice. No other transaction may know the address yet. */
export function holdAddress(
  tx: Tx,
  { ids }: HoldDependencies,
  place: Omit<HoldPlace, "token">,
  terms: HoldTerms,
): void {
  tx.append(holds, {
    ...rowOf(ids, { ...place, token: anyToken }, terms),
    amount: 0n,
    price: null,
    leastAmount: 0n,
    kind: "exclusive",
  });
}

/**
 * Holds for each request an amount that no other live hold on the address has: the bare price if no other invoice holds
 * an amount near it, otherwise the price plus a small surcharge (docs/decisions/0019). A statement checks several
 * candidates of every request, however many amounts are held. Only if all of them are held does it search for a gap,
 * and only if no gap is left does it recycle amounts of dead invoices. The result is in the order of the requests; null
 * if nothing can be recycled either.
 */
export async function holdAmounts(
  tx: Tx,
  deps: HoldDependencies,
  requests: readonly AmountRequest[],
): Promise<readonly (bigint | null)[]> {
  const held = new Map<Id<"invoice">, bigint>();
  const isOpen = ({ invoiceId }: AmountRequest) => !held.has(invoiceId);
  let open = requests;
  for (let round = 1; round <= roundsMax && open.length > 0; round += 1) {
    await holdFirstFree(tx, deps, open, held);
    open = open.filter(isOpen).map((request) => ({
      ...request,
      search: searchFurther(request.search, deps.randomBytes),
    }));
  }
  for (const request of open) await holdGap(tx, deps, request, held);
  return requests.map(({ invoiceId }) => held.get(invoiceId) ?? null);
}

/** Tries the candidates of the requests, and adds the amounts that are held to `held`. */
async function holdFirstFree(
  tx: Tx,
  deps: HoldDependencies,
  requests: readonly AmountRequest[],
  held: Map<Id<"invoice">, bigint>,
): Promise<void> {
  const answers = await tx.answers(
    heldAmounts,
    requests.map(({ search }) => search),
  );
  const unstored = unstoredHolds(tx);
  const chosen: Chosen[] = [];
  for (const [index, request] of requests.entries()) {
    const answer = answers[index];
    const amount = answer === undefined ? null : firstFree(request.search, answer, unstored);
    if (amount === null) continue;
    unstored.add(request.search, amount, request.invoiceId);
    chosen.push({ request, amount });
  }
  await store(tx, deps, chosen, held);
}

/** Returns the best candidate that no live hold has, stored or not; null if all are held. */
function firstFree(
  search: AmountSearch,
  { isNearHeld, taken }: HeldAmounts,
  unstored: UnstoredHolds,
): bigint | null {
  const { base } = search.range;
  const isFree = (amount: bigint) =>
    !taken.has(amount) &&
    !unstored.has(search, amount) &&
    (amount !== base || (!isNearHeld && !unstored.isNear(search)));
  return search.candidates.find(isFree) ?? null;
}

/** Searches for a gap, and recycles amounts of dead invoices if no gap is left. */
async function holdGap(
  tx: Tx,
  deps: HoldDependencies,
  request: AmountRequest,
  held: Map<Id<"invoice">, bigint>,
): Promise<void> {
  const { search, invoiceId, startsAt } = request;
  for (let tries = 0; tries < gapTriesMax && !held.has(invoiceId); tries += 1) {
    const amount = await findGap(tx, search, search.range);
    if (amount === null) {
      const recycled = await recycleHolds(tx, search, search.range, recycledMax, startsAt);
      if (recycled === 0) return;
      continue;
    }
    unstoredHolds(tx).add(search, amount, invoiceId);
    await store(tx, deps, [{ request, amount }], held);
  }
}

interface Chosen {
  readonly request: AmountRequest;
  readonly amount: bigint;
}

/**
 * Stores holds of chosen amounts, and adds them to `held`. On SQLite no other transaction runs, so they are inserted
 * together just before the commit. On PostgreSQL a hold is left out if another transaction has taken its amount.
 */
async function store(
  tx: Tx,
  { ids }: HoldDependencies,
  chosen: readonly Chosen[],
  held: Map<Id<"invoice">, bigint>,
): Promise<void> {
  const rows = chosen.map(({ request, amount }): HoldRow => ({
    ...rowOf(ids, request.search, request),
    amount,
    price: request.search.range.base,
    leastAmount: request.leastOf(amount),
    kind: "amount",
  }));
  if (tx.isExclusive) {
    for (const row of rows) {
      tx.append(holds, row);
      held.set(row.invoiceId, row.amount);
    }
  } else if (rows.length > 0) {
    const given = chosen.map(({ request }, index) => ({
      ...nearValues(request.search),
      ...(rows[index] as HoldRow),
    }));
    const stored = await tx.all<{ invoiceId: Id<"invoice"> }>(insertFreeSql, [
      givenHolds.values(given),
    ]);
    const storedIds = new Set(stored.map(({ invoiceId }) => invoiceId));
    for (const { invoiceId, amount } of rows) {
      if (storedIds.has(invoiceId)) held.set(invoiceId, amount);
    }
  }
}

function rowOf(
  ids: IdSource,
  { organizationId, network, address, token }: HoldPlace,
  { invoiceId, startsAt, endsAt }: HoldTerms,
) {
  const id = ids.next("hold", startsAt);
  return {
    id,
    network,
    address,
    token,
    invoiceId,
    organizationId,
    startsAt,
    endsAt,
    releasedAt: null,
    recycledAt: null,
  };
}

const givenHolds = givenRows("given", { ...nearColumns, ...holds.columns });
const names = Object.keys(holds.columns).map(columnName);

/** For PostgreSQL. The bare price is checked again, because the search may have waited for other transactions. */
const insertFreeSql = `INSERT INTO holds (${names.join(", ")})
    SELECT ${names.map((name) => `given.${name}`).join(", ")} FROM ${givenHolds.from("postgres", 1)}
    WHERE given.amount <> given.price OR ${nearHold} IS NULL
    ON CONFLICT DO NOTHING RETURNING invoice_id AS "invoiceId"`;
