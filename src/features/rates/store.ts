import type { Instant } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../../platform/database/database.ts";
import { integer, json, table, time, type RowOf } from "../../platform/database/schema/table.ts";
import { quotedRateOf, storedRate, type PairState, type StoredRate } from "./rules.ts";

/** Stored state of a pair. */
interface StoredPair {
  readonly accepted: StoredRate | null;
  readonly pending: StoredRate | null;
  readonly checkedAt: number | null;
  /** Missing in rows written by earlier versions. */
  readonly nextAt?: number | null;
  readonly problem: string | null;
}

/** One row with the states of all pairs: a check writes them all at once, and issuing reads them all at once. */
export const rateBook = table(
  "rate_book",
  {
    /** Always 1. */
    id: integer(),
    /** States by pair name. */
    pairs: json<Readonly<Record<string, StoredPair>>>(),
    updatedAt: time(),
  },
  { primaryKey: ["id"] },
);

type RateBookRow = RowOf<typeof rateBook>;

/** States of all pairs that were ever checked, by name. */
export type Book = ReadonlyMap<string, PairState>;

export async function readBook(reader: Reader): Promise<Book> {
  return bookOf(await reader.findOne(rateBook, "WHERE id = 1"));
}

/** Locks the states until the transaction ends, so that checks are serialized. */
export async function lockBook(tx: Tx, at: Instant): Promise<Book> {
  await tx.insertIfAbsent(rateBook, { id: 1, pairs: {}, updatedAt: at });
  return bookOf(await tx.lockOne(rateBook, "WHERE id = 1"));
}

export async function writeBook(tx: Tx, book: Book, at: Instant): Promise<void> {
  const pairs = [...book].map(([name, { accepted, pending, checkedAt, nextAt, problem }]) => [
    name,
    {
      accepted: accepted === null ? null : storedRate(accepted),
      pending: pending === null ? null : storedRate(pending),
      checkedAt,
      nextAt,
      problem,
    },
  ]);
  const set = { pairs: Object.fromEntries(pairs) as RateBookRow["pairs"], updatedAt: at };
  await tx.update(rateBook, set, "WHERE id = 1");
}

function bookOf(row: RateBookRow | null): Book {
  return new Map(
    Object.entries(row?.pairs ?? {}).map(([name, stored]): [string, PairState] => [
      name,
      {
        accepted: stored.accepted === null ? null : quotedRateOf(stored.accepted),
        pending: stored.pending === null ? null : quotedRateOf(stored.pending),
        checkedAt: stored.checkedAt,
        nextAt: stored.nextAt ?? null,
        problem: stored.problem,
      },
    ]),
  );
}
