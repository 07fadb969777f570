import { openStore } from "../../compose/store.ts";
import { planMigration } from "../../compose/backup/plan-migration.ts";
import { storeName } from "../../compose/store-location.ts";
import { systemClock } from "../../kernel/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { createLogger } from "../../platform/logger/index.ts";
import { systemRandom } from "../../platform/secrets/tokens.ts";
import { printTable } from "../terminal/output.ts";
import { withProgress } from "../terminal/progress.ts";
import { loadStoreSettings, logLevelOf, type Flags } from "../settings.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** `till db migrate`: applies pending migrations, after a backup of a store that already has data. */
export async function migrateStore(terminal: Terminal, flags: Flags): Promise<void> {
  const loaded = await loadStoreSettings(terminal, "cli", flags);
  const { config } = loaded;
  if (flags["plan"] === true) {
    await printPlan(terminal, config);
    return;
  }
  const logger = createLogger({ level: logLevelOf(terminal, loaded) });
  const outside = { clock: systemClock, randomBytes: systemRandom, logger };
  const { db, migrations, backup } = await withProgress(terminal, (progress) =>
    openStore(config, "migrate", { ...outside, progress }),
  );
  await db.close();
  const applied = migrations.map(({ version, name }) => ({ version, name }));
  switch (terminal.form) {
    case "json":
      terminal.data(JSON.stringify({ applied, backup }));
      return;
    case "quiet":
      for (const { version } of applied) terminal.data(String(version));
      return;
    case "people":
      if (applied.length === 0) terminal.talk(`${storeName(config)} is up to date.`);
      else {
        await printTable(
          terminal,
          ["VERSION", "MIGRATION"],
          applied.map(({ version, name }) => [String(version), name]),
        );
        terminal.talk(`Applied to ${storeName(config)}.`);
      }
      if (backup !== null) {
        terminal.talk(`Backup from before the migration: ${backup}`);
        terminal.talk(
          `To go back: till restore ${backup} --no-migrate, then start the earlier version`,
        );
      }
  }
}

/** Prints the pending migrations with an estimate of their duration. Changes nothing. */
async function printPlan(terminal: Terminal, config: Config): Promise<void> {
  const { from, steps, backsUp, seconds } = await planMigration(config);
  switch (terminal.form) {
    case "json":
      terminal.data(
        JSON.stringify({ from, migrations: steps, backsUp, estimatedSeconds: seconds }),
      );
      return;
    case "quiet":
      for (const { version } of steps) terminal.data(String(version));
      return;
    case "people":
      if (steps.length === 0) {
        terminal.talk(`${storeName(config)} is up to date.`);
        return;
      }
      await printTable(
        terminal,
        ["VERSION", "MIGRATION", "TABLES", "ROWS"],
        steps.map(({ version, name, tables, rows }) => [
          ...[String(version), name, tables.length === 0 ? "-" : tables.join(",")],
          String(rows),
        ]),
      );
      terminal.talk(
        `${storeName(config)} has level ${String(from)}. ${backsUp ? "It is backed up first. " : "It is not backed up first (TILL_BACKUP_BEFORE_MIGRATION=0). "}` +
          `All of that takes roughly ${String(seconds)} s, during which no server may run.`,
      );
      terminal.talk("Next: stop all servers, then run till db migrate or till serve");
  }
}
