import { readFileSync } from "node:fs";

/** The version in the program's manifest; dist/ lies as deep as src/. */
export function programVersion(): string {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}
