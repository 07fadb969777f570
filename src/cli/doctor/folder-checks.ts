import { chmod, mkdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { StoreLocation } from "../../compose/store-location.ts";
import { backupFolderFault } from "../setup/backup-folder.ts";
import { ok, problem, reasonOf, skipped, warning, type Finding } from "./finding.ts";

const mebibyte = 1_024 ** 2;
/** Free space, in MiB, below which a disk is a warning or a problem; as in the servers' own check. */
const free = { warning: 1_024, problem: 64 };

/** A file or folder with access that it should not have. */
interface Guarded {
  readonly check: string;
  readonly path: string;
  /** The mode bits that it must not have. */
  readonly forbidden: number;
  /** The mode that `--fix` sets. */
  readonly mode: number;
  readonly because: string;
}

/**
 * Checks who may read and write the data folder and its files, and restricts them with `isFixing`. Files that do not
 * exist are left out.
 */
export async function checkModes(
  { dataDir }: Pick<StoreLocation, "dataDir">,
  files: { readonly settings: string | null; readonly secret: string | null },
  isFixing: boolean,
): Promise<Finding[]> {
  if (process.platform === "win32") return [];
  const inFolder = (name: string) => join(dataDir, name);
  const store = "contains every customer's data";
  const guarded: Guarded[] = [
    {
      check: "data folder",
      path: dataDir,
      forbidden: 0o077,
      mode: 0o700,
      because: "holds the store and the secret",
    },
    {
      check: "secret",
      path: files.secret ?? inFolder("secret"),
      forbidden: 0o077,
      mode: 0o600,
      because: "signs and encrypts as this server",
    },
    ...["till.db", "till.db-wal", "till.db-shm"].map((name) => ({
      check: "store file",
      path: inFolder(name),
      forbidden: 0o077,
      mode: 0o600,
      because: store,
    })),
    {
      check: "settings file",
      path: files.settings ?? inFolder("till.yaml"),
      forbidden: 0o002,
      mode: 0o600,
      because: "decides where the store is",
    },
  ];
  const found = await Promise.all(guarded.map((one) => checkMode(one, isFixing)));
  return found.flatMap((finding) => finding ?? []);
}

async function checkMode(
  { check, path, forbidden, mode, because }: Guarded,
  isFixing: boolean,
): Promise<Finding | null> {
  const found = await stat(path).catch(() => null);
  if (found === null) return null;
  const shown = `mode ${(found.mode & 0o777).toString(8).padStart(3, "0")}`;
  if ((found.mode & forbidden) === 0) return ok(check, `${path} has ${shown}.`);
  const message = `${path} has ${shown}, but ${because}.`;
  const remedy = `chmod ${mode.toString(8)} ${path}`;
  if (!isFixing) return problem(check, message, `${remedy}, or till doctor --fix`);
  try {
    await chmod(path, mode);
    return { check, status: "fixed", message: `${path} had ${shown}.`, remedy: `Done: ${remedy}` };
  } catch (error) {
    return problem(check, `${message} It could not be changed: ${reasonOf(error)}.`, remedy);
  }
}

/** Checks that a configured backup folder exists and can be written, and creates it with `isFixing`. */
export async function checkBackupFolder(
  folder: string | null,
  isFixing: boolean,
): Promise<Finding[]> {
  if (folder === null) return [];
  const check = "backup folder";
  if ((await stat(folder).catch(() => null))?.isDirectory() === true) {
    const fault = await backupFolderFault(folder);
    return [
      fault === null
        ? ok(check, `${folder} can be written.`)
        : problem(check, fault, "Give it to the user that runs Till, or set TILL_BACKUP_FOLDER"),
    ];
  }
  const message = `${folder} does not exist.`;
  const remedy = `mkdir -p ${folder}`;
  if (!isFixing) return [problem(check, message, `${remedy}, or till doctor --fix`)];
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return [{ check, status: "fixed", message, remedy: `Done: ${remedy}` }];
  } catch (error) {
    return [problem(check, `${message} ${reasonOf(error)}.`, "Check that its disk is mounted")];
  }
}

/** Checks the free space of folders' disks. */
export async function checkDisk(folders: readonly string[]): Promise<Finding[]> {
  return Promise.all(
    folders.map(async (folder) => {
      const check = `disk of ${folder}`;
      try {
        const { bavail, bsize } = await statfs(folder);
        const space = Math.floor((bavail * bsize) / mebibyte);
        const message = `${String(space)} MiB are free.`;
        const remedy = "Free some space, or move the folder to a larger disk";
        if (space < free.problem) return problem(check, message, remedy);
        return space < free.warning ? warning(check, message, remedy) : ok(check, message);
      } catch (error) {
        return skipped(check, `The free space cannot be read: ${reasonOf(error)}.`);
      }
    }),
  );
}
