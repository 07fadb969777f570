import type { Reader } from "../database.ts";

/**
 * Makes a connection wait for the flush of each commit where a role or database has that off: commits would be
 * acknowledged that a crash of the database server loses. Other values, which ask a standby too, stay.
 */
export const flushesCommits =
  "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'";

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
