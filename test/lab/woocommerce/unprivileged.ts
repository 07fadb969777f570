import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { Missing } from "./parts.ts";

/** `nobody`: MariaDB refuses to run as root, and code of others should not. */
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;

/** The user of programs that run code of others, for the options of a process. */
export const unprivileged = isRoot ? { uid: nobody, gid: nobody } : {};

/** Gives a folder and all that is in it to that user. */
export function giveAway(folder: string): void {
  if (isRoot) spawnSync("chown", ["-R", `${String(nobody)}:${String(nobody)}`, folder]);
}

/**
 * Returns the path of a program.
 * @throws Missing
 */
export function program(name: string, debianPackage: string): string {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/bin"];
  const path = folders.map((folder) => join(folder, name)).find(isExecutable);
  if (path === undefined) {
    throw new Missing(`${name} is not installed: it is part of Debian's package ${debianPackage}.`);
  }
  return path;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
