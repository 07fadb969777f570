// Writes the files that are made from the declarations: the reference in docs/ and src/client/generated. Then bundles src/
// with its packages to dist/, which bin/till runs, compiles the client to dist/client, and copies the other files that the
// program reads. `npm run typecheck` checks types, not this script. With --if-stale it builds only if src/ has changed
// since dist/ was built; with --generated it writes the first files alone.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
/** Contains the digest of the sources from which dist/ was built, and the paths of the files that were generated. */
const stamp = join(dist, ".sources");

const require = createRequire(import.meta.url);
let compiler, bundler;
try {
  compiler = require.resolve("typescript/bin/tsc");
  bundler = { ...(await import("esbuild")), ...(await import("./bundle.mjs")) };
} catch {
  // An install without development packages runs the compiled program that it came with.
  if (existsSync(dist)) process.exit(0);
  console.error(
    "TypeScript and esbuild are not installed and dist/ is missing: run npm ci with development packages.",
  );
  process.exit(1);
}

/** The files that are made from the declarations, below these paths. */
const generated = ["src/client/generated", "docs/api", "docs/api.md", "docs/problems.md"];

const digest = digestOfSources();
/** Whether dist/ was built from these sources, and none of the files is missing that were generated from them. */
function isFresh() {
  if (!existsSync(stamp)) return false;
  const [built, ...paths] = readFileSync(stamp, "utf8").split("\n");
  return built === digest && paths.every((path) => existsSync(join(root, path)));
}
if (process.argv.includes("--generated")) await generate();
else if (!(process.argv.includes("--if-stale") && isFresh())) await build();

/** Returns the digest of all files that a build reads, with their paths. */
function digestOfSources() {
  const sources = ["src", ".config/generate", "config"]
    .flatMap((name) => readdirSync(join(root, name), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !generated.some((path) => file.startsWith(join(root, path))))
    .sort();
  const settings = ["tsconfig.json", "package.json", "package-lock.json"].concat(
    ["tsconfig.client.json", "build.mjs", "bundle.mjs", "core.mjs", "zod-of-koa-body.mjs"].map(
      (name) => `.config/${name}`,
    ),
  );
  const hash = createHash("sha256").update(`${process.version} ${process.arch}\n`);
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
async function build() {
  const next = join(root, `dist.next/${process.pid}`);
  const old = `${next}.old`;
  try {
    const paths = await generate();
    await bundler.build({
      ...bundler.bundleOptions,
      entryPoints: {
        main: "src/cli/main.ts",
        features: "src/cli/features.ts",
        "check-tables": "src/platform/config/files/check-tables.ts",
        "check-languages": "src/features/checkout/page/language-file.ts",
      },
      inject: [".config/core.mjs"],
      // As deep as the files of src/ that read other files: see src/platform/files.ts.
      outdir: join(next, "program"),
      minifySyntax: true,
      minifyWhitespace: true,
    });
    const program = (name) => import(pathToFileURL(join(next, "program", name)).href);
    const { checkLanguages } = await program("check-languages.js");
    const problems = checkLanguages(null, pathToFileURL(join(root, "config/languages/")));
    for (const { name, message } of problems) console.error(`${name} ${message}`);
    if (problems.length > 0) {
      console.error("After a change of en.yaml, and with another list of languages: npm run docs.");
    }
    process.exitCode =
      problems.length > 0 ? 1 : compile("tsconfig.client.json", join(next, "client"));
    if (process.exitCode !== 0) return;
    writeFileSync(join(next, "client/package.json"), clientPackage());
    packClient(next);
    cpSync(join(root, "src"), next, { recursive: true, filter: isOther });
    mkdirSync(join(next, "config"));
    const { builtTables } = await program("check-tables.js");
    const textOf = (name) => readFileSync(join(root, "config", name), "utf8");
    for (const [name, json] of builtTables(textOf)) {
      writeFileSync(join(next, "config", name), json);
    }
    const { describeCommands } = await program("features.js");
    writeFileSync(join(next, "cli/commands.json"), JSON.stringify(await describeCommands()));
    writeFileSync(join(next, ".sources"), [digest, ...paths].join("\n"));
    try {
      if (existsSync(dist)) renameSync(dist, old);
      renameSync(next, dist);
    } catch (error) {
      // Another build of the same sources may have finished just before.
      if (!isFresh()) throw error;
    }
  } finally {
    if (!existsSync(dist) && existsSync(old)) renameSync(old, dist);
    rmSync(next, { recursive: true, force: true });
    rmSync(old, { recursive: true, force: true });
  }
}

/**
 * Writes the files that are made from the declarations, and removes those that are not made any more. Returns their paths.
 */
async function generate() {
  const folder = join(root, `dist.next/${process.pid}.generate`);
  try {
    await bundler.build({
      ...bundler.bundleOptions,
      entryPoints: [".config/generate/main.ts"],
      external: [...bundler.unbundled, "oxfmt"],
      // As deep as the files of src/ that read other files: see src/platform/files.ts.
      outdir: join(folder, "program"),
    });
    cpSync(join(root, "src"), folder, { recursive: true, filter: isOther });
    const { generatedFiles } = await import(pathToFileURL(join(folder, "program/main.js")).href);
    const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    const files = await generatedFiles(version);
    for (const [path, text] of Object.entries(files)) {
      const file = join(root, path);
      if (existsSync(file) && readFileSync(file, "utf8") === text) continue;
      mkdirSync(dirname(file), { recursive: true });
      // Another build of the same sources may read or write it now: a file is exchanged at once.
      writeFileSync(join(folder, "next"), text);
      renameSync(join(folder, "next"), file);
    }
    for (const name of readdirSync(join(root, "docs/api"))) {
      if (!Object.hasOwn(files, `docs/api/${name}`))
        rmSync(join(root, "docs/api", name), { force: true });
    }
    return Object.keys(files);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function isOther(source) {
  return extname(source) !== ".ts";
}

function compile(project, outDir) {
  const words = [compiler, "-p", join(root, ".config", project), "--outDir", outDir];
  return spawnSync(process.execPath, words, { stdio: "inherit" }).status ?? 1;
}

/** Packs the client to till-client.tgz, which servers hand out at /docs/till-client.tgz. */
function packClient(folder) {
  const words = ["pack", "./client", "--ignore-scripts", "--silent", "--pack-destination", folder];
  const npm = spawnSync("npm", words, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const packed = readdirSync(folder).find((name) => /^till-client-.+\.tgz$/.test(name));
  if (npm.status !== 0 || packed === undefined) throw new Error("npm pack of the client failed");
  renameSync(join(folder, packed), join(folder, "till-client.tgz"));
}

/** Returns the description of the client as a package of its own, for `npm pack ./dist/client`. */
function clientPackage() {
  const { version, license } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const description = "Client of Till's API";
  const exports = { ".": { types: "./index.d.ts", default: "./index.js" } };
  const engines = { node: ">=20.3.0" };
  return `${JSON.stringify({ name: "till-client", version, description, license, type: "module", engines, exports }, null, 2)}\n`;
}
