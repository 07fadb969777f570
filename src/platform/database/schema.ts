import type { Clock } from "../../kernel/clock.ts";
import type { Progress } from "../progress.ts";
import type { Database, Reader } from "./database.ts";
import * as runner from "./schema/migrate.ts";
import { migrations } from "./schema/migrations/index.ts";

/** The newest migration level that this program knows. */
export const newestVersion = migrations.at(-1)?.version ?? 0;
/** The oldest migration level that this program takes over. */
export const oldestVersion = migrations.at(0)?.version ?? 0;

/**
 * Returns the migrations that are not applied yet, in order.
 * @throws StoreTooNew if a newer program migrated the store, StoreTooOld if it is from before version 0.2
 */
export function pendingMigrations(db: Reader): Promise<readonly runner.Migration[]> {
  return runner.pendingMigrations(db, migrations);
}

/**
 * Applies pending migrations and returns them. Each one commits together with its version row; several processes may
 * run this concurrently.
 * @throws StoreTooNew, StoreTooOld
 */
export async function migrate(
  db: Database,
  clock: Clock,
  progress?: Progress,
): Promise<readonly runner.Migration[]> {
  const { applyMigrations } = await import("./schema/apply-migrations.ts");
  return applyMigrations(db, clock, migrations, progress);
}
