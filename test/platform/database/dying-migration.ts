/**
 * Migrates a store, and kills itself at the end of a migration's transaction, before it is committed.
 * Arguments: the place as JSON, and the version of the migration.
 */
import { systemClock } from "../../../src/kernel/clock.ts";
import { openDatabase, type StoreOptions } from "../../../src/platform/database/open.ts";
import type { Tx } from "../../../src/platform/database/database.ts";
import { applyMigrations } from "../../../src/platform/database/schema/apply-migrations.ts";
import { migrations } from "../../../src/platform/database/schema/migrations/index.ts";

const [, , place = "", version = ""] = process.argv;
const deadly = migrations.map((migration) => {
  if (migration.version !== Number(version)) return migration;
  const fill = async (tx: Tx) => {
    await migration.fill?.(tx);
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => undefined);
  };
  return { ...migration, fill };
});
await applyMigrations(await openDatabase(JSON.parse(place) as StoreOptions), systemClock, deadly);
