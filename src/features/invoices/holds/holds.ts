import { second, type Instant } from "../../../kernel/clock.ts";
import type { InTx } from "../../../app.ts";
import type { Id, IdSource } from "../../../kernel/id.ts";
import type { Address } from "../../../platform/chain/client.ts";
import type { Network } from "../../../platform/chain/networks.ts";
import {
  networkState,
  overdueMs,
  type KnownBlock,
  type NetworkState,
} from "../../../platform/chain/state/network-state.ts";
import { columnName, integer, text, type RowOf } from "../../../platform/database/schema/table.ts";
import type { Reader, Tx } from "../../../platform/database/database.ts";
import { givenRows, listed } from "../../../platform/database/query/json-rows.ts";
import { holds } from "../table.ts";
import { isCrowded, amountsIn, wideBandLeast } from "./amounts.ts";
import {
  enteredMax,
  findGap,
  heldAmounts,
  nearColumns,
  nearHold,
  nearValues,
  recycledMax,
  recycleHolds,
  searchFurther,
  unpaidOfLink,
  unstoredHolds,
  type AmountSearch,
  type HeldAmounts,
  type HoldTarget,
  type UnstoredHolds,
} from "./amount-search.ts";

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
  /** Returns the smallest payment that pays the given amount in full. */
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
  target: Omit<HoldTarget, "token">,
  terms: HoldTerms,
  { recyclableKey, isNewAddress }: Pick<HoldRow, "recyclableKey" | "isNewAddress">,
): void {
  tx.append(holds, {
    ...rowOf(app.ids, { ...target, token: anyToken }, terms),
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
  return (
    enteredAtLink !== null && (amountsIn(range) <= wideBandLeast || unpaidOfLink >= enteredMax)
  );
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
  { organizationId, network, address, token }: HoldTarget,
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

/** The newest believed block of a network when an invoice's first hold there was made (docs/decisions/0066). */
export type HoldMark = Pick<
  RowOf<typeof holds>,
  "markHeight" | "markHash" | "markReadAt" | "isMarkRecent"
>;

/** The number of polls within which the newest block must have been read for a recent mark. */
const recentPolls = 3;
/** The least time for it, in milliseconds: a state without a new block is stored every ten seconds only. */
const recentLeastMs = 30 * second;

/** The most marks that are compared with the chain for one batch of transfers in blocks that were read before. */
const marksMax = 100;

/**
 * Returns the mark of a hold that is made now. `state` is null if the network was never read. The mark is recent if the
 * block was the newest one of a scan just before. It is not while the next block is overdue, because a provider that
 * stands still shows an old block as the newest.
 */
export function markAt(
  state: Pick<
    NetworkState,
    "tipHeight" | "tipHash" | "tipSeenAt" | "headHeight" | "scannedAt"
  > | null,
  network: Pick<Network, "pollMs" | "blockTimeMs">,
  at: Instant,
): HoldMark {
  if (state === null) {
    return { markHeight: null, markHash: null, markReadAt: null, isMarkRecent: false };
  }
  const { tipHeight, tipHash, tipSeenAt, headHeight, scannedAt } = state;
  const recentMs = Math.max(recentLeastMs, recentPolls * network.pollMs);
  const isOverdue = at - tipSeenAt > overdueMs(network);
  return {
    markHeight: tipHeight,
    markHash: tipHash,
    markReadAt: scannedAt,
    isMarkRecent: at - scannedAt <= recentMs && tipHeight >= headHeight && !isOverdue,
  };
}

/**
 * Returns the marks of holds on a network that are made now, by their invoices: the mark of the invoice's first hold there,
 * or the newest block for invoices without one.
 */
export async function marksOf(
  reader: Reader,
  network: Pick<Network, "id" | "pollMs" | "blockTimeMs">,
  {
    invoiceIds,
    heldBefore,
  }: {
    readonly invoiceIds: readonly Id<"invoice">[];
    /** The ids of invoices among them that may have a hold on the network. */
    readonly heldBefore: readonly Id<"invoice">[];
  },
  at: Instant,
): Promise<ReadonlyMap<Id<"invoice">, HoldMark>> {
  const first = await firstMarks(reader, network.id, heldBefore);
  const others = invoiceIds.filter((id) => !first.has(id));
  if (others.length === 0) return first;
  const mark = markAt(await networkState(reader, network.id), network, at);
  return new Map([...first, ...others.map((id) => [id, mark] as const)]);
}

interface FirstMark extends Omit<HoldMark, "isMarkRecent"> {
  readonly invoiceId: Id<"invoice">;
  readonly isMarkRecent: number;
}

async function firstMarks(
  reader: Reader,
  network: string,
  invoiceIds: readonly Id<"invoice">[],
): Promise<ReadonlyMap<Id<"invoice">, HoldMark>> {
  if (invoiceIds.length === 0) return new Map();
  const rows = await reader.all<FirstMark>(
    `SELECT invoice_id AS "invoiceId", mark_height AS "markHeight", mark_hash AS "markHash",
       mark_read_at AS "markReadAt", is_mark_recent AS "isMarkRecent"
     FROM holds WHERE network = $1 AND invoice_id IN ${listed(reader.dialect, 2)} ORDER BY id DESC`,
    [network, JSON.stringify(invoiceIds)],
  );
  return new Map(
    rows.map(({ invoiceId, isMarkRecent, ...mark }) => [
      invoiceId,
      { ...mark, isMarkRecent: isMarkRecent === 1 },
    ]),
  );
}

const probes = givenRows("probe", { address: text(), height: integer() });

/**
 * Returns the marks, each once and the lowest first, of live holds at the addresses of transfers that are at the height of
 * the transfer or above: whether the chain still has them decides whether the transfer was made before the invoice.
 */
export function marksAbove(
  reader: Reader,
  network: string,
  transfers: readonly { readonly address: Address; readonly height: number }[],
): Promise<KnownBlock[]> {
  return reader.all(
    `SELECT DISTINCT holds.mark_height AS height, holds.mark_hash AS hash
     FROM ${probes.from(reader.dialect, 2)} CROSS JOIN holds
     WHERE holds.network = $1 AND holds.address = probe.address AND holds.released_at IS NULL
       AND holds.mark_height IS NOT NULL AND holds.mark_height >= probe.height
     ORDER BY height LIMIT ${String(marksMax)}`,
    [network, probes.values(transfers)],
  );
}
