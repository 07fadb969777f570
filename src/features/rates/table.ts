import { integer, json, table, time, type RowOf } from "../../platform/database/schema/table.ts";
import type { StoredReading } from "./rules.ts";

/** Stored state of a pair. */
export interface StoredPair {
  readonly accepted: StoredReading | null;
  readonly pending: StoredReading | null;
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

export type RateBookRow = RowOf<typeof rateBook>;
