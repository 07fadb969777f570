import type { Id } from "../../../kernel/id.ts";
import type { Tx } from "../../../platform/database/index.ts";
import { nearBase } from "./amounts.ts";
import type { AmountSearch, HoldPlace } from "./amount-search.ts";

/** The holds of a commit that are not in the store yet, so that no statement finds them. */
export interface UnstoredHolds {
  has(place: HoldPlace, amount: bigint): boolean;
  /** Whether another invoice's hold is near the bare price. */
  isNear(search: AmountSearch): boolean;
  /** Counts the holds of amounts from `least` to `most` that differ from `least` by a multiple of `step`. */
  count(place: HoldPlace, least: bigint, most: bigint, step: bigint): bigint;
  add(place: HoldPlace, amount: bigint, invoiceId: Id<"invoice">): void;
}

/** Returns the holds of all writes of the commit on SQLite; on PostgreSQL, holds are stored as soon as they are taken. */
export function unstoredHolds(tx: Tx): UnstoredHolds {
  return tx.isExclusive ? tx.shared(makeUnstoredHolds) : makeUnstoredHolds();
}

/** Makes the holds of a commit that has none yet. */
export function makeUnstoredHolds(): UnstoredHolds {
  const places = new Map<string, Map<bigint, Id<"invoice">>>();
  const none: ReadonlyMap<bigint, Id<"invoice">> = new Map();
  const keyOf = ({ network, address, token }: HoldPlace) => `${network} ${address} ${token}`;
  const at = (place: HoldPlace) => places.get(keyOf(place)) ?? none;
  return {
    has: (place, amount) => at(place).has(amount),
    isNear(search) {
      const [least, most] = nearBase(search.range);
      for (const [amount, invoiceId] of at(search)) {
        if (amount >= least && amount <= most && invoiceId !== search.holder) return true;
      }
      return false;
    },
    count(place, least, most, step) {
      let found = 0n;
      for (const amount of at(place).keys()) {
        if (amount >= least && amount <= most && (amount - least) % step === 0n) found += 1n;
      }
      return found;
    },
    add(place, amount, invoiceId) {
      const key = keyOf(place);
      const held = places.get(key) ?? new Map<bigint, Id<"invoice">>();
      places.set(key, held.set(amount, invoiceId));
    },
  };
}
