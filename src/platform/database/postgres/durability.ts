import type { Reader } from "../database.ts";

/**
 * Returns SQL that makes a connection, or the open transaction alone, wait for the flush of each commit where a role or
 * database has that off: commits would be acknowledged that a crash of the database server loses. Other values, which
 * ask a standby too, stay.
 */
export function flushesCommits(isLocal: boolean): string {
  return `SELECT set_config('synchronous_commit', 'on', ${String(isLocal)}) WHERE current_setting('synchronous_commit') = 'off'`;
}

/** The settings of PostgreSQL without which a crash or a power cut loses acknowledged commits or damages the store. */
export type DurabilitySetting = "fsync" | "full_page_writes" | "synchronous_commit";

/** Returns the settings that are off for the reader's role and database; none on SQLite, which has none of them. */
export async function durabilityThatIsOff(reader: Reader): Promise<readonly DurabilitySetting[]> {
  if (reader.dialect === "sqlite") return [];
  const rows = await reader.all<{ name: DurabilitySetting }>(
    `SELECT name AS "name" FROM pg_settings
     WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}
