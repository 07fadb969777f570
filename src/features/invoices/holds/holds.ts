import type { Instant } from "../../../kernel/clock.ts";
import type { InTx } from "../../../app.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import { columnName, type RowOf } from "../../../platform/database/schema/table.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { givenRows } from "../../../platform/database/query/json-rows.ts";
import { holds } from "../table.ts";
import { isCrowded, placesIn, wideBandLeast } from "./amounts.ts";
import { findGap, recycledMax, recycleHolds } from "./full-bands.ts";
import {
  enteredMax,
  heldAmounts,
  nearColumns,
  nearHold,
  nearValues,
  searchFurther,
  unpaidOfLink,
  type AmountSearch,
  type HeldAmounts,
  type HoldPlace,
} from "./amount-search.ts";
import type { HoldMark } from "./marks.ts";
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
  readonly mark: HoldMark;
}

export interface AmountRequest extends HoldTerms {
  readonly search: AmountSearch;
  /** Returns the smallest payment that settles the given amount in full. */
  readonly leastOf: (amount: bigint) => bigint;
}

/** The token of a hold on an exclusive address. */
export const anyToken = "*";

type HoldRow = RowOf<typeof holds>;

/**
 * Holds an address exclusively for one invoice. No other transaction may know the address, or take it again. `isNewAddress`:
 * no invoice had it before.
 */
export function holdAddress(
  tx: Tx,
  app: InTx,
  place: Omit<HoldPlace, "token">,
  terms: HoldTerms,
  { recyclableKey, isNewAddress }: Pick<HoldRow, "recyclableKey" | "isNewAddress">,
): void {
  tx.append(holds, {
    ...rowOf(app.ids, { ...place, token: anyToken }, terms),
    recyclableKey,
    isNewAddress,
    amount: 0n,
    price: null,
    leastAmount: 0n,
    kind: "exclusive",
    enteredAtLink: null,
    needsDecision: false,
  });
}

/**
 * Holds for each request an amount that no other live hold on the address has: the bare price if no other invoice holds
 * an amount near it, otherwise the price plus a small surcharge (docs/decisions/0019). A price that a payer without a
 * credential entered always gets a random surcharge (0056). A statement checks several
 * candidates of every request, however many amounts are held. Only if all of them are held does it search for a gap,
 * and only if no gap is left does it recycle amounts of dead invoices. The result is in the order of the requests; null
 * if nothing can be recycled either.
 */
export async function holdAmounts(
  tx: Tx,
  app: InTx,
  requests: readonly AmountRequest[],
): Promise<readonly (bigint | null)[]> {
  const held = new Map<Id<"invoice">, bigint>();
  const isOpen = ({ invoiceId }: AmountRequest) => !held.has(invoiceId);
  let open = requests;
  for (let round = 1; round <= roundsMax && open.length > 0; round += 1) {
    await holdFirstFree(tx, app, open, held);
    open = open.filter(isOpen).map((request) => ({
      ...request,
      search: searchFurther(request.search, app.randomBytes),
    }));
  }
  for (const request of open) await holdGap(tx, app, request, held);
  return requests.map(({ invoiceId }) => held.get(invoiceId) ?? null);
}

/**
 * Records that an invoice asks for an amount that it cannot hold, because another one does: as a hold that was recycled at
 * once. Until it ends, a transfer of this amount waits for the merchant, who sees both invoices.
 */
export function shareAmount(
  tx: Tx,
  app: InTx,
  { search, ...terms }: AmountRequest,
  amount: bigint,
): void {
  tx.append(holds, {
    ...rowOf(app.ids, search, terms),
    amount,
    price: amount,
    leastAmount: amount,
    kind: "amount",
    enteredAtLink: search.enteredAtLink,
    needsDecision: false,
    releasedAt: terms.startsAt,
    recycledAt: terms.startsAt,
  });
}

/** Tries the candidates of the requests, and adds the amounts that are held to `held`. */
async function holdFirstFree(
  tx: Tx,
  app: InTx,
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
    if (answer === undefined || amount === null) continue;
    const unpaidOfLink = answer.unpaidOfLink + unstored.ofLink(request.search);
    unstored.add(request.search, amount, request.invoiceId);
    chosen.push({ request, amount, needsDecision: needsDecision(request.search, unpaidOfLink) });
  }
  await store(tx, app, chosen, held);
}

/** Returns the best candidate that no live hold has, stored or not; null if all are held. */
function firstFree(
  search: AmountSearch,
  { isNearHeld, taken }: HeldAmounts,
  unstored: UnstoredHolds,
): bigint | null {
  const { base } = search.range;
  const { amounts, samples } = search.candidates;
  const isHeld = (amount: bigint) => taken.has(amount) || unstored.has(search, amount);
  const isBaseFree = !isNearHeld && !unstored.isNear(search) && !isHeld(base);
  const crowded = new Set(samples.filter((sample) => isCrowded(sample, isHeld)).flat());
  const isFree = (amount: bigint) =>
    amount === base ? isBaseFree : !isHeld(amount) && !crowded.has(amount);
  return amounts.find(isFree) ?? null;
}

/**
 * Whether a payment of the amount that a search finds waits for the merchant, although it is exact: a payer without a
 * credential entered the price, and the amount could be hit on purpose or by chance (docs/decisions/0056).
 */
function needsDecision({ enteredAtLink, range }: AmountSearch, unpaidOfLink: number): boolean {
  return enteredAtLink !== null && (placesIn(range) <= wideBandLeast || unpaidOfLink >= enteredMax);
}

/** Searches for a gap, and recycles amounts of dead invoices if no gap is left. */
async function holdGap(
  tx: Tx,
  app: InTx,
  request: AmountRequest,
  held: Map<Id<"invoice">, bigint>,
): Promise<void> {
  const { search, invoiceId, startsAt } = request;
  for (let tries = 0; tries < gapTriesMax && !held.has(invoiceId); tries += 1) {
    const amount = await findGap(tx, search, app.randomBytes);
    if (amount === null) {
      const recycled = await recycleHolds(tx, search, search.range, recycledMax, startsAt);
      if (recycled === 0) return;
      continue;
    }
    unstoredHolds(tx).add(search, amount, invoiceId);
    // An amount of so full a band proves nothing for a price that a payer entered.
    const chosen = { request, amount, needsDecision: search.enteredAtLink !== null };
    await store(tx, app, [chosen], held);
  }
}

interface Chosen {
  readonly request: AmountRequest;
  readonly amount: bigint;
  readonly needsDecision: boolean;
}

/**
 * Stores holds of chosen amounts, and adds them to `held`. On SQLite no other transaction runs, so they are inserted
 * together just before the commit. On PostgreSQL a hold is left out if another transaction has taken its amount.
 */
async function store(
  tx: Tx,
  app: InTx,
  chosen: readonly Chosen[],
  held: Map<Id<"invoice">, bigint>,
): Promise<void> {
  const rows = chosen.map(({ request, amount, needsDecision: isWaiting }): HoldRow => ({
    ...rowOf(app.ids, request.search, request),
    amount,
    price: request.search.range.base,
    // An amount below the held one proves nothing for a price that a payer entered.
    leastAmount: request.search.enteredAtLink === null ? request.leastOf(amount) : amount,
    kind: "amount",
    enteredAtLink: request.search.enteredAtLink,
    needsDecision: isWaiting,
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
  { invoiceId, startsAt, endsAt, mark }: HoldTerms,
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
    recyclableKey: null,
    isNewAddress: false,
    ...mark,
  };
}

const givenHolds = givenRows("given", { ...nearColumns, ...holds.columns });
const names = Object.keys(holds.columns).map(columnName);

/**
 * For PostgreSQL. The bare price and the unpaid invoices of a link are checked again, because the search may have waited
 * for other transactions.
 */
const insertFreeSql = `INSERT INTO holds (${names.join(", ")})
    SELECT ${names
      .map((name) =>
        name === columnName("needsDecision")
          ? `CASE WHEN ${unpaidOfLink} >= ${String(enteredMax)} THEN 1 ELSE given.${name} END`
          : `given.${name}`,
      )
      .join(", ")} FROM ${givenHolds.from("postgres", 1)}
    WHERE given.amount <> given.price OR ${nearHold} IS NULL
    ON CONFLICT DO NOTHING RETURNING invoice_id AS "invoiceId"`;
