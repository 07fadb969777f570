// Programs that tests start are compiled once beforehand: Node starts them four times as fast as with a loader.
import { spawnSync } from "node:child_process";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const program = join(root, "bin/till");
let isBuilt = false;

/**
 * Returns the path of bin/till after building dist/ if it is older than src/.
 * @throws Error if the build fails
 */
export function builtProgram(): string {
  if (!isBuilt) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [".config/build.mjs", "--if-stale"],
      { cwd: root, encoding: "utf8" },
    );
    if (status !== 0) throw new Error(`npm run build failed: ${stdout}${stderr}`);
    isBuilt = true;
  }
  return program;
}

const compiled = new Map<string, string>();

/**
 * Compiles a test program, given by the URL of its source, and returns the path of the result. Its imports from src/
 * resolve to dist/.
 */
export function compiledProgram(source: URL): string {
  const known = compiled.get(source.href);
  if (known !== undefined) return known;
  builtProgram();
  const path = fileURLToPath(source);
  // At the depth of the folders of test/, so that `../../config` resolves alike.
  const file = join(root, "dist.test", basename(dirname(path)), `${basename(path, ".ts")}.mjs`);
  const { outputFiles } = buildSync({
    ...{ entryPoints: [path], outfile: file, write: false },
    ...{ bundle: true, platform: "node", format: "esm", target: "node20" },
    ...{ packages: "external", external: [join(root, "src/*")] },
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`${path} was not compiled`);
  mkdirSync(dirname(file), { recursive: true });
  // Another process may compile the same program.
  const own = `${file}.${String(process.pid)}`;
  writeFileSync(
    own,
    output.text.replaceAll(/"(\.\.\/\.\.)\/src\/([^"]+)\.ts"/g, '"$1/dist/$2.js"'),
  );
  renameSync(own, file);
  compiled.set(source.href, file);
  return file;
}
