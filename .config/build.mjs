// Compiles src/ to dist/, which bin/till runs, and copies beside it what the program reads as files.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const require = createRequire(import.meta.url);

let compiler;
try {
  compiler = require.resolve("typescript/bin/tsc");
} catch {
  // An install without development packages runs what was compiled before.
  if (existsSync(join(root, "dist"))) process.exit(0);
  console.error(
    "TypeScript is not installed and dist/ is missing: run npm ci with development packages.",
  );
  process.exit(1);
}

// Built beside and then exchanged: a build that fails leaves what was there.
const next = join(root, "dist.next");
rmSync(next, { recursive: true, force: true });
const compiled = spawnSync(
  process.execPath,
  [compiler, "-p", join(root, ".config/tsconfig.build.json"), "--outDir", next],
  { stdio: "inherit" },
);
if (compiled.status !== 0) {
  rmSync(next, { recursive: true, force: true });
  process.exit(compiled.status ?? 1);
}
cpSync(join(root, "src"), next, {
  recursive: true,
  filter: (source) => extname(source) !== ".ts",
});
rmSync(join(root, "dist"), { recursive: true, force: true });
renameSync(next, join(root, "dist"));
