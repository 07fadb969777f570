import { readFileSync } from "node:fs";

/** Returns the version in package.json; dist/ is as deep as src/. */
export function programVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
