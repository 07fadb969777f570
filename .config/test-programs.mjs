// Bundles the programs of the tests that they start as processes, with src/ and all packages. A bundled program starts in
// half the time, because it loads a few large files and not a thousand small ones.
// Usage: node .config/test-programs.mjs FOLDER
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { bundleOptions, root } from "./bundle.mjs";

const programs = [
  "src/platform/logger/index.ts",
  "test/lab/bench/target.ts",
  "test/features/billing/lifecycle/killable-run.ts",
  "test/features/webhooks/deliver-until-killed.ts",
  "test/platform/database/dying-migration.ts",
  "test/platform/database/limited-disk.ts",
  "test/platform/database/worker.ts",
  "test/platform/secrets/print-fingerprint.ts",
  "test/lab/pages-streams.ts",
  "test/lab/queue-process.ts",
  "test/lab/rates/rates-server.ts",
  "test/lab/rates/rates-sink.ts",
  "test/support/chain/anvil.ts",
  "test/support/store/postgres.ts",
];

const [, , folder] = process.argv;
/** Lets each file find the files beside its source, because the bundles lie in a temporary folder. */
const ownUrls = {
  name: "own URLs",
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const url = JSON.stringify(pathToFileURL(path).href);
      const contents = readFileSync(path, "utf8").replaceAll("import.meta.url", url);
      return { contents, loader: "ts" };
    });
  },
};

await build({
  ...bundleOptions,
  plugins: [...bundleOptions.plugins, ownUrls],
  entryPoints: programs.map((file) => ({ in: `./${file}`, out: file.replace(/\.ts$/, "") })),
  chunkNames: "chunks/[hash]",
  outdir: folder,
  outExtension: { ".js": ".mjs" },
});
symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
