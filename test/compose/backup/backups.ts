import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { makeBackup, type MadeBackup } from "../../../src/compose/backup/make-backup.ts";
import {
  planRestore,
  restoreBackup,
  type RestoredStore,
} from "../../../src/compose/backup/restore.ts";
import { systemClock } from "../../../src/kernel/clock.ts";
import { loadConfig } from "../../../src/platform/config/load.ts";
import type { Config } from "../../../src/platform/config/config.ts";
import { openForReading, type StoreOptions } from "../../../src/platform/database/open.ts";
import { tablesAt } from "../../../src/platform/database/transfer/rows.ts";
import { silentLogger } from "../../../src/platform/logger/index.ts";
import { systemRandom } from "../../../src/platform/secrets/tokens.ts";
import { approvedMerchant, startApp } from "../../support/app.ts";
import { xpubs } from "../../support/merchants.ts";
import { secret, serverSecret } from "../../support/secret.ts";
import { dropDatabase, freshDatabase } from "../../support/store/postgres.ts";

export const neverAborted = new AbortController().signal;

/** Returns the settings of a store at a place. */
export async function configOf(
  place: StoreOptions,
  settings: Readonly<Record<string, string>> = {},
): Promise<Config> {
  const store: Record<string, string> =
    "url" in place
      ? { DATABASE_URL: place.url, TILL_DATA_DIR: join(tmpdir(), "till no data") }
      : { TILL_DATA_DIR: dirname(place.sqliteFile) };
  const env = { TILL_SECRET: secret, TILL_NETWORKS: "sandbox", ...store, ...settings };
  return (await loadConfig({ mode: "cli", env })).config;
}

/** Fills a migrated store with a merchant and invoices. */
export async function fill(place: StoreOptions, xpub: string = xpubs.first): Promise<void> {
  const app = await startApp({ place });
  try {
    const merchant = await approvedMerchant(app);
    await merchant.addWallet({ xpub });
    for (const amount of ["5", "1000000.25"]) {
      await merchant.issue({
        amount,
        settlementCurrency: "USDT",
        description: `Grüße, "ключ" \\ 🎁 ${amount}`,
        metadata: { order: amount },
      });
    }
  } finally {
    await app.stop();
  }
}

/** Backs up a store into a file. */
export async function back(
  place: StoreOptions,
  path: string,
  options: Partial<Parameters<typeof makeBackup>[0]> = {},
): Promise<MadeBackup> {
  return makeBackup({
    location: await configOf(place),
    secret: serverSecret,
    path,
    clock: systemClock,
    withSecret: false,
    verify: "store",
    signal: neverAborted,
    ...options,
  });
}

/** Restores a file into a place. */
export async function restore(
  file: string,
  place: StoreOptions,
  options: Partial<Parameters<typeof restoreBackup>[2]> = {},
  settings: Readonly<Record<string, string>> = {},
): Promise<RestoredStore> {
  const config = await configOf(place, settings);
  const plan = await planRestore(config, file, {
    acceptsOtherInstance: false,
    clock: systemClock,
    randomBytes: systemRandom,
  });
  return restoreBackup(config, plan, {
    clock: systemClock,
    logger: silentLogger,
    signal: neverAborted,
    verifies: true,
    migrates: true,
    randomBytes: systemRandom,
    actor: { type: "operator", id: null, label: "tester@here" },
    ...options,
  });
}

/** Every row of a store by table, in an order that does not depend on the database. Leases end with each copy. */
export async function rowsOf(
  place: StoreOptions,
  level: number,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const store = await openForReading(place);
  try {
    const all: Record<string, readonly string[]> = {};
    for (const name of tablesAt(level)) {
      const rows = await store.all(`SELECT * FROM ${name}`);
      if (name === "leases") continue;
      all[name] = rows
        .map((row) =>
          JSON.stringify(Object.entries(row).sort(([one], [two]) => (one < two ? -1 : 1))),
        )
        .sort();
    }
    return all;
  } finally {
    await store.close();
  }
}

/** Leaves out what a restore writes, so that a restored store compares equal to the one that was backed up. */
export function asBackedUp(
  rows: Awaited<ReturnType<typeof rowsOf>>,
): Awaited<ReturnType<typeof rowsOf>> {
  const filtered = { ...rows };
  const drop = (table: string, text: string) => {
    filtered[table] = (filtered[table] ?? []).filter((row) => !row.includes(text));
  };
  drop("meta", '["name","restores"]');
  drop("audit_logs", '"store.restored"');
  filtered["sessions"] = (filtered["sessions"] ?? []).map((row) =>
    row.replace(/\["revoked_at",\d+\]/, '["revoked_at",null]'),
  );
  return filtered;
}

/** Gives a test folders and databases, which are removed after it. */
export function usePlaces() {
  const folders: string[] = [];
  const databases: string[] = [];
  afterEach(async () => {
    for (const path of folders.splice(0)) await rm(path, { recursive: true, force: true });
    for (const url of databases.splice(0)) await dropDatabase(url);
  });
  const folder = async (): Promise<string> => {
    const path = await mkdtemp(join(tmpdir(), "till backup "));
    folders.push(path);
    return path;
  };
  return {
    folder,
    async sqlite(): Promise<StoreOptions & { readonly sqliteFile: string }> {
      return { sqliteFile: join(await folder(), "till.db") };
    },
    async postgres(): Promise<StoreOptions & { readonly url: string }> {
      const url = await freshDatabase();
      databases.push(url);
      return { url };
    },
  };
}
