// How src/ is bundled with its packages: for dist/, and for the programs that tests start as processes.
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/** Native modules, packages that read files of their own folder, and optional drivers that Till does not install. */
export const unbundled = [
  ...["sqlite3", "@node-rs/argon2", "esbuild", "mocha", "pg-native"],
  ...["pg-hstore", "mysql2", "mariadb", "tedious", "oracledb", "ibm_db", "snowflake-sdk", "odbc"],
];

const zodOfKoaBody = {
  name: "zod of koa-body",
  setup({ onResolve }) {
    onResolve({ filter: /^zod$/ }, ({ importer }) =>
      importer.includes("/koa-body/") ? { path: `${root}.config/zod-of-koa-body.mjs` } : null,
    );
  },
};

/** Names stay as they are: errors are recognized by the names of their classes. */
export const bundleOptions = {
  absWorkingDir: root,
  bundle: true,
  splitting: true,
  chunkNames: "[hash]",
  platform: "node",
  format: "esm",
  target: "node20",
  external: unbundled,
  plugins: [zodOfKoaBody],
  logLevel: "warning",
  banner: {
    js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
  },
};
