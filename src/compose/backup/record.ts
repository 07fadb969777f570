import { platformOrganizationId } from "../../features/organizations/store.ts";
import type { Clock, Instant } from "../../kernel/clock.ts";
import { recordBackup, type BackupRecord } from "../../platform/backup/history.ts";
import { currentVersion } from "../../platform/database/schema/migrate.ts";
import { openDatabase, openForReading } from "../../platform/database/open.ts";
import { noStore, requireStoreFile, type StoreLocation } from "../store-location.ts";
import { addressOfStore } from "./fill.ts";
import type { MadeBackup } from "./make-backup.ts";

/** Returns the id of the platform organization of the store at a location, of any migration level. @throws NoStore */
export async function instanceAt(location: StoreLocation): Promise<string | null> {
  await requireStoreFile(location);
  const store = await openForReading(addressOfStore(location));
  try {
    if ((await currentVersion(store)) === 0) throw noStore(location);
    return await platformOrganizationId(store);
  } finally {
    await store.close();
  }
}

/** Records a backup that `till backup` made, of a store of any migration level. */
export async function noteBackup(
  location: StoreLocation,
  clock: Clock,
  made: MadeBackup,
): Promise<void> {
  const db = await openDatabase(addressOfStore(location));
  try {
    await recordBackup(db, recordOf(made, clock.now()));
  } finally {
    await db.close();
  }
}

/** Returns the record of a completed backup. Faults of its rows are a failure, because a restore would refuse them. */
export function recordOf(
  { path, bytes, broken, manifest }: MadeBackup,
  now: Instant,
): BackupRecord {
  const names = broken.map(({ check }) => check.name).join(", ");
  return {
    made: { at: Date.parse(manifest.createdAt), path, bytes },
    failure: names === "" ? null : { at: now, message: `checks of till db verify fail: ${names}` },
  };
}
