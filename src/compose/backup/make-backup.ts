import { link, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { platformOrganizationId } from "../../features/organizations/store.ts";
import { toIso, type Clock } from "../../kernel/clock.ts";
import { Defect } from "../../kernel/errors.ts";
import { counted, unwatched, type Progress } from "../../platform/progress.ts";
import { unverifiedHead } from "../../platform/audit/head.ts";
import {
  backupParts,
  inspectBackup,
  makeDigests,
  writeBackup,
  type Manifest,
  type TableContent,
} from "../../platform/backup/backup-file.ts";
import { currentVersion } from "../../platform/database/schema/migrate.ts";
import { newestVersion } from "../../platform/database/schema.ts";
import { openDatabase } from "../../platform/database/open.ts";
import type { Database, Reader } from "../../platform/database/database.ts";
import {
  fillStore,
  openSnapshot,
  readTables,
  shapesOf,
  tablesAt,
  type TablePart,
} from "../../platform/database/transfer/rows.ts";
import {
  deriveKey,
  fingerprint,
  secretText,
  type ServerSecret,
} from "../../platform/secrets/server-secret.ts";
import { programVersion } from "../../platform/files.ts";
import { verifyStore, type CheckResult } from "../checks.ts";
import { noStore, storeFile, type StoreLocation } from "../store-location.ts";
import { requireSecretOf } from "../store-secret.ts";
import { FileExists, syncFolder } from "./files.ts";

interface BackupOptions {
  readonly location: StoreLocation;
  readonly secret: ServerSecret;
  /** The file to create. */
  readonly path: string;
  readonly clock: Clock;
  /** Whether the backup contains the secret. */
  readonly withSecret: boolean;
  /**
   * `store`: fills a temporary store with the backup, compares every row, and runs the checks of `till db verify` on it.
   * `file`: only reads the file again and compares the checksums. Stores of an earlier migration level get no more than
   * that, because the checks are for the current level.
   */
  readonly verify: "store" | "file" | "no";
  /** Ends the work; nothing is left behind. */
  readonly signal: AbortSignal;
  readonly progress?: Progress;
}

export interface MadeBackup {
  readonly path: string;
  readonly bytes: number;
  readonly manifest: Manifest;
  /** How the backup was verified. */
  readonly verified: BackupOptions["verify"];
  /** The checks that the content violates. The backup is complete, but so are the faults of its store. */
  readonly broken: readonly CheckResult[];
}

/**
 * Backs up a store, which may be in use: the backup contains every write that was acknowledged before. The file appears
 * under its name completely or not at all.
 */
export async function makeBackup(options: BackupOptions): Promise<MadeBackup> {
  const { path, secret } = options;
  const partial = `${path}.partial`;
  const key = deriveKey(secret, "backups");
  try {
    const manifest = await write(options, partial, key);
    const isCurrent = manifest.migration === newestVersion;
    const verified = options.verify === "store" && !isCurrent ? "file" : options.verify;
    if (verified !== "no" && !(await inspectBackup(partial)).isGenuine(key)) {
      throw new Defect("the backup that was just written does not match its checksums");
    }
    const broken = verified === "store" ? await tryOut(options, partial, manifest) : [];
    options.signal.throwIfAborted();
    const { size } = await stat(partial);
    await publish(partial, path);
    await syncFolder(dirname(path));
    return { path, bytes: size, manifest, verified, broken };
  } catch (error) {
    // It belongs to another backup, which must be able to complete.
    if (hasCode(error, "EEXIST")) {
      throw new FileExists(
        `${partial} exists. Another till backup is writing it, or was killed: wait for it, or remove the file.`,
      );
    }
    await rm(partial, { force: true });
    throw error;
  }
}

/** Gives a complete backup its name. A link never overwrites a file, unlike a rename. @throws FileExists */
async function publish(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path);
  } catch (error) {
    if (hasCode(error, "EEXIST")) {
      throw new FileExists(`${path} exists. Give another name; a backup never overwrites a file.`);
    }
    // Some network shares have no links.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].some((code) => hasCode(error, code)))
      throw error;
    await rename(partial, path);
    return;
  }
  await rm(partial, { force: true });
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

async function write(options: BackupOptions, partial: string, key: Uint8Array): Promise<Manifest> {
  const { location, secret, clock, withSecret, signal, progress = unwatched } = options;
  // The snapshot contains nothing that is later.
  const createdAt = toIso(clock.now());
  const store = await openSnapshot(
    location.databaseUrl === null
      ? { sqliteFile: storeFile(location) }
      : { url: location.databaseUrl },
  );
  try {
    const description = await describe(store, location, secret);
    const tables = await shapesOf(store, tablesAt(description.migration));
    const rows = until(signal, readTables(store, tables));
    const parts = counted(rows, progress, "Backing up rows", null, (part) => part.rows);
    return await writeBackup(
      partial,
      key,
      { ...description, createdAt, containsSecret: withSecret },
      { tables, parts, secret: withSecret ? secretText(secret) : null },
    );
  } finally {
    await store.close();
  }
}

/** Describes a store for a manifest. @throws NoStore if it has no tables of Till, or WrongSecret */
export async function describe(reader: Reader, location: StoreLocation, secret: ServerSecret) {
  const migration = await currentVersion(reader);
  if (migration === 0) throw noStore(location);
  await requireSecretOf(reader, location, secret);
  return {
    tillVersion: programVersion(),
    database: reader.dialect,
    migration,
    instance: await platformOrganizationId(reader),
    secretFingerprint: fingerprint(secret),
    auditHead: await unverifiedHead(reader),
  };
}

/** Fills a temporary store with a backup, compares every row, and returns the checks that it violates. */
async function tryOut(
  { secret, clock, signal, progress = unwatched }: BackupOptions,
  file: string,
  manifest: Manifest,
): Promise<readonly CheckResult[]> {
  const scratch = `${file}.db`;
  const removeScratch = async () => {
    for (const suffix of ["", "-wal", "-shm"]) await rm(`${scratch}${suffix}`, { force: true });
  };
  await removeScratch();
  const db = await openDatabase({ sqliteFile: scratch });
  try {
    const given = until(signal, backupParts(file, manifest));
    const parts = counted(given, progress, "Trying the backup", manifest.parts.length);
    await fillStore(db, clock, manifest.migration, { tables: manifest.tables, parts });
    await requireEqualRows(db, manifest.tables, signal, progress);
    return await brokenChecks(db, secret, signal);
  } finally {
    await db.close();
    await removeScratch();
  }
}

/** Reads all rows of a filled store. @throws Defect unless they equal the contents that it was filled with */
export async function requireEqualRows(
  db: Database,
  contents: readonly TableContent[],
  signal: AbortSignal,
  progress: Progress = unwatched,
): Promise<void> {
  const digests = makeDigests(contents);
  const total = contents.reduce((sum, { rows }) => sum + rows, 0);
  const parts = until(signal, readTables(db, contents));
  for await (const part of counted(parts, progress, "Comparing rows", total, ({ rows }) => rows)) {
    digests.add(part);
  }
  const copies = new Map(digests.contents().map((content) => [content.name, content]));
  for (const { name, rows, sha256 } of contents) {
    const copy = copies.get(name);
    if (copy?.rows === rows && copy.sha256 === sha256) continue;
    throw new Defect(
      `the table ${name} differs after the copy: ${String(copy?.rows)} rows instead of ${String(rows)}, or other values`,
    );
  }
}

/** Runs the checks of `till db verify`, among them that of the audit chain; returns those that are violated. */
export async function brokenChecks(
  reader: Reader,
  secret: ServerSecret,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  const results = await verifyStore(reader, deriveKey(secret, "audit-seals"), () => {
    signal.throwIfAborted();
  });
  return results.filter(({ violations }) => violations.length > 0);
}

/** Passes parts on until the signal, and then throws its reason. */
export async function* until<Part extends Pick<TablePart, "table" | "text">>(
  signal: AbortSignal,
  parts: AsyncIterable<Part>,
): AsyncGenerator<Part> {
  for await (const part of parts) {
    signal.throwIfAborted();
    yield part;
  }
}
