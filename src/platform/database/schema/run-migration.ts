import { MigrationError, RerunBehavior, Umzug } from "umzug";
import { Defect } from "../../../kernel/errors.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { Tx } from "../database.ts";
import { columnTypes } from "./column-types.ts";
import { appliedVersions, schemaVersions, type Migration } from "./migrate.ts";

/** Runs a migration and records it in the same transaction. Returns false if it is recorded already. */
export async function runMigration(
  tx: Tx,
  clock: Clock,
  migration: Migration,
  known: readonly Migration[],
): Promise<boolean> {
  const umzug = new Umzug<Tx>({
    context: tx,
    logger: undefined,
    migrations: known.map(({ version, up, fill }) => ({
      name: String(version),
      async up() {
        for (const statement of up(columnTypes[tx.dialect], tx.dialect)) await tx.run(statement);
        await fill?.(tx);
      },
    })),
    storage: {
      executed: async () => [...(await appliedVersions(tx))].map(String),
      async logMigration() {
        const { version, since = version, name } = migration;
        const row = { name, appliedAt: clock.now() };
        const count = version - since + 1;
        await tx.insertMany(
          schemaVersions,
          Array.from({ length: count }, (_, place) => ({ ...row, version: since + place })),
        );
      },
      unlogMigration: () => Promise.reject(new Defect("migrations go forward only")),
    },
  });
  try {
    const asked = { migrations: [String(migration.version)], rerun: RerunBehavior.SKIP };
    return (await umzug.up(asked)).length > 0;
  } catch (error) {
    // The store repeats a write by the class of its error.
    throw error instanceof MigrationError ? error.cause : error;
  }
}
