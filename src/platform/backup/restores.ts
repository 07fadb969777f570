import type { Instant } from "../../kernel/clock.ts";
import type { Reader, Tx } from "../database/database.ts";
import { meta } from "../database/schema/meta.ts";

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
