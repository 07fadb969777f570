import type { Id } from "../../../kernel/id.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { bareNear, nearBase, roundBetween } from "./amounts.ts";
import type { EntryPlace } from "../table.ts";
import type { AmountSearch, HoldPlace } from "./amount-search.ts";

/** The holds of a commit that are not in the store yet, so that no statement finds them. */
export interface UnstoredHolds {
  has(place: HoldPlace, amount: bigint): boolean;
  /** Whether another invoice's hold prevents the bare price. */
  isNear(search: AmountSearch): boolean;
  /** The invoices of the search's link in its band. */
  ofLink(search: AmountSearch): number;
  /**
   * Counts the holds of amounts with a surcharge from `least` to `most` that differ from `least` by a multiple of
   * `step`.
   */
  count(search: AmountSearch, least: bigint, most: bigint, step: bigint): bigint;
  add(search: AmountSearch, amount: bigint, invoiceId: Id<"invoice">): void;
}

interface UnstoredHold {
  readonly invoiceId: Id<"invoice">;
  readonly isBare: boolean;
  readonly enteredAtLink: EntryPlace | null;
}

/** Returns the holds of all writes of the commit on SQLite; on PostgreSQL, holds are stored as soon as they are taken. */
export function unstoredHolds(tx: Tx): UnstoredHolds {
  return tx.isExclusive ? tx.shared(makeUnstoredHolds) : makeUnstoredHolds();
}

/** Makes the holds of a commit that has none yet. */
export function makeUnstoredHolds(): UnstoredHolds {
  const places = new Map<string, Map<bigint, UnstoredHold>>();
  const none: ReadonlyMap<bigint, UnstoredHold> = new Map();
  const keyOf = ({ network, address, token }: HoldPlace) => `${network} ${address} ${token}`;
  const at = (place: HoldPlace) => places.get(keyOf(place)) ?? none;
  return {
    has: (place, amount) => at(place).has(amount),
    isNear(search) {
      const [least, most] = nearBase(search.range);
      const [bareLeast, bareMost] = bareNear(search.range);
      for (const [amount, { invoiceId, isBare, enteredAtLink }] of at(search)) {
        if (invoiceId === search.holder) continue;
        if (amount >= least && amount <= most && enteredAtLink === null) return true;
        if (isBare && amount >= bareLeast && amount <= bareMost) return true;
      }
      return false;
    },
    ofLink({ enteredAtLink, range, ...place }) {
      if (enteredAtLink === null) return 0;
      const [least] = nearBase(range);
      return [...at(place)].filter(
        ([amount, hold]) =>
          hold.enteredAtLink === enteredAtLink &&
          amount >= least &&
          amount <= range.base + range.cap,
      ).length;
    },
    count(search, least, most, step) {
      let found = 0n;
      for (const amount of at(search).keys()) {
        const isRound = roundBetween(search.range, step, amount, amount) > 0n;
        if (amount >= least && amount <= most && !isRound && (amount - least) % step === 0n)
          found += 1n;
      }
      return found;
    },
    add(search, amount, invoiceId) {
      const { range, enteredAtLink } = search;
      const key = keyOf(search);
      const held = places.get(key) ?? new Map<bigint, UnstoredHold>();
      const hold = { invoiceId, isBare: amount === range.base, enteredAtLink };
      places.set(key, held.set(amount, hold));
    },
  };
}
