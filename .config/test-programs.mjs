// Bundles the programs that tests start as processes: bin/till and programs of the tests, with dist/ and all packages. A
// bundled program starts in half the time, because it loads a few large files and not a thousand small ones.
// Usage: node .config/test-programs.mjs FOLDER
import { readFileSync, symlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

const programs = [
  "src/platform/logger/index.ts",
  "test/bench/target.ts",
  "test/features/billing/lifecycle/killable-run.ts",
  "test/features/webhooks/deliver-until-killed.ts",
  "test/platform/database/limited-disk.ts",
  "test/platform/database/worker.ts",
  "test/platform/secrets/print-fingerprint.ts",
  "test/prove/queue-process.ts",
  "test/prove/rates-server.ts",
  "test/prove/rates-sink.ts",
  "test/support/chain/anvil.ts",
  "test/support/store/postgres.ts",
];

/** Native modules, packages that read files of their own folder, and optional drivers that Till does not install. */
const unbundled = [
  ...["sqlite3", "@node-rs/argon2", "esbuild", "mocha", "pg-native"],
  ...["pg-hstore", "mysql2", "mariadb", "tedious", "oracledb", "ibm_db", "snowflake-sdk", "odbc"],
];

/** Resolves src/ to dist/, and gives each file the `import.meta.url` that it has without a bundle. */
const inPlace = {
  name: "in place",
  setup({ onResolve, onLoad }) {
    const source = join(root, "src/");
    onResolve({ filter: /^\.\.?\/.*\.ts$/ }, ({ path, resolveDir }) => {
      const file = join(resolveDir, path);
      if (!file.startsWith(source)) return undefined;
      const built = relative(source, file).replace(/\.ts$/, ".js");
      return { path: join(root, "dist", built) };
    });
    onLoad({ filter: /\.[jt]s$/ }, ({ path }) => {
      if (path.includes("/node_modules/")) return undefined;
      const url = JSON.stringify(pathToFileURL(path).href);
      const contents = readFileSync(path, "utf8").replaceAll("import.meta.url", url);
      return { contents, loader: path.endsWith(".ts") ? "ts" : "js", resolveDir: dirname(path) };
    });
  },
};

const [, , folder] = process.argv;
const till = join(root, "bin/till");
await build({
  absWorkingDir: root,
  entryPoints: [
    { in: "till", out: "bin/till" },
    ...programs.map((file) => ({ in: `./${file}`, out: file.replace(/\.ts$/, "") })),
  ],
  ...{ bundle: true, splitting: true, platform: "node", format: "esm", target: "node20" },
  ...{ outdir: folder, outExtension: { ".js": ".mjs" }, chunkNames: "chunks/[hash]" },
  ...{ external: unbundled, logLevel: "warning" },
  // The same code in ESM: import() of a bundled CommonJS package has no named exports.
  alias: { yaml: join(root, "node_modules/yaml/browser/dist/index.js") },
  banner: {
    js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
  },
  plugins: [
    {
      name: "bin/till",
      setup({ onResolve, onLoad }) {
        onResolve({ filter: /^till$/ }, () => ({ path: till, namespace: "bin" }));
        onLoad({ filter: /.*/, namespace: "bin" }, () => ({
          contents: readFileSync(till, "utf8"),
          loader: "js",
          resolveDir: dirname(till),
        }));
      },
    },
    inPlace,
  ],
});
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
