import type { Instant } from "../../kernel/clock.ts";
import type { Database, Reader } from "../database/database.ts";
import { meta } from "../database/schema/meta.ts";
import { systemContext } from "../database/system-context.ts";

/** The outcome of the last backups, as the store records it. */
export interface BackupRecord {
  /** The last backup that was completed; null if none was. */
  readonly made: { readonly at: Instant; readonly path: string; readonly bytes: number } | null;
  /** The failure since; null if the last attempt succeeded. */
  readonly failure: { readonly at: Instant; readonly message: string } | null;
}

const fact = "last_backup";
const none: BackupRecord = { made: null, failure: null };

/** Reads the record. That of a restored store is from before the backup. */
export async function readBackupRecord(reader: Reader): Promise<BackupRecord> {
  const row = await reader.findOne(meta, "WHERE name = $1", [fact]);
  return row === null ? none : (JSON.parse(row.value) as BackupRecord);
}

export async function recordBackup(db: Database, record: BackupRecord): Promise<void> {
  const value = JSON.stringify(record);
  await db.write(systemContext("backup"), async (tx) => {
    if (await tx.insertIfAbsent(meta, { name: fact, value })) return;
    await tx.update(meta, { value }, "WHERE name = $1", [fact]);
  });
}
