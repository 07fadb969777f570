import type { Instant } from "../../kernel/clock.ts";
import { systemContext, type Database, type Reader, type Tx } from "../database/database.ts";
import { meta } from "../database/schema/table.ts";

/** A restore in the history of a store. Whatever counts up in the store may be given twice: before and after it. */
export interface RestoreRecord {
  /** Unique among all restores, also those of the same backup. */
  readonly id: string;
  readonly at: Instant;
  /** When the backup was made, as ISO 8601. */
  readonly backupCreatedAt: string;
  /** The position of the last event in the backup; later positions have been assigned again since. */
  readonly eventPosition: number;
}

const fact = "restores";

/** Reads the restores in the history of a store, oldest first. */
export async function readRestores(reader: Reader): Promise<readonly RestoreRecord[]> {
  const row = await reader.findOne(meta, "WHERE name = $1", [fact]);
  return row === null ? [] : (JSON.parse(row.value) as RestoreRecord[]);
}

export async function addRestore(tx: Tx, restore: RestoreRecord): Promise<void> {
  const value = JSON.stringify([...(await readRestores(tx)), restore]);
  if (await tx.insertIfAbsent(meta, { name: fact, value })) return;
  await tx.update(meta, { value }, "WHERE name = $1", [fact]);
}

/** The outcome of the last backups, as the store records it. */
export interface BackupRecord {
  /** The last backup that was completed; null if none was. */
  readonly made: { readonly at: Instant; readonly path: string; readonly bytes: number } | null;
  /** The failure since; null if the last attempt succeeded. */
  readonly failure: { readonly at: Instant; readonly message: string } | null;
}

const lastBackup = "last_backup";
const noBackup: BackupRecord = { made: null, failure: null };

/** Reads the record. That of a restored store is from before the backup. */
export async function readBackupRecord(reader: Reader): Promise<BackupRecord> {
  const row = await reader.findOne(meta, "WHERE name = $1", [lastBackup]);
  return row === null ? noBackup : (JSON.parse(row.value) as BackupRecord);
}

export async function recordBackup(db: Database, record: BackupRecord): Promise<void> {
  const value = JSON.stringify(record);
  await db.write(systemContext("backup"), async (tx) => {
    if (await tx.insertIfAbsent(meta, { name: lastBackup, value })) return;
    await tx.update(meta, { value }, "WHERE name = $1", [lastBackup]);
  });
}
