import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./areas.ts";

/** A commit to a disk takes some milliseconds, and the stores of tests are many. */
const memory = "/dev/shm";

const leftOut = [".git", "coverage", "data", "dist", "dist.next", "node_modules", "release"];

/** Copies what the tests need to a folder whose sources may be changed, and which is removed when this process ends. */
export function copyProject(): string {
  const copy = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), "till-copy-"));
  process.once("exit", () => {
    rmSync(copy, { recursive: true, force: true });
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  for (const name of readdirSync(root).filter((each) => !leftOut.includes(each))) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  // A test reads which files git has.
  for (const name of [".git", "node_modules"]) symlinkSync(join(root, name), join(copy, name));
  mkdirSync(join(copy, "tmp"), { recursive: true });
  return copy;
}
