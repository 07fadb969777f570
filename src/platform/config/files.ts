import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { InvalidValue } from "./value-type.ts";
import type { SettingsFile } from "./sources.ts";
import { isMapping } from "./sources.ts";

/** Larger files are no settings. */
const fileBytesMax = 1_048_576;

/** The text of a file that settings name. Throws an InvalidValue that says in words why it cannot be read. */
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

/** The text of a file that need not be there. */
export async function readTextIfPresent(path: string): Promise<string | null> {
  try {
    await stat(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return null;
  }
  return await readText(path);
}

/** Reads a till.yaml; InvalidValue for what is not a mapping of settings. */
export async function parseSettingsFile(path: string, text: string): Promise<SettingsFile> {
  const { parseDocument } = await import("yaml");
  const document = parseDocument(text);
  const [mistake] = document.errors;
  if (mistake !== undefined) {
    throw new InvalidValue(`is not valid YAML: ${mistake.message.split("\n")[0] ?? ""}`);
  }
  let entries: unknown;
  try {
    entries = document.toJS({ maxAliasCount: 100 });
  } catch {
    throw new InvalidValue("refers to itself too often");
  }
  if (entries !== null && !isMapping(entries)) {
    throw new InvalidValue("must hold settings such as `port: 8080`, one a line");
  }
  return { path, folder: dirname(path), entries: entries ?? {} };
}

/** Why a store cannot be kept in the folder, or be made there; null where it can. */
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
      const what = path === folder ? path : `${path}, where ${folder} would be made,`;
      return `${what} cannot be written to: give this user the right, or choose another folder`;
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
      return "there is no such file";
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
