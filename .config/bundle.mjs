// How src/ is bundled with its packages: for dist/, and for the programs that tests start as processes.
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Native modules, packages that read files of their own folder, and optional drivers that Till does not install. koa-body
 * takes all of zod by one name, which every command would load with the few parts that it needs.
 */
export const unbundled = [
  ...["sqlite3", "@node-rs/argon2", "esbuild", "koa-body", "mocha", "pg-native"],
  ...["pg-hstore", "mysql2", "mariadb", "tedious", "oracledb", "ibm_db", "snowflake-sdk", "odbc"],
];

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
  logLevel: "warning",
  banner: {
    js: 'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);',
  },
};
