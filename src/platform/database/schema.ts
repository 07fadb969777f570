import type { Clock } from "../../kernel/clock.ts";
import type { Database, Reader } from "./database.ts";
import * as runner from "./migrate.ts";
import { migrations } from "./migrations/index.ts";

/** The migrations that the store still lacks, in order; throws StoreTooNew when a newer program has been here. */
export function pendingMigrations(db: Reader): Promise<readonly runner.Migration[]> {
  return runner.pendingMigrations(db, migrations);
}

/**
 * Brings the store up to date and gives what was applied. Each migration commits with its version row; several
 * processes may call this at once. Throws StoreTooNew when a newer program has been here.
 */
export function migrate(db: Database, clock: Clock): Promise<readonly runner.Migration[]> {
  return runner.applyMigrations(db, clock, migrations);
}
