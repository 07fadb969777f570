// Programs that tests start are built once beforehand: see .config/build.mjs and .config/test-programs.mjs.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** The folder of the bundled programs: that of `npm test`, or a temporary one of this process. */
let folder = process.env["TILL_TEST_PROGRAMS"];

let isBuilt = process.env["TILL_TEST_PROGRAMS"] !== undefined;

/**
 * Returns the path of bin/till, which runs dist/.
 * @throws Error if the build fails
 */
export function builtProgram(): string {
  if (!isBuilt) run(".config/build.mjs", "--if-stale");
  isBuilt = true;
  return join(root, "bin/till");
}

/**
 * Returns the path of a bundled test program, given by the URL of its source. .config/test-programs.mjs lists them.
 * @throws Error if the build fails
 */
export function compiledProgram(source: URL): string {
  const name = relative(root, fileURLToPath(source));
  const path = join(programs(), name.replace(/\.ts$/, ".mjs"));
  if (!existsSync(path)) throw new Error(`add ${name} to .config/test-programs.mjs`);
  return path;
}

function programs(): string {
  if (folder !== undefined) return folder;
  const own = mkdtempSync(join(realpathSync(tmpdir()), "till-programs-"));
  process.once("exit", () => {
    rmSync(own, { recursive: true, force: true });
  });
  run(".config/test-programs.mjs", own);
  folder = own;
  return own;
}

function run(...command: readonly string[]): void {
  const ran = spawnSync(process.execPath, command, { cwd: root, encoding: "utf8" });
  if (ran.status !== 0) throw new Error(`${command.join(" ")} failed: ${ran.stdout}${ran.stderr}`);
}
