import { openStore } from "../../compose/store.ts";
import { storeName } from "../../compose/store-location.ts";
import { verifyStore, type CheckResult } from "../../compose/checks.ts";
import { systemClock } from "../../kernel/clock.ts";
import { createLogger } from "../../platform/logger/index.ts";
import { systemRandom } from "../../platform/secrets/tokens.ts";
import { deriveKey } from "../../platform/secrets/server-secret.ts";
import { printTable } from "../terminal/output.ts";
import { Unhealthy } from "../failures/refusals.ts";
import { loadStoreSettings, logLevelOf, type Flags } from "../settings.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** `till db verify`: checks every invariant of the store and prints the rows that violate one. Read-only. */
export async function verifyStoreCommand(terminal: Terminal, flags: Flags): Promise<void> {
  const loaded = await loadStoreSettings(terminal, "cli", flags);
  const logger = createLogger({ level: logLevelOf(terminal, loaded) });
  const outside = { clock: systemClock, randomBytes: systemRandom, logger };
  const { db, secret } = await openStore(loaded.config, "use", outside);
  let results: readonly CheckResult[];
  try {
    results = await verifyStore(db, deriveKey(secret, "audit-seals"));
  } finally {
    await db.close();
  }
  await print(terminal, results);
  const broken = results.filter(({ violations }) => violations.length > 0);
  if (broken.length > 0) {
    throw new Unhealthy(
      `${broken.map(({ check }) => check.name).join(", ")}: some rows in the store are not valid. The table says what to do about each.`,
    );
  }
  terminal.talk(`All checks passed in ${storeName(loaded.config)}.`);
}

async function print(terminal: Terminal, results: readonly CheckResult[]): Promise<void> {
  switch (terminal.form) {
    case "json":
      terminal.data(JSON.stringify({ data: results.map(presentResult), nextCursor: null }));
      return;
    case "quiet":
      for (const { violations } of results) for (const { row } of violations) terminal.data(row);
      return;
    case "people":
      await printTable(
        terminal,
        ["CHECK", "RESULT", "RULE"],
        results.map(({ check, violations }) => [
          check.name,
          violations.length === 0 ? "ok" : `${String(violations.length)} rows violate it`,
          check.describe,
        ]),
      );
      await printBroken(terminal, results);
  }
}

async function printBroken(terminal: Terminal, results: readonly CheckResult[]): Promise<void> {
  const rows = results.flatMap(({ check, violations }) =>
    violations.map(({ row, fault }) => [check.name, row, fault, check.advice]),
  );
  if (rows.length > 0) await printTable(terminal, ["CHECK", "ROW", "FAULT", "WHAT TO DO"], rows);
}

function presentResult({ check: { name, describe, advice }, violations }: CheckResult) {
  return { name, describe, advice, holds: violations.length === 0, violations };
}
