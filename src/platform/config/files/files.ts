import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { InvalidValue } from "../value-type.ts";
import { type SettingsFile, isMapping } from "../sources.ts";

/** The maximum size of a settings file, in bytes. */
const fileBytesMax = 1_048_576;

/**
 * Reads a file that a setting names.
 * @throws InvalidValue with the reason why the file cannot be read
 */
export async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size > fileBytesMax) throw new InvalidValue("is larger than 1 MiB");
    return await readFile(path, "utf8");
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
  const { default: yaml } = await import("yaml");
  const document = yaml.parseDocument(text);
  const [mistake] = document.errors;
  if (mistake !== undefined) {
    throw new InvalidValue(`is not valid YAML: ${mistake.message.split("\n")[0] ?? ""}`);
  }
  let entries: unknown;
  try {
    entries = document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new InvalidValue("uses too many YAML aliases");
  }
  if (entries !== null && !isMapping(entries)) {
    throw new InvalidValue("must hold settings such as `port: 8080`, one a line");
  }
  return { path, folder: dirname(path), entries: entries ?? {} };
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
