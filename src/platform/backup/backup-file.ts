import { createHash, createHmac } from "node:crypto";
import { open as openFile, stat, type FileHandle } from "node:fs/promises";
import { promisify } from "node:util";
import { constants, gunzip, gzip } from "node:zlib";
import { defineProblem } from "../../kernel/errors.ts";
import type { Dialect } from "../database/database.ts";
import type { TablePart, TableShape } from "../database/transfer/rows.ts";
import { isSameSecret } from "../secrets/tokens.ts";

// A backup is a tar file with these members, in this order:
//   secret                              the server's secret, only with --with-secret
//   tables/<table>/<number>.json.gz     rows of a table as a JSON array of arrays, compressed
//   manifest.json                       the description of the backup, with the SHA-256 of every member above
//   manifest.mac                        HMAC-SHA-256 of manifest.json under a key that is derived from the secret

const formatName = "till-backup";
/** Changes with the layout of the file. The tables in it are described by the manifest and the migration level. */
const formatVersion = 1;

/** The rows of one table in a backup. */
export interface TableContent extends TableShape {
  readonly rows: number;
  /** SHA-256 over the rows in the order of the primary key. The same rows give the same digest on both databases. */
  readonly sha256: string;
}

/** The description of the store that a backup contains. */
interface BackupDescription {
  /** ISO 8601. */
  readonly createdAt: string;
  /** Version of the program that made the backup. */
  readonly tillVersion: string;
  readonly database: Dialect;
  /** The number of the newest applied migration. */
  readonly migration: number;
  /** The id of the platform organization; null if the store is not initialized. */
  readonly instance: string | null;
  readonly secretFingerprint: string;
  readonly containsSecret: boolean;
  /** The stored head of the audit chain, such as `830:9f86…`; null if the store has none. */
  readonly auditHead: string | null;
}

export interface Manifest extends BackupDescription {
  readonly format: typeof formatName;
  readonly version: typeof formatVersion;
  readonly tables: readonly TableContent[];
  readonly parts: readonly { readonly name: string; readonly sha256: string }[];
}

const deflate = promisify(gzip);
const inflate = promisify(gunzip);

/**
 * Writes a backup to a new file and flushes it to disk.
 * @param key of the purpose `backups`
 * @param secret the text of the server's secret to include; null to leave it out
 */
export async function writeBackup(
  path: string,
  key: Uint8Array,
  description: BackupDescription,
  content: {
    readonly tables: readonly TableShape[];
    readonly parts: AsyncIterable<TablePart>;
    readonly secret: string | null;
  },
): Promise<Manifest> {
  const archive = await createArchive(path);
  try {
    const parts: { name: string; sha256: string }[] = [];
    const add = async (name: string, bytes: Buffer) => {
      await archive.add(name, bytes);
      parts.push({ name, sha256: sha256(bytes) });
    };
    const digests = makeDigests(content.tables);
    if (content.secret !== null) await add("secret", Buffer.from(`${content.secret}\n`));
    for await (const part of content.parts) {
      const number = digests.add(part);
      const bytes = await deflate(part.text, { level: constants.Z_BEST_SPEED });
      await add(partName(part.table, number), bytes);
    }
    const manifest: Manifest = {
      format: formatName,
      version: formatVersion,
      ...description,
      tables: digests.contents(),
      parts,
    };
    const text = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`);
    await archive.add("manifest.json", text);
    await archive.add("manifest.mac", Buffer.from(`${macOf(key, text)}\n`));
    await archive.finish();
    return manifest;
  } finally {
    await archive.close();
  }
}

/** A backup whose checksums match. `isGenuine` proves that nobody without the secret has altered it. */
export interface InspectedBackup {
  readonly manifest: Manifest;
  /** The text of the secret in the backup; null if it contains none. */
  readonly secret: string | null;
  /** Whether the manifest was written with the key of the purpose `backups`. */
  isGenuine(key: Uint8Array): boolean;
}

/**
 * Reads a backup once and compares every checksum.
 * @throws BackupMissing, BackupDamaged, BackupTooNew, or the operating system's error if the file cannot be read
 */
export async function inspectBackup(path: string): Promise<InspectedBackup> {
  const entry = await stat(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new BackupMissing(`${path} does not exist. Give the path of a backup.`);
  });
  if (!entry.isFile()) throw damaged(`${path} is not a file`);
  const found: { name: string; sha256: string }[] = [];
  const kept = new Map<string, Buffer>();
  for await (const { name, content } of readArchive(path)) {
    if (["secret", "manifest.json", "manifest.mac"].includes(name)) kept.set(name, content);
    found.push({ name, sha256: sha256(content) });
  }
  const text = kept.get("manifest.json");
  const mac = kept.get("manifest.mac")?.toString("latin1");
  if (text === undefined || mac === undefined) throw damaged("it has no manifest");
  const manifest = parseManifest(text);
  const expected = [...manifest.parts.map(({ name }) => name), "manifest.json", "manifest.mac"];
  if (expected.join("\n") !== found.map(({ name }) => name).join("\n")) {
    throw damaged("a part is missing, or one was added");
  }
  const altered = manifest.parts.find(({ sha256: sum }, index) => found[index]?.sha256 !== sum);
  if (altered !== undefined) throw damaged(`the checksum of ${altered.name} does not match`);
  return {
    manifest,
    secret: kept.get("secret")?.toString("utf8").trim() ?? null,
    isGenuine: (key) => isSameSecret(mac, `${macOf(key, text)}\n`),
  };
}

/**
 * Reads the rows of an inspected backup. Checksums are compared again, in case the file was changed since.
 * @throws BackupDamaged
 */
export async function* backupParts(
  path: string,
  manifest: Pick<Manifest, "parts">,
): AsyncGenerator<Pick<TablePart, "table" | "text">> {
  const sums = new Map(manifest.parts.map(({ name, sha256: sum }) => [name, sum]));
  for await (const { name, content } of readArchive(path)) {
    const [folder, table = ""] = name.split("/");
    if (folder !== "tables") continue;
    if (sums.get(name) !== sha256(content)) throw damaged(`${name} was altered while it was read`);
    const text = (await inflate(content)).toString("utf8");
    yield { table, text };
  }
}

function parseManifest(text: Buffer): Manifest {
  let parsed: Partial<Omit<Manifest, "version">> & { readonly version?: unknown };
  try {
    parsed = JSON.parse(text.toString("utf8")) as typeof parsed;
  } catch {
    throw damaged("its manifest was altered");
  }
  if (parsed.format !== formatName || typeof parsed.version !== "number") {
    throw damaged("its manifest was altered, or it is not a backup of Till");
  }
  if (parsed.version > formatVersion) {
    throw new BackupTooNew(
      `The backup has format ${String(parsed.version)}, and this program reads formats up to ${String(formatVersion)}. Restore it with Till ${parsed.tillVersion ?? ""}.`,
    );
  }
  if (!Array.isArray(parsed.parts) || !Array.isArray(parsed.tables)) {
    throw damaged("its manifest was altered");
  }
  return parsed as Manifest;
}

/** Sums up the rows of tables, part by part. */
interface Digests {
  /** Adds a part; returns its number within its table, from 1. */
  add(part: TablePart): number;
  contents(): TableContent[];
}

export function makeDigests(tables: readonly TableShape[]): Digests {
  const sums = new Map(
    tables.map((shape) => [shape.name, { shape, hash: createHash("sha256"), parts: 0, rows: 0 }]),
  );
  return {
    add({ table, text, rows }) {
      const sum = sums.get(table);
      if (sum === undefined) throw damaged(`it has rows of an unknown table ${table}`);
      // The brackets are left out, so that the digest does not depend on how the rows were cut into parts.
      sum.hash.update(sum.parts === 0 ? "" : ",\n").update(text.slice(1, -1));
      sum.parts += 1;
      sum.rows += rows;
      return sum.parts;
    },
    contents: () =>
      [...sums.values()].map(({ shape: { name, columns, key }, hash, rows }) => ({
        name,
        columns,
        key,
        rows,
        sha256: hash.copy().digest("hex"),
      })),
  };
}

function partName(table: string, number: number): string {
  return `tables/${table}/${String(number).padStart(6, "0")}.json.gz`;
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function macOf(key: Uint8Array, manifest: Uint8Array): string {
  return createHmac("sha256", key).update(manifest).digest("hex");
}

/** The file is not a backup, is truncated, or was altered. */
const BackupDamaged = defineProblem({
  code: "backup_damaged",
  status: 400,
  title: "The backup cannot be used",
});

const BackupMissing = defineProblem({
  code: "backup_missing",
  status: 404,
  title: "No backup found",
});

/** The backup is from before the versions that this program migrates. */
export const BackupTooOld = defineProblem({
  code: "backup_too_old",
  status: 409,
  title: "The backup is too old for this program",
});

/** A newer program made the backup. */
export const BackupTooNew = defineProblem({
  code: "backup_too_new",
  status: 409,
  title: "The backup is newer than this program",
});

// Backups are tar files (POSIX ustar), so that `tar` can list and unpack them. This module writes one fixed form: the
// reader compares every byte outside the members' content with the form that the writer would have written.

const blockBytes = 512;
const nameBytesMax = 100;
/** The largest member, in bytes. The size field of a damaged header could claim more than the memory holds. */
const memberBytesMax = 1_024 ** 3;

interface Member {
  readonly name: string;
  readonly content: Buffer;
}

interface ArchiveWriter {
  add(name: string, content: Uint8Array): Promise<void>;
  /** Ends the archive and flushes it to disk. */
  finish(): Promise<void>;
  close(): Promise<void>;
}

/** Creates an archive that only its owner can read. Fails with EEXIST if the file exists. */
export async function createArchive(path: string): Promise<ArchiveWriter> {
  const file = await openFile(path, "wx", 0o600);
  return {
    async add(name, content) {
      await writeAll(file, headerOf(name, content.byteLength));
      await writeAll(file, content);
      await writeAll(file, Buffer.alloc(paddingOf(content.byteLength)));
    },
    async finish() {
      await writeAll(file, Buffer.alloc(2 * blockBytes));
      await file.sync();
    },
    close: () => file.close(),
  };
}

async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.byteLength;) {
    const { bytesWritten } = await file.write(bytes, done);
    done += bytesWritten;
  }
}

/**
 * Reads the members of an archive in order.
 * @throws BackupDamaged if the file is not exactly what `createArchive` writes
 */
export async function* readArchive(path: string): AsyncGenerator<Member> {
  const file = await openFile(path, "r");
  try {
    const { size } = await file.stat();
    let at = 0;
    const take = async (length: number): Promise<Buffer> => {
      if (at + length > size) throw damaged("it ends too early");
      const bytes = Buffer.alloc(length);
      for (let done = 0; done < length;) {
        const { bytesRead } = await file.read(bytes, done, length - done, at + done);
        if (bytesRead === 0) throw damaged("it ends too early");
        done += bytesRead;
      }
      at += length;
      return bytes;
    };
    for (;;) {
      const header = await take(blockBytes);
      if (isZero(header)) {
        if (!isZero(await take(blockBytes)) || at !== size) throw damaged("its end was altered");
        return;
      }
      const { name, length } = parseHeader(header);
      const content = await take(length);
      if (!isZero(await take(paddingOf(length)))) throw damaged(`${name} was altered`);
      yield { name, content };
    }
  } finally {
    await file.close();
  }
}

export function damaged(reason: string): Error {
  return new BackupDamaged(
    `The file is not a complete, unaltered backup: ${reason}. Use another backup.`,
  );
}

/** Returns the number of zero bytes that fill the last block of a member. */
function paddingOf(length: number): number {
  return (blockBytes - (length % blockBytes)) % blockBytes;
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0);
}

function headerOf(name: string, length: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, "0")}\0`;
  header.write(name, 0, nameBytesMax, "latin1");
  header.write(octal(0o600, 7), 100, "latin1");
  header.write(octal(0, 7), 108, "latin1");
  header.write(octal(0, 7), 116, "latin1");
  header.write(octal(length, 11), 124, "latin1");
  header.write(octal(0, 11), 136, "latin1");
  // The checksum counts its own field as spaces.
  header.write(" ".repeat(8), 148, "latin1");
  header.write("0", 156, "latin1");
  header.write("ustar\u000000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, 148, "latin1");
  return header;
}

function parseHeader(header: Buffer): { name: string; length: number } {
  const name = header.toString("latin1", 0, nameBytesMax).replace(/\0.*$/s, "");
  const digits = header.toString("latin1", 124, 135);
  const length = /^[0-7]{11}$/.test(digits) ? Number.parseInt(digits, 8) : memberBytesMax + 1;
  if (length > memberBytesMax || !headerOf(name, length).equals(header)) {
    throw damaged("a header was altered, or it is not a backup of Till");
  }
  return { name, length };
}
