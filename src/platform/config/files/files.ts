import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import {
  access,
  chmod,
  chown,
  mkdir,
  open,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname } from "node:path";
import { decodeUtf8 } from "../../../kernel/text.ts";
import { notUtf8 } from "../config.ts";
import { flagProperty, InvalidValue, readValue, type Settings } from "../setting.ts";
import { settings } from "../settings.ts";
import { isMapping, type SettingsFile } from "../sources.ts";

/** The maximum size of a settings file, in bytes. */
const fileBytesMax = 1_048_576;

/**
 * Reads a text file that a setting names.
 * @throws InvalidValue with the reason why the file cannot be read
 */
export async function readText(path: string): Promise<string> {
  const text = decodeUtf8(await readBytes(path));
  if (text === null) throw new InvalidValue(notUtf8);
  return text;
}

/**
 * Reads a file that a setting names.
 * @throws InvalidValue with the reason why the file cannot be read
 */
export async function readBytes(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > fileBytesMax) throw new InvalidValue("is larger than 1 MiB");
    return await readFile(path);
  } catch (error) {
    if (error instanceof InvalidValue) throw error;
    throw new InvalidValue(`cannot be read: ${reason(error)}`);
  }
}

/** Reads a file; null if it does not exist. */
export async function readTextIfPresent(path: string): Promise<string | null> {
  try {
    await stat(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return null;
  }
  return await readText(path);
}

/**
 * Returns why a settings file is not safe to use; null if it is. The file decides where the store is, which providers
 * tell of payments, and whom the server trusts. A group counts as others unless the process belongs to it:
 * with a private group for each user, files are often writable for the group.
 */
export async function findWriters(path: string): Promise<string | null> {
  const { mode, gid } = await stat(path);
  const groups = [process.getegid?.(), ...(process.getgroups?.() ?? [])];
  const who =
    (mode & 0o002) !== 0
      ? "every user of this machine"
      : (mode & 0o020) !== 0 && !groups.includes(gid)
        ? `the group ${String(gid)}, to which this user does not belong,`
        : null;
  // Windows has no such modes.
  if (who === null || process.platform === "win32") return null;
  return `can be written by ${who} and is not read: chmod go-w ${path}`;
}

/**
 * Parses a till.yaml.
 * @throws InvalidValue if the file does not hold a mapping of settings
 */
export async function parseSettingsFile(path: string, text: string): Promise<SettingsFile> {
  const { readYaml } = await import("./parse-yaml.ts");
  const { mistakes, entries } = readYaml(text);
  const [mistake] = mistakes;
  if (mistake !== undefined) {
    const { message, line, column } = mistake;
    const at = column === null ? "" : ` at line ${String(line)}, column ${String(column)}`;
    throw new InvalidValue(message + at);
  }
  if (!isMapping(entries)) {
    throw new InvalidValue("must hold settings such as `port: 8080`, one a line");
  }
  return { path, folder: dirname(path), entries };
}

/** Returns the reason why a store cannot be kept or created in the folder; null if it can. */
export async function findFolderFault(
  folder: string,
  isWritable: (path: string) => Promise<boolean> = mayWrite,
): Promise<string | null> {
  let path = folder;
  for (;;) {
    const found = await stat(path).catch((error: unknown) => codeOf(error));
    if (typeof found !== "string") {
      if (!found.isDirectory()) return `${path} is a file, not a folder`;
      if (await isWritable(path)) return null;
      const what = path === folder ? path : `${path}, in which ${folder} would be created,`;
      return `${what} is not writable: give this user write access, or choose another folder`;
    }
    if (found !== "ENOENT" && found !== "ENOTDIR") return `${path} cannot be read (${found})`;
    if (dirname(path) === path) return `${path} is missing`;
    path = dirname(path);
  }
}

async function mayWrite(path: string): Promise<boolean> {
  return access(path, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

function reason(error: unknown): string {
  switch (codeOf(error)) {
    case "ENOENT":
    case "ENOTDIR":
      return "the file does not exist";
    case "EACCES":
    case "EPERM":
      return "this user may not read it";
    case "EISDIR":
      return "it is a folder";
    default:
      return codeOf(error);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}

/** Values for a settings file, by key. */
type FileEntries = Readonly<Record<string, unknown>>;

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
export interface SettingsChange {
  /** Puts the file in its place, atomically. */
  publish(): Promise<void>;
  /** Removes the partial file, or restores the former one if it was published. */
  withdraw(): Promise<void>;
}

const heading =
  " Settings of this Till, written by till init. Each is described in docs/settings.md; till config check\n" +
  " reports mistakes, and a server reads them when it starts.";

/**
 * Writes a settings file beside the former one in which the entries are set; other entries and comments of an existing file
 * stay, as do its mode and owner. A new file is for its owner only, and so is its folder.
 */
export async function prepareSettings(path: string, entries: FileEntries): Promise<SettingsChange> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const before = await readTextIfPresent(path);
  const { default: yaml } = await import("yaml");
  const document = before === null ? new yaml.Document({}) : yaml.parseDocument(before);
  if (before === null) document.commentBefore = heading;
  for (const [key, value] of Object.entries(entries)) document.set(key, document.createNode(value));
  const partial = `${path}.${randomBytes(8).toString("hex")}`;
  const file = await open(partial, "wx", 0o600);
  try {
    await file.writeFile(String(document));
    await file.sync();
  } finally {
    await file.close();
  }
  if (before !== null) {
    const { mode, uid, gid } = await stat(path);
    await chmod(partial, mode & 0o777);
    // Only root may give a file away, and only root needs to.
    await chown(partial, uid, gid).catch(() => undefined);
  }
  let isPublished = false;
  return {
    async publish() {
      await rename(partial, path);
      isPublished = true;
    },
    async withdraw() {
      if (!isPublished) await rm(partial, { force: true });
      else if (before === null) await rm(path, { force: true });
      else await writeFile(path, before);
    },
  };
}
