import { mkdir, mkdtemp, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { reasonOf } from "../doctor/finding.ts";

/** Returns why no backup can be written to a folder; null if one can. Leaves nothing behind, not even the folder. */
export async function backupFolderFault(folder: string): Promise<string | null> {
  const made: string[] = [];
  try {
    // One by one: Node's own recursion does not end on file systems that hold no folders, such as /proc.
    for (const one of await missingFolders(folder)) {
      await mkdir(one, { mode: 0o700 });
      made.unshift(one);
    }
    await rmdir(await mkdtemp(join(folder, ".till-")));
    return null;
  } catch (error) {
    return `No backup can be written to ${folder}: ${reasonOf(error)}.`;
  } finally {
    for (const one of made) await rmdir(one);
  }
}

/** Returns a folder and those above it that do not exist, the highest first. */
async function missingFolders(folder: string): Promise<string[]> {
  const found = await stat(folder).catch(() => null);
  return found === null ? [...(await missingFolders(dirname(folder))), folder] : [];
}

/** Creates the folder of backups, so that the first scheduled one finds it. */
export async function makeBackupFolder(folder: string | null): Promise<void> {
  if (folder !== null) await mkdir(folder, { recursive: true, mode: 0o700 });
}
