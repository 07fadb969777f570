import { mkdir } from "node:fs/promises";
import type { Clock } from "../../kernel/clock.ts";
import { defineProblem } from "../../kernel/errors.ts";
import { counted, unwatched } from "../../platform/progress.ts";
import { makeDigests } from "../../platform/backup/backup-file.ts";
import { currentVersion } from "../../platform/database/schema/migrate.ts";
import { openForReading } from "../../platform/database/open.ts";
import { exists } from "../../platform/database/sqlite/new-store.ts";
import {
  openSnapshot,
  readTables,
  shapesOf,
  tablesAt,
  type TablePart,
} from "../../platform/database/transfer/rows.ts";
import type { ServerSecret } from "../../platform/secrets/server-secret.ts";
import { storeBehind, storeFile, storeName, type StoreLocation } from "../store-location.ts";
import {
  fillNewStore,
  addressOfStore,
  refuseServers,
  type FilledStore,
  type FillOptions,
} from "./fill.ts";
import { describe, until } from "./make-backup.ts";

const TargetNotEmpty = defineProblem({
  code: "target_not_empty",
  status: 409,
  title: "The target already has a store",
});

export interface CopiedStore extends FilledStore {
  readonly tables: number;
  readonly rows: number;
}

/**
 * Copies a store to a location without one, on either database, and compares every row.
 * @throws StoreInUse if a server runs on the source, TargetNotEmpty, StoreBehind
 */
export async function copyStore(
  source: StoreLocation,
  target: StoreLocation,
  secret: ServerSecret,
  options: FillOptions,
): Promise<CopiedStore> {
  if (target.databaseUrl === null) await mkdir(target.dataDir, { recursive: true, mode: 0o700 });
  await requireEmpty(target);
  const { progress = unwatched } = options;
  const store = await openSnapshot(addressOfStore(source));
  try {
    const { migration: level } = await describe(store, source, secret);
    if (store.pending.length > 0) throw storeBehind(source, store.pending.length);
    await refuseServers(source, store, options.clock);
    const tables = await shapesOf(store, tablesAt(level));
    const digests = makeDigests(tables);
    async function* summed(): AsyncGenerator<TablePart> {
      const rows = until(options.signal, readTables(store, tables));
      for await (const part of counted(rows, progress, "Copying rows", null, (one) => one.rows)) {
        digests.add(part);
        yield part;
      }
    }
    const made = await fillNewStore(
      target,
      secret,
      { ...options, migrates: false },
      {
        level,
        tables,
        parts: summed(),
        contents: () => digests.contents(),
        beforeReplace: () => refuseServersNow(source, options.clock),
        async lastStep(former) {
          if (former !== null) return Promise.reject(notEmpty(target));
        },
      },
    );
    const rows = digests.contents().reduce((sum, content) => sum + content.rows, 0);
    return { ...made, tables: tables.length, rows };
  } finally {
    await store.close();
  }
}

async function requireEmpty(target: StoreLocation): Promise<void> {
  if (target.databaseUrl === null) {
    // A damaged store must stay too.
    if (await exists(storeFile(target))) throw notEmpty(target);
    return;
  }
  const store = await openForReading(addressOfStore(target));
  try {
    if ((await currentVersion(store)) > 0) throw notEmpty(target);
  } finally {
    await store.close();
  }
}

/** Reads again, because the snapshot does not see a server that has started since. */
async function refuseServersNow(source: StoreLocation, clock: Clock): Promise<void> {
  const store = await openForReading(addressOfStore(source));
  try {
    await refuseServers(source, store, clock);
  } finally {
    await store.close();
  }
}

function notEmpty(target: StoreLocation): Error {
  return new TargetNotEmpty(
    `${storeName(target)} contains a store. Name an empty database or another folder; a copy never replaces a store.`,
  );
}
