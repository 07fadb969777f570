import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { flagProperty, type Settings } from "../setting.ts";
import { settings } from "../settings.ts";
import { readValue } from "../value-type.ts";
import { readTextIfPresent } from "./files.ts";

/** Values for a settings file, by key. */
export type FileEntries = Readonly<Record<string, unknown>>;

/**
 * Returns the settings that were given as flags, for a settings file in the data folder. Paths are made absolute.
 * @param flags the parsed command-line arguments by property, already validated
 * @param cwd the folder that relative paths start from
 */
export function entriesOf(
  flags: Readonly<Record<string, unknown>>,
  cwd: string,
  declared: Settings = settings,
): FileEntries {
  const given = Object.values(declared).flatMap(({ name, flag, inFile, schema }) => {
    // A file in the data folder cannot say where the data folder is.
    if (flag === null || !inFile || name === settings.dataDir.name) return [];
    const value = flags[flagProperty(flag)];
    return value === undefined ? [] : [[name, readValue(schema, value, cwd)] as const];
  });
  return Object.fromEntries(given);
}

/** A settings file that is written but not in place yet. */
export interface SettingsDraft {
  /** Puts the file in its place, atomically. */
  publish(): Promise<void>;
  /** Removes the draft, or restores the former file if the draft was published. */
  withdraw(): Promise<void>;
}

const heading =
  " Settings of this Till, written by till init. Each is described in docs/settings.md; till config check\n" +
  " reports mistakes, and a server reads them when it starts.";

/**
 * Writes the draft of a settings file in which the entries are set; other entries and comments of an existing file
 * stay, as do its mode and owner. A new file is for its owner only, and so is its folder.
 */
export async function draftSettings(path: string, entries: FileEntries): Promise<SettingsDraft> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const before = await readTextIfPresent(path);
  const { default: yaml } = await import("yaml");
  const document = before === null ? new yaml.Document({}) : yaml.parseDocument(before);
  if (before === null) document.commentBefore = heading;
  for (const [key, value] of Object.entries(entries)) document.set(key, document.createNode(value));
  const draft = `${path}.${randomBytes(8).toString("hex")}`;
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(String(document));
    await file.sync();
  } finally {
    await file.close();
  }
  if (before !== null) {
    const { mode, uid, gid } = await stat(path);
    await chmod(draft, mode & 0o777);
    // Only root may give a file away, and only root needs to.
    await chown(draft, uid, gid).catch(() => undefined);
  }
  let isPublished = false;
  return {
    async publish() {
      await rename(draft, path);
      isPublished = true;
    },
    async withdraw() {
      if (!isPublished) await rm(draft, { force: true });
      else if (before === null) await rm(path, { force: true });
      else await writeFile(path, before);
    },
  };
}
