import type { Clock } from "../../kernel/clock.ts";
import { Defect } from "../../kernel/errors.ts";
import { openDatabase } from "../../platform/database/open.ts";
import type { Database } from "../../platform/database/database.ts";
import {
  fillStore,
  openSnapshot,
  readTables,
  shapesOf,
  tablesAt,
} from "../../platform/database/transfer/rows.ts";
import { counted, type Progress } from "../../platform/progress.ts";
import type { ServerSecret } from "../../platform/secrets/server-secret.ts";
import { placeOf } from "../backup/fill.ts";
import { describe, until } from "../backup/make-backup.ts";
import { requireStoreFile, storeBehind, type StoreLocation } from "../store-place.ts";

/**
 * The tables that billing reads. Logs, payments and everything with which somebody could log in stay out of the copy.
 */
const copied = [
  ...["schema_versions", "meta", "organizations", "wallets", "wallet_claims", "invoices", "holds"],
  ...["half_full_bands", "network_states", "rate_book", "billing_state", "subscriptions"],
  ...["platform_invoices", "platform_invoice_lines", "platform_invoice_twins", "adjustments"],
  ...["credits", "credit_applications", "discounts", "discount_uses"],
];

/**
 * Copies what billing needs of a store, which may be in use, to a new SQLite file, and opens that. The store is only
 * read. Commits to the copy do not wait for the disk.
 * @throws StoreBehind, or WrongSecret
 */
export async function openScratchCopy(
  place: StoreLocation,
  file: string,
  given: {
    readonly secret: ServerSecret;
    readonly clock: Clock;
    readonly signal: AbortSignal;
    readonly progress: Progress;
  },
): Promise<Database> {
  const { secret, clock, signal, progress } = given;
  await requireStoreFile(place);
  const store = await openSnapshot(placeOf(place));
  try {
    const { migration: level } = await describe(store, place, secret);
    if (store.pending.length > 0) throw storeBehind(place, store.pending.length);
    const tables = await shapesOf(store, tablesAt(level));
    const wanted = tables.filter(({ name }) => copied.includes(name));
    if (wanted.length < copied.length) throw new Defect("billing reads a table that is missing");
    const rows = until(signal, readTables(store, wanted));
    const parts = counted(rows, progress, "Copying rows", null, (part) => part.rows);
    const db = await openDatabase({ sqliteFile: file, isScratch: true });
    try {
      await fillStore(db, clock, level, { tables, parts });
      return db;
    } catch (error) {
      await db.close();
      throw error;
    }
  } finally {
    await store.close();
  }
}
