// Compiles src/ and test/ once for all parts of a run of the suite, whose processes then need no loader.
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildSync } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Writes `src/x.mjs` to the folder for `src/x.ts`, and likewise for test/. Each file keeps the
 * `import.meta.url` of its source.
 */
export function compileTests(folder) {
  const { outputFiles } = buildSync({
    entryPoints: [...sourcesIn("src"), ...sourcesIn("test")],
    outbase: root,
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    write: false,
    platform: "node",
    format: "esm",
    target: "node20",
    sourcemap: "linked",
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    const name = relative(folder, path);
    const source = join(root, name.replace(/\.mjs$/, ".ts"));
    const own = JSON.stringify(pathToFileURL(source).href);
    writeFileSync(
      path,
      path.endsWith(".map")
        ? text
        : text
            .replaceAll(/(\bfrom |\bimport |\bimport\()"(\.\.?\/[^"]+)\.ts"/g, '$1"$2.mjs"')
            .replaceAll("import.meta.url", own)
            .replaceAll("import.meta.dirname", JSON.stringify(dirname(source))),
    );
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
}

function sourcesIn(folder) {
  return (
    readdirSync(join(root, folder), { recursive: true })
      // The shops need clients that their test generates.
      .filter((file) => file.endsWith(".ts") && !file.startsWith(join("clients", "shops/")))
      .map((file) => join(root, folder, file))
  );
}
