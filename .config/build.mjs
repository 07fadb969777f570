// Compiles src/ to dist/, which bin/till runs, and copies the files beside it that the program reads. Types are checked
// by `npm run typecheck`, not here. With --if-stale it builds only if src/ has changed since dist/ was built.
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
/** Holds the digest of the sources that dist/ was built from. */
const stamp = join(dist, ".sources");

const require = createRequire(import.meta.url);
let compiler;
try {
  compiler = require.resolve("typescript/bin/tsc");
} catch {
  // An install without development packages runs what was compiled before.
  if (existsSync(dist)) process.exit(0);
  console.error(
    "TypeScript is not installed and dist/ is missing: run npm ci with development packages.",
  );
  process.exit(1);
}

const digest = digestOfSources();
const isFresh = () => existsSync(stamp) && readFileSync(stamp, "utf8") === digest;
if (!(process.argv.includes("--if-stale") && isFresh())) build();

/** The digest of every file that a build reads, with its path. */
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

/** Built beside dist/ and then exchanged: a build that fails leaves the old one, and two builds at once agree. */
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
      // Another build of the same sources may have been a moment earlier.
      if (!isFresh()) throw error;
    }
  }
  rmSync(next, { recursive: true, force: true });
  rmSync(old, { recursive: true, force: true });
}
