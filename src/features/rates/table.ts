import { integer, json, table, time, type RowOf } from "../../platform/database/index.ts";
import type { StoredReading } from "./rules.ts";

/** What is kept of a pair. */
export interface StoredPair {
  readonly accepted: StoredReading | null;
  readonly pending: StoredReading | null;
  readonly checkedAt: number | null;
  /** Rows of earlier versions lack it. */
  readonly nextAt?: number | null;
  readonly problem: string | null;
}

/** One row with every pair's quote: who checks writes all of them, and who issues reads all of them, at once. */
export const rateBook = table(
  "rate_book",
  {
    /** Always 1. */
    id: integer(),
    /** By the pairs' names. */
    pairs: json<Readonly<Record<string, StoredPair>>>(),
    updatedAt: time(),
  },
  { primaryKey: ["id"] },
);

export type RateBookRow = RowOf<typeof rateBook>;
