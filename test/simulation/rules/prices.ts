import type { holds } from "../../../src/features/invoices/table.ts";
import type { payments, transfers } from "../../../src/features/payments/table.ts";
import type { RowOf } from "../../../src/platform/database/index.ts";
import type { Invoice } from "../deeds.ts";
import { heldIn } from "../options.ts";
import type { World } from "../world.ts";
import { isDue, shareOf } from "./shares.ts";

type Hold = RowOf<typeof holds>;
type Payment = RowOf<typeof payments>;

/** The rows of the store that prices and payments by amount are judged by. */
export interface Ledger {
  readonly rows: readonly Invoice[];
  readonly counted: readonly Payment[];
  readonly held: readonly Hold[];
  readonly known: readonly RowOf<typeof transfers>[];
}

/** An amount says whose payment it is only while nobody else may send it by rounding. */
export function priceFaults(world: Pick<World, "deeds" | "chain">, ledger: Ledger): string[] {
  const decimals = new Map(ledger.rows.map((row) => [row.tokenSymbol, row.tokenDecimals]));
  return [
    ...ledger.held.flatMap((hold) => bareFaults(hold, ledger.held, decimals.get(hold.token) ?? 0)),
    ...surplusFaults(world, ledger),
  ];
}

/** No invoice gets its bare price while another one holds an amount that is at most 1 %, or 0.99, away. */
function bareFaults(hold: Hold, held: readonly Hold[], decimals: number): string[] {
  const { price, startsAt } = hold;
  if (price === null || hold.amount !== price) return [];
  const unit = 10n ** BigInt(decimals);
  const most = (99n * unit) / 100n;
  const reach = price / 100n < most ? price / 100n : most;
  // If no surcharge fits, the price has one amount.
  if (reach < 10n ** BigInt(Math.max(0, decimals - 6))) return [];
  const near = held.find(
    (other) =>
      other.invoiceId !== hold.invoiceId &&
      other.address === hold.address &&
      other.token === hold.token &&
      other.startsAt < startsAt &&
      (other.releasedAt === null || other.releasedAt > startsAt) &&
      other.amount >= price - reach &&
      other.amount <= price + reach,
  );
  if (near === undefined) return [];
  return [
    `${hold.invoiceId} has the bare price ${String(price)} while ${near.invoiceId} held ${String(near.amount)}`,
  ];
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
