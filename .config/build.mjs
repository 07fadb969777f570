// Compiles src/ to dist/, which bin/till runs, and copies the other files that the program reads. `npm run typecheck`
// checks types, not this script. With --if-stale it builds only if src/ has changed since dist/ was built.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
/** Contains the digest of the sources from which dist/ was built. */
const stamp = join(dist, ".sources");

const require = createRequire(import.meta.url);
let compiler;
try {
  compiler = require.resolve("typescript/bin/tsc");
} catch {
  // An install without development packages runs the compiled program that it came with.
  if (existsSync(dist)) process.exit(0);
  console.error(
    "TypeScript is not installed and dist/ is missing: run npm ci with development packages.",
  );
  process.exit(1);
}

const digest = digestOfSources();
const isFresh = () => existsSync(stamp) && readFileSync(stamp, "utf8") === digest;
if (!(process.argv.includes("--if-stale") && isFresh())) build();

/** Returns the digest of all files that a build reads, with their paths. */
function digestOfSources() {
  const sources = readdirSync(join(root, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const settings = ["tsconfig.json", ".config/tsconfig.build.json", ".config/build.mjs"];
  const hash = createHash("sha256");
  for (const file of [...settings.map((name) => join(root, name)), ...sources]) {
    const content = readFileSync(file);
    hash.update(`${file.slice(root.length)} ${content.length}\n`).update(content);
  }
  return hash.digest("hex");
}

/**
 * Builds next to dist/ and then exchanges the folders: a failed build leaves the old one, and two concurrent builds do
 * not conflict.
 */
function build() {
  const next = join(root, `dist.next/${process.pid}`);
  const old = `${next}.old`;
  const project = join(root, ".config/tsconfig.build.json");
  const compiled = spawnSync(process.execPath, [compiler, "-p", project, "--outDir", next], {
    stdio: "inherit",
  });
  process.exitCode = compiled.status ?? 1;
  if (process.exitCode === 0) {
    const isOther = (source) => extname(source) !== ".ts";
    cpSync(join(root, "src"), next, { recursive: true, filter: isOther });
    writeFileSync(join(next, ".sources"), digest);
    try {
      if (existsSync(dist)) renameSync(dist, old);
      renameSync(next, dist);
    } catch (error) {
      // Another build of the same sources may have finished just before.
      if (!isFresh()) throw error;
    }
  }
  rmSync(next, { recursive: true, force: true });
  rmSync(old, { recursive: true, force: true });
}
