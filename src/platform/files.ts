import { readFileSync } from "node:fs";

// The compiled program lies in dist/program/, which is as deep in the package as this file is: see .config/build.mjs.

/** Returns the URL of a file of the program that is not code, by its path in src/. */
export function programFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** Returns the URL of a file of the package, such as `config/networks.yaml`. */
export function packageFile(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}

/** Returns the version in package.json. */
export function programVersion(): string {
  const manifest = readFileSync(packageFile("package.json"), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
