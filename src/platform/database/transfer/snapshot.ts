import { openForReading, type ReadOnlyDatabase } from "../read-only.ts";

/**
 * Opens a store for reading one snapshot of it: everything that was acknowledged before, and nothing later. Writers are
 * not blocked, except migrations of PostgreSQL, which wait until it is closed.
 * @throws as `openForReading`
 */
export async function openSnapshot(
  place: { readonly url: string } | { readonly sqliteFile: string },
): Promise<ReadOnlyDatabase> {
  const db = await openForReading(place);
  try {
    await db.holdSnapshot();
    return db;
  } catch (error) {
    await db.close();
    throw error;
  }
}
