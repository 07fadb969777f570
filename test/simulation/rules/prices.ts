import type { holds } from "../../../src/features/invoices/table.ts";
import type { payments, transfers } from "../../../src/features/payments/table.ts";
import type { Instant } from "../../../src/kernel/clock.ts";
import type { RowOf } from "../../../src/platform/database/schema/table.ts";
import type { Invoice } from "../deeds.ts";
import { dustOf, heldIn } from "../options.ts";
import type { World } from "../world.ts";
import { isDue, shareOf } from "./shares.ts";

export type Hold = RowOf<typeof holds>;
type Payment = RowOf<typeof payments>;

/** The rows of the store that prices and payments by amount are judged by. */
export interface Ledger {
  readonly rows: readonly Invoice[];
  /** Every payment that was ever made of a transfer. */
  readonly assigned: readonly Payment[];
  readonly counted: readonly Payment[];
  readonly held: readonly Hold[];
  readonly known: readonly RowOf<typeof transfers>[];
  readonly decimalsOf: (token: string) => number;
}

/** An amount says whose payment it is only while nobody else may send it by rounding, or through an exchange. */
export function priceFaults(world: Pick<World, "deeds" | "chain">, ledger: Ledger): string[] {
  return [
    ...ledger.held.flatMap((hold) => bareFaults(hold, world, ledger)),
    ...ledger.held.flatMap((hold) => digitFaults(hold, ledger)),
    ...surplusFaults(world, ledger),
  ];
}

/** Returns the largest surcharge of a price: the smaller of 1 % and 0.99. */
export function reachOf(price: bigint, decimals: number): bigint {
  const most = (99n * 10n ** BigInt(decimals)) / 100n;
  return price / 100n < most ? price / 100n : most;
}

/** Returns the smallest difference between two amounts that payers can send: 0.000001, or the token's unit. */
export function stepOf(decimals: number): bigint {
  return 10n ** BigInt(Math.max(0, decimals - 6));
}

/** Returns the number of amounts of a price with digits, which are never round. */
export function surchargesOf(price: bigint, decimals: number): bigint {
  const reach = reachOf(price, decimals);
  const hundredth = 10n ** BigInt(Math.max(0, decimals - 2));
  const round = decimals > 2 ? (price + reach) / hundredth - price / hundredth : 0n;
  return reach / stepOf(decimals) - round;
}

/** True if an exchange that keeps up to 5 %, or one token, may deliver the lower amount of the upper one. */
export function mayBeKept(lower: bigint, upper: bigint, decimals: number): boolean {
  const unit = 10n ** BigInt(decimals);
  const percent = (lower * 5n) / 100n;
  return upper - lower <= (percent > unit ? percent : unit);
}

/** True if an invoice was not paid then, whatever reorganizations did to its payments later. */
export function isUnpaidAt({ rows, assigned }: Ledger, invoiceId: string, at: Instant): boolean {
  const row = rows.find(({ id }) => id === invoiceId);
  if (row === undefined || (row.canceledAt !== null && row.canceledAt <= at)) return false;
  const before = assigned.filter((one) => one.invoiceId === invoiceId && one.createdAt <= at);
  return !isDue(row, shareOf(row, before));
}

/**
 * No invoice gets its bare price while another one holds an amount that is at most 1 %, or 0.99, away; or while an unpaid
 * one has a bare price from which an exchange may keep the difference, in either order. None that a payer entered does,
 * and those change nothing for others.
 */
function bareFaults(hold: Hold, { deeds }: Pick<World, "deeds">, ledger: Ledger): string[] {
  const { price, startsAt } = hold;
  if (price === null || hold.amount !== price || isOnlyAsked(hold, ledger)) return [];
  if (deeds.entered.has(hold.invoiceId)) {
    return [`${hold.invoiceId} has the bare price ${String(price)} that its payer entered`];
  }
  const decimals = ledger.decimalsOf(hold.token);
  const reach = reachOf(price, decimals);
  // If no surcharge fits, the price has one amount.
  if (reach < stepOf(decimals)) return [];
  const near = ledger.held.find((other) => {
    if (other.invoiceId === hold.invoiceId || deeds.entered.has(other.invoiceId)) return false;
    if (other.address !== hold.address || other.token !== hold.token) return false;
    if (other.startsAt >= startsAt) return false;
    if (other.releasedAt !== null && other.releasedAt <= startsAt) return false;
    if (other.amount >= price - reach && other.amount <= price + reach) return true;
    const [lower, upper] = other.amount < price ? [other.amount, price] : [price, other.amount];
    const isBare = other.amount === other.price;
    return (
      isBare && mayBeKept(lower, upper, decimals) && isUnpaidAt(ledger, other.invoiceId, startsAt)
    );
  });
  if (near === undefined) return [];
  return [
    `${hold.invoiceId} has the bare price ${String(price)} while ${near.invoiceId} held ${String(near.amount)}`,
  ];
}

/**
 * True if a rest is asked for bare and held by nobody, because none of its amounts with digits was free, or none exists: a
 * transfer of it is credited to no invoice, so the amount need not tell whose it is.
 */
function isOnlyAsked({ price, ...hold }: Hold, { held, decimalsOf }: Ledger): boolean {
  const { address, token, startsAt } = hold;
  if (price === null || hold.releasedAt !== startsAt || hold.recycledAt !== startsAt) return false;
  const decimals = decimalsOf(token);
  const most = price + reachOf(price, decimals);
  const taken = held.filter(
    (other) =>
      other.address === address &&
      other.token === token &&
      other.startsAt <= startsAt &&
      (other.releasedAt === null || other.releasedAt > startsAt) &&
      other.amount > price &&
      other.amount <= most,
  );
  return BigInt(new Set(taken.map(({ amount }) => amount)).size) >= surchargesOf(price, decimals);
}

/** Returns the faults of asked amounts: more than 6 decimals, or digits that a payer may round to. */
function digitFaults({ invoiceId, amount, price, token }: Hold, { decimalsOf }: Ledger): string[] {
  const decimals = decimalsOf(token);
  if (price === null) return [];
  const isSendable = amount % stepOf(decimals) === 0n;
  const isRound = amount !== price && decimals > 2 && amount % 10n ** BigInt(decimals - 2) === 0n;
  if (isSendable && !isRound) return [];
  return [`${invoiceId} asks for ${String(amount)} ${token}, which payers cannot tell or send`];
}

/** Nobody is asked for less than dust, or for an amount that a wallet of 6 decimals cannot send. */
export function askFaults(rows: readonly Invoice[]): string[] {
  return rows.flatMap(({ id, status, remainingAmount: asked, tokenDecimals, tokenSymbol }) => {
    if (asked === null || asked === 0n || status === "draft") return [];
    if (asked >= dustOf(tokenDecimals) && asked % stepOf(tokenDecimals) === 0n) return [];
    return [`${id} asks for ${String(asked)} ${tokenSymbol}, which nobody can send`];
  });
}

/** On a shared address, no transfer counts for an invoice that was whole before it, unless somebody decided so. */
function surplusFaults(
  { deeds, chain }: Pick<World, "deeds" | "chain">,
  { rows, counted, known }: Ledger,
): string[] {
  const placeOf = new Map(known.map((row) => [row.id, row]));
  const blocksOf = new Map<string, Set<string>>();
  for (const { transactionHash: hash, blockHash } of chain.past) {
    blocksOf.set(hash, (blocksOf.get(hash) ?? new Set()).add(blockHash));
  }
  return rows.flatMap((row) => {
    if (deeds.decided.has(row.id) || heldIn(row).some(({ isOwn }) => isOwn)) return [];
    const own = counted
      .filter(({ invoiceId }) => invoiceId === row.id)
      .toSorted((one, other) => {
        const [at, otherAt] = [placeOf.get(one.transferId), placeOf.get(other.transferId)];
        return (
          one.blockHeight - other.blockHeight || (at?.logIndex ?? 0) - (otherAt?.logIndex ?? 0)
        );
      });
    // A reorganization may bring a payment back after another one has taken its place.
    const isMoved = own.some(({ transactionHash: hash }) => (blocksOf.get(hash)?.size ?? 0) > 1);
    if (isMoved) return [];
    const last = own.findIndex((_, place) => isDue(row, shareOf(row, own.slice(0, place))));
    const surplus = last === -1 ? undefined : own[last];
    if (surplus === undefined) return [];
    return [`${row.id} was whole, and was credited ${surplus.transactionHash} too`];
  });
}
