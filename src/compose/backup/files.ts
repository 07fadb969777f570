import { mkdir, open as openFile, readdir, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { day, toIso, type Instant } from "../../kernel/clock.ts";
import { defineProblem } from "../../kernel/errors.ts";
import type { Config } from "../../platform/config/config.ts";

export const FileExists = defineProblem({
  code: "file_exists",
  status: 409,
  title: "The file exists",
});

/** The name of a backup: its purpose, a part of the instance's id, its time, and whether it is a partial file. */
const namePattern =
  /^(till-backup|before-migration-of-v\d+)-([0-9a-z]+)-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.tar(\.partial(?:\.db(?:-wal|-shm|-journal)?)?)?$/;

/** The part of an instance's id in the names of its backups; several instances may share a folder. */
function instancePart(instance: string | null): string {
  return instance?.slice(-8) ?? "new";
}

/** Returns the folder of the backups. */
export function backupFolder({
  dataDir,
  backupFolder: folder,
}: Pick<Config, "dataDir" | "backupFolder">): string {
  return folder ?? join(dataDir, "backups");
}

/** Returns a time as part of a file's or schema's name: 20261122T223000123Z. */
export function momentOf(now: Instant): string {
  return toIso(now).replaceAll(/[^0-9TZ]/g, "");
}

/**
 * Returns the path of a new backup, and creates its folder.
 * @param given a file, or an existing folder, or one whose name ends in a slash; null: the folder of the backups
 * @param instance the id of the platform organization, if there is one
 * @param prefix of the file's name in a folder
 * @throws FileExists
 */
export async function targetOf(
  config: Pick<Config, "dataDir" | "backupFolder">,
  given: string | null,
  now: Instant,
  instance: string | null,
  prefix = "till-backup",
): Promise<string> {
  const name = `${prefix}-${instancePart(instance)}-${momentOf(now)}.tar`;
  const path = given === null ? backupFolder(config) : resolve(given);
  const entry = await stat(path).catch(() => null);
  const isFolder = given === null || given.endsWith("/") || entry?.isDirectory() === true;
  if (isFolder) {
    await mkdir(path, { recursive: true, mode: 0o700 });
    return join(path, name);
  }
  if (entry !== null) {
    throw new FileExists(`${path} exists. Give another name; a backup never overwrites a file.`);
  }
  await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  return path;
}

/** Which backups stay in the folder. */
interface Retention {
  /** The maximum number of backups. */
  readonly count: number;
  /** The maximum age in milliseconds. */
  readonly age: number;
}

/**
 * Removes an instance's backups beyond the limits, and partial files that killed processes left. Only files with the names of
 * `till backup` are considered. Backups from the future, made with a wrong clock, neither count nor go.
 * @param newest the backup that was just made and verified, which always stays
 * @returns the names of the removed files
 */
export async function pruneBackups(
  folder: string,
  newest: string,
  instance: string | null,
  { count, age }: Retention,
  now: Instant,
): Promise<readonly string[]> {
  const own = (await readdir(folder))
    .flatMap((name) => parseName(name) ?? [])
    .filter(
      ({ name, owner, at }) => name !== newest && owner === instancePart(instance) && at <= now,
    );
  const complete = own
    .filter(({ isPartial, purpose }) => !isPartial && purpose === "till-backup")
    .sort((one, other) => other.at - one.at);
  const removed = [
    ...complete.filter(({ at }, index) => index + 1 >= count || now - at > age),
    // A younger one may still be written.
    ...own.filter(({ isPartial, at }) => isPartial && now - at > day),
  ];
  for (const { name } of removed) await rm(join(folder, name), { force: true });
  return removed.map(({ name }) => name);
}

function parseName(name: string) {
  const [, purpose, owner, year, month, date, hours, minutes, seconds, rest, partial] =
    namePattern.exec(name) ?? [];
  if (purpose === undefined) return null;
  const at = Date.parse(
    `${year ?? ""}-${month ?? ""}-${date ?? ""}T${hours ?? ""}:${minutes ?? ""}:${seconds ?? ""}.${rest ?? ""}Z`,
  );
  return { name, purpose, owner, at, isPartial: partial !== undefined };
}

/** Flushes the folder that holds a file's name to disk. Not every system allows that. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await openFile(path, "r").catch(() => null);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
