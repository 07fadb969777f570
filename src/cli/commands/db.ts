import { openStore, storeName } from "../../compose/index.ts";
import { systemClock } from "../../kernel/clock.ts";
import { loadConfig } from "../../platform/config/index.ts";
import { createLogger } from "../../platform/logger/index.ts";
import { systemRandom } from "../../platform/secrets/random.ts";
import { printTable } from "../output.ts";
import type { Terminal } from "../terminal.ts";

/** `till db migrate`: applies what the store lacks, after a copy of a SQLite store that has something to lose. */
export async function migrateStore(
  terminal: Terminal,
  flags: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { config } = await loadConfig({ mode: "cli", flags });
  const logger = createLogger({ level: terminal.isVerbose ? config.logLevel : "error" });
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
      if (backup !== null) terminal.talk(`The store as it was before: ${backup}`);
  }
}
