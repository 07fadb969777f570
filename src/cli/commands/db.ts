import { openStore, storeName } from "../../compose/index.ts";
import { systemClock } from "../../kernel/clock.ts";
import { createLogger } from "../../platform/logger/index.ts";
import { systemRandom } from "../../platform/secrets/random.ts";
import { printTable } from "../terminal/output.ts";
import { loadStoreSettings, logLevelOf, type Flags } from "../settings.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** `till db migrate`: applies pending migrations, after copying a SQLite store that already has data. */
export async function migrateStore(terminal: Terminal, flags: Flags): Promise<void> {
  const loaded = await loadStoreSettings(terminal, "cli", flags);
  const { config } = loaded;
  const logger = createLogger({ level: logLevelOf(terminal, loaded) });
  const outside = { clock: systemClock, randomBytes: systemRandom, logger };
  const { db, migrations, backup } = await openStore(config, "migrate", outside);
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
      if (backup !== null) terminal.talk(`Copy of the store before the migration: ${backup}`);
  }
}
